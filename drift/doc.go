// Package drift describes how the objects of a release differ from one of its
// records, and what applying a rendered manifest would change.
//
// It holds types only. Package informer/drift fills them from the cluster.
package drift

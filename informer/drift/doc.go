// Package drift compares what a release's manifest says with what the cluster
// has, and tries what applying a manifest would do.
//
// The API server itself knows best which values are the same: it is asked to
// apply an object as a dry run, and what it would make is compared with what is
// there. Where it refuses, the fields of the manifest are looked up in the
// object one by one. Both leave alone what Kubernetes fills in by itself: status,
// defaults, other spellings of a quantity, generated fields, and replicas that
// an autoscaler sets.
//
// Who has set a field is read from the object's managedFields. Fields of which
// the manifest says nothing are no drift; those that somebody else has set are
// told apart.
//
// Nothing is changed in the cluster. A [Comparer] starts nothing and may be used
// concurrently.
package drift

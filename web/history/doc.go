// Package history serves the present and past of releases: their revisions, the
// parts of each, comparisons, drift from the cluster, and the trail with its
// lineages.
//
// It reads what the cluster still holds from the API server, and the rest from
// the trail. Secrets are masked. They are shown only to callers who request them
// and may read Secrets, after the trail has recorded it.
package history

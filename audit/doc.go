// Package audit describes the trail, which is the permanent log of transitions
// and records: its entries, the lineages of release names, and queries.
//
// It holds types only. Package stream/trail stores the trail.
package audit

// Package resources reports which objects belong to a release, and the status of
// each.
//
// The objects are the ones that the record's manifest and hooks name, and their
// dependents, which are found by owner references and never by labels. A [Tracker]
// watches them while there is a reader: readers of the same kind in the same
// namespace share one watch, which begins with the first of them and ends some
// time after the last. Secrets and ConfigMaps are watched without their data.
//
// Everything that the package knows about a kind is one row of the table in
// kindtable.go: how its objects are watched and stripped, what they own, how their
// status follows from their fields, and where a cause is found. To add a kind, add
// a row. If it needs a sentence of its own, add a Problem with its text as well.
//
// Readiness is judged by an object's own fields: by rules for its kind, by the
// conditions and phases that most controllers use, and by kstatus, the library that
// Helm 4 waits with, where nothing else decides. testdata/readiness compares the
// result with kstatus and both Helms. A cause is read from the reasons that Kubernetes gives: those of containers and pods, of
// the controllers that create pods, and of events if nothing else says it. Each
// row has its own cause; package stream ranks and merges them.
//
// No object affects another's row: one that cannot be read, is forbidden or is of
// an unknown kind says so in its own row.
package resources

// Package resources says which objects belong to a release and how each of
// them is.
//
// The objects are those that the record's manifest and hooks name. A
// [Tracker] watches them as long as somebody follows: readers of the same kind in
// the same namespace share one watch, which begins with the first of them and
// ends some time after the last. Secrets and ConfigMaps are watched without their data.
//
// Readiness is what kstatus says, the same library that Helm 4 waits with.
//
// No object spoils another's row: what cannot be read, is of an unknown kind or
// forbidden says so in its own.
package resources

// Package resources says which objects belong to a release and how each of
// them is.
//
// The objects are those that the record's manifest and hooks name, and what
// they own, found by owner references and never by labels. A
// [Tracker] watches them as long as somebody follows: readers of the same kind in
// the same namespace share one watch, which begins with the first of them and
// ends some time after the last. Secrets and ConfigMaps are watched without their data.
//
// Readiness is what kstatus says, the same library that Helm 4 waits with. Why
// something is not ready is read from the reasons that Kubernetes gives: of
// containers and pods, of the controllers that should make them, and of events
// where nothing else says it. Each row carries its own cause; package stream
// ranks and merges them.
//
// No object spoils another's row: what cannot be read, is of an unknown kind or
// forbidden says so in its own.
package resources

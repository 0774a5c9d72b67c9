// Package backend describes what the engine uses to do its work: the process
// that runs Helm, and the journal's entries.
//
// It holds types only. Packages stream/helmcli and stream/journal provide the
// implementations, so they need not import the engine.
package backend

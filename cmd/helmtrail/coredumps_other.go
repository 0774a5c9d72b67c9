//go:build !unix

package main

// forbidCoreDumps does nothing: serve needs Unix.
func forbidCoreDumps() {}

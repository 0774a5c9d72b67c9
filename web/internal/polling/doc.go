// Package polling lets many clients wait for the same things: they share one
// notification, one read and one encoded answer.
package polling

// Package helmtrail holds the types that the program's packages share: events
// and their bodies, sessions, requests, releases, charts, callers, and errors.
//
// It is pure: it does no I/O, reads no clock and starts no goroutine. Besides
// the standard library it imports only decoder and health. Three packages hold
// more of the shared vocabulary, by subject: health (objects and why they are
// not ready), drift (how objects differ from a record) and audit (the trail).
package helmtrail

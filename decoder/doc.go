// Package decoder reads the records that Helm keeps in release Secrets and says
// what changed from one state of them to the next.
//
// A record is JSON, compressed with gzip and written as base64; records from
// before Helm compressed them are plain JSON, written as base64. The package
// reads both, from Helm 3 and from Helm 4, in two ways:
//
//   - [DecodeHeader] reads the record only as far as the few fields that lists
//     and transitions need, which Helm puts first, and stops there. Its cost does
//     not grow with the chart.
//   - [DecodeRecord] reads all of it and keeps the JSON, so that unknown fields
//     and every digit of every number survive.
//
// Both are bounded by [Limits], never panic, and return errors that name the
// place of the fault but nothing of the content, which is secret. What both can
// read they read alike.
//
// [NewRevision], [Compare] and [Deleted] make revisions and transitions of what
// was read. The whole package is pure: it does no I/O, asks no clock and starts
// no goroutine. All its functions may be called concurrently.
package decoder

// Package decoder reads the records that Helm keeps in release Secrets and
// reports the changes from one state of a record to the next.
//
// A record is JSON, compressed with gzip and encoded in base64. Records from
// before Helm compressed them are plain JSON, encoded in base64. The package
// reads both, from Helm 3 and from Helm 4, in two ways:
//
//   - [DecodeHeader] reads the record only until it has the few fields that lists
//     and transitions need, which Helm writes first, and stops there. Its cost
//     does not grow with the chart.
//   - [DecodeRecord] reads the complete record and keeps the JSON, so that unknown
//     fields and every digit of every number survive.
//
// Both are bounded by [Limits] and never panic. Their errors name the place of
// the fault but quote no content, because the content is secret. If both can read
// a record, their results agree.
//
// [NewRevision], [Compare] and [Deleted] create revisions and transitions from
// the decoded data. The whole package is pure: it does no I/O, reads no clock and
// starts no goroutine. All its functions are safe for concurrent use.
package decoder

// Package journal keeps the events of sessions in NATS JetStream, which runs
// inside this process and stores its data in a folder on disk.
//
// All sessions share one JetStream stream. Each session has its own subject,
// which consists of a hash of its release and its id, because release names may
// contain dots. Each entry is one message. Each write names the last sequence
// of the subject that the writer knows, so only one of two competing writers
// succeeds (JetStream's Nats-Expected-Last-Subject-Sequence). A write is
// acknowledged once the message is in the file. The file is synced to the disk
// every second, so a power failure can lose at most the last second.
//
// A [Store] is another stream of the same server; the trail uses it.
// [ReadFiles] reads a stream from its files without NATS, which omits damaged
// messages.
//
// A Journal is safe for concurrent use. Close stops the server, and pending
// calls then fail.
package journal

// Package journal keeps the events of sessions in NATS JetStream, which runs
// inside this process with a folder on disk.
//
// All sessions share one JetStream stream; every session has a subject of its
// own in it, made of a hash of its release and its id, since release names may
// hold dots. An entry is one message. Each write names the subject's last
// sequence that the writer knows, so of two writers only one gets through
// (JetStream's Nats-Expected-Last-Subject-Sequence). A write is acknowledged
// once the message is in the file; the file is synced to the disk every
// second, so a power cut can cost the last second and nothing else can.
//
// A [Store] is another stream of the same server, for the trail. [ReadFiles]
// reads a stream from its files without NATS, which leaves out what is damaged.
//
// A Journal may be used by any number of goroutines. Close ends the server;
// calls under way fail then.
package journal

// Package trail keeps for good what releases ever were: every transition, and
// the bytes of every record behind it.
//
// The chain. Each cluster has a chain of entries. An entry holds its position
// and the SHA-256 of the stored bytes of the entry before it, so that nothing
// in between can be changed, left out or put in without a link that breaks.
// Entries are appended by compare-and-set over the whole cluster; of two
// writers one gets through, and the other links to what it wrote. An entry
// holds nothing of a record's content, and is never removed.
//
// Records. The bytes stand in a stream of their own under their digest, each
// once. They are stored before the entry that names them: a digest in an entry
// always has its bytes, unless retention erased them, which is an entry too.
//
// Intake. A [audit.Keeper] per cluster takes what the watch learns into a
// queue that is bounded in bytes and is worked off by one goroutine. While the
// journal fails, it is tried again; once the queue is full, the watch has to
// wait. So nothing is lost while the process lives. What was missed while no
// process lived is found by comparing the inventory with the trail, told late,
// and preceded by an entry that names the gap.
//
// Memory. Of each entry a few numbers are kept, of each revision what a list
// shows; the rest is read from the journal when it is asked for. All of it
// comes from one reading of the chain at the start, which verifies it as well.
//
// Damage. NATS leaves out what it cannot read, and may cut files off, without a
// word. So the chain is read from the files themselves, and how far it had come
// is noted beside it: what is missing is named, and stays missing, since the
// next entry is linked to the last one that was known.
package trail

// Package trail keeps the history of releases permanently: every transition,
// and the bytes of every record behind it.
//
// The chain. Each cluster has a chain of entries. An entry holds its position
// and the SHA-256 of the stored bytes of the previous entry, so that changing,
// removing or inserting an entry breaks a link. Entries are appended by
// compare-and-set over the whole cluster. If two writers compete, one succeeds
// and the other links to its entry. An entry holds no content of a record, and
// is never removed.
//
// Records. The bytes of records are stored in a separate stream under their
// digest, once per digest. They are stored before the entry that names them:
// the bytes of a digest in an entry always exist, unless retention erased them,
// which is recorded in an entry too.
//
// Intake. A [audit.Keeper] per cluster puts the results of the watch into a
// queue. The queue is bounded in bytes and drained by one goroutine. While the
// journal fails, the goroutine retries. Once the queue is full, the watch has
// to wait. So nothing is lost while the process runs. Changes missed while no
// process ran are found by comparing the inventory with the trail. They are
// recorded late, after an entry that names the gap.
//
// Memory. The trail keeps a few numbers for each entry, and the fields shown in
// lists for each revision. It reads the rest from the journal on demand. One
// pass over the chain at startup builds this index and also verifies the chain.
//
// Damage. NATS silently skips messages that it cannot read, and may truncate
// files. So the chain is read from the files themselves, and its last known
// head is noted beside it. Missing entries are reported, and stay missing,
// because the next entry is linked to the last known one.
package trail

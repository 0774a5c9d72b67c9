package stream

import (
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// Keeper keeps for good what the watch of one cluster learns. Its methods are
// called by the watch; those but Record are called one at a time, in the order
// in which things were learnt, and must not block.
type Keeper interface {
	// Record is handed the bytes of each state of a record that the watch reads,
	// before See tells of that state. It may block, which holds up the watch,
	// so that nothing is lost. The bytes must not be changed and may be kept.
	Record(revision *decoder.Revision, data []byte)
	// See is told every transition and, without a Change, every state that is
	// none: of a record that was rewritten while its status stayed, or of one
	// that was read for the first time though the revision was known before.
	See(transition decoder.Transition)
	// Synced is told that the watch of a namespace, "" for all, has come to know
	// what was there when it began.
	Synced(namespace string)
	// Missed is told that nothing watched the namespace, "" for all, from that
	// moment on until now. The transitions found afterwards follow it.
	Missed(namespace string, from time.Time)
}

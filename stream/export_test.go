package stream

import (
	"context"
	"time"
)

// LogWriter lets tests write a log without running an operation.
type LogWriter struct{ w *writer }

// NewLogWriter returns a writer whose readers keep at most cache bytes.
func NewLogWriter(journal Journal, session SessionRef, cache int) LogWriter {
	return LogWriter{newWriter(newChunks(journal, cache), session, time.Now())}
}

// Log is what the writer writes.
func (w LogWriter) Log() *Log { return w.w.log }

// Write stores the bodies as one batch.
func (w LogWriter) Write(ctx context.Context, bodies ...any) error {
	items := make([]pending, 0, len(bodies))
	for _, b := range bodies {
		kind := TypeLog
		switch b.(type) {
		case *Started:
			kind = TypeStarted
		case *End:
			kind = TypeCompleted
		}
		items = append(items, pending{at: time.Now(), kind: kind, body: b})
	}
	_, err := w.w.write(ctx, items)
	return err
}

// Beat shows a heartbeat.
func (w LogWriter) Beat() error { return w.w.beat(time.Now(), &Heartbeat{Phase: PhaseRunning}) }

// OpenLog opens a log that nobody writes to.
func OpenLog(ctx context.Context, journal Journal, session SessionRef, cache int) (*Log, error) {
	return openLog(ctx, newChunks(journal, cache), session)
}

// Outcome exposes the rules of a session's end.
type Outcome = outcome

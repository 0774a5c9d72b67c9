package stream

import (
	"context"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// LogWriter lets tests write a log without running an operation.
type LogWriter struct{ w *writer }

// NewLogWriter returns a writer whose readers keep at most cache bytes.
func NewLogWriter(journal Journal, session helmtrail.SessionRef, cache int) LogWriter {
	return LogWriter{newWriter(newChunks(journal, cache), session, time.Now())}
}

// Log returns the log that the writer writes to.
func (w LogWriter) Log() *Log { return w.w.log }

// Write stores the bodies as one batch.
func (w LogWriter) Write(ctx context.Context, bodies ...any) error {
	items := make([]pending, 0, len(bodies))
	for _, b := range bodies {
		kind := helmtrail.TypeLog
		switch b.(type) {
		case *helmtrail.Started:
			kind = helmtrail.TypeStarted
		case *helmtrail.End:
			kind = helmtrail.TypeCompleted
		}
		items = append(items, pending{at: time.Now(), kind: kind, body: b})
	}
	_, err := w.w.write(ctx, items)
	return err
}

// Beat sends a heartbeat.
func (w LogWriter) Beat() error {
	return w.w.beat(time.Now(), &helmtrail.Heartbeat{Phase: helmtrail.PhaseRunning})
}

// OpenLog opens a log that has no writer.
func OpenLog(ctx context.Context, journal Journal, session helmtrail.SessionRef, cache int) (*Log, error) {
	return openLog(ctx, newChunks(journal, cache), session)
}

// Outcome is everything that decides how a session ends.
type Outcome struct {
	Request helmtrail.Request
	// Start is the release's newest revision before helm ran.
	Start   int
	Process backend.ProcessEnd
	Stop    backend.StopCause
	// After is the release read from the API server afterwards. Unread means that
	// it did not answer.
	After  []*decoder.Revision
	Unread bool
	// Seen means that a revision was created, NotRun that Helm did not run.
	Seen, NotRun bool
}

// OutcomeSession is the id of the session of an Outcome.
const OutcomeSession = "session-1"

// End returns the terminal event without the parts that need the cluster and the
// stream.
func (o Outcome) End() (helmtrail.Type, *helmtrail.End) {
	inner := outcome{
		request: o.Request, session: OutcomeSession, start: o.Start, first: o.Start, process: o.Process, stop: o.Stop,
		after: o.After, known: !o.Unread, seen: o.Seen, ran: !o.NotRun,
	}
	return inner.kind(), inner.end()
}

// Left reports whether one of our sessions left a revision in its present state.
func Left(s helmtrail.Session, r *decoder.Revision) bool { return left(s, r) }

// RunToEnd runs a session whose Helm prints the lines and ends at once. It returns
// when the terminal event is stored or given up.
func (o *Operations) RunToEnd(ctx context.Context, session helmtrail.SessionRef, lines ...string) error {
	return o.runLines(ctx, session, lines, func(context.Context) (helmtrail.Type, *helmtrail.End) {
		return helmtrail.TypeCompleted, &helmtrail.End{}
	})
}

// RunUntilLeft runs a session whose Helm prints the lines and never ends. It
// returns when the session is left to another process.
func (o *Operations) RunUntilLeft(ctx context.Context, session helmtrail.SessionRef, lines ...string) error {
	return o.runLines(ctx, session, lines, func(ctx context.Context) (helmtrail.Type, *helmtrail.End) {
		<-ctx.Done()
		return "", nil
	})
}

func (o *Operations) runLines(ctx context.Context, session helmtrail.SessionRef, lines []string, body func(context.Context) (helmtrail.Type, *helmtrail.End)) error {
	r := newRun(o, helmtrail.OriginOutside, session, helmtrail.Request{Release: session.Release}, nil)
	for _, line := range lines {
		r.inbox.put(helmtrail.TypeLog, &helmtrail.LogLine{Line: line})
	}
	if err := o.admit(r); err != nil {
		return err
	}
	defer o.done.Done()
	defer o.dismiss(r)
	r.run(context.WithoutCancel(ctx), body)
	return nil
}

// Hold takes a place for a request's session, which does not run, and keeps it.
func (o *Operations) Hold(request helmtrail.Request) error {
	return o.admit(newRun(o, helmtrail.OriginHelmtrail, helmtrail.SessionRef{Release: request.Release}, request, nil))
}

package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// consoleStart starts a session and names it in the answer.
func (s *Server) consoleStart(call *consoleCall, request stream.Request) (stream.Session, error) {
	if err := call.grant.lend(&request); err != nil {
		return stream.Session{}, err
	}
	session, err := s.options.Operations.Start(call.ctx, request)
	if busy, ok := errors.AsType[*stream.InProgressError](err); ok && s.consoleMakesWay(call, request.Operation, busy) {
		session, err = s.options.Operations.Start(call.ctx, request)
	}
	if err != nil {
		return session, err
	}
	call.Header(sessionHeader, session.ID)
	return session, nil
}

// consoleStartUninstall goes ahead while the release is pending, as the
// console does, which offers nothing else then.
func (s *Server) consoleStartUninstall(call *consoleCall, ref stream.ReleaseRef) (stream.Session, error) {
	return s.consoleStart(call, stream.Request{Operation: stream.OperationUninstall, Release: ref, Options: stream.Options{OverridePending: true}})
}

const (
	// settleTime is how long a session may take to end after Helm is done with
	// the release, or has been told to be.
	settleTime = time.Minute
	// watchLag is how far the watch may be behind what clients have seen.
	watchLag = 3 * time.Second
)

// consoleMakesWay waits for a session that has nothing more to do but to end,
// and reports whether it has. Clients of the contract see from the Secrets that
// a release is done, and may ask for the next operation in the same moment. The
// install of a release that is to be uninstalled is canceled.
func (s *Server) consoleMakesWay(call *consoleCall, next stream.Operation, busy *stream.InProgressError) bool {
	running, err := s.options.Operations.Session(call.ctx, busy.Release, busy.SessionID)
	if err != nil {
		return false
	}
	if next == stream.OperationUninstall && running.Operation == stream.OperationInstall && call.cluster.busy(busy.Release) {
		err := s.options.Operations.Cancel(call.ctx, busy.Release, busy.SessionID, false)
		if err != nil && !errors.Is(err, stream.ErrEnded) {
			return false
		}
	} else if !call.cluster.settles(call.ctx, busy.Release) {
		return false
	}
	log, err := s.options.Operations.Open(call.ctx, busy.Release, busy.SessionID)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(call.ctx, settleTime)
	defer cancel()
	return log.Follow(ctx, 0, func(stream.Event) bool { return true }) == nil
}

// busy tells whether Helm works on a release as far as the watch knows.
func (w *watched) busy(ref stream.ReleaseRef) bool {
	newest := w.newest(ref)
	return newest != nil && decoder.Busy(newest.Status())
}

// settles waits until Helm is done with a release, as long as the watch may be
// behind, and reports whether it is.
func (w *watched) settles(ctx context.Context, ref stream.ReleaseRef) bool {
	ctx, cancel := context.WithTimeout(ctx, watchLag)
	defer cancel()
	about := topic{ref.Namespace, ref.Name}
	defer w.changes.join(about)()
	for {
		changed := w.changes.next(about)
		if !w.busy(ref) {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// progress is how far a session of the contract has come.
type progress struct {
	// revision is the one that the session has made, 0 for none, and secret
	// its Secret as JSON.
	revision int
	secret   json.RawMessage
	// at is when the session reached its aim.
	at time.Time
}

// consoleFollow follows a session until Helm has stored the revision that it
// makes or, with toEnd, until the session has reached its aim. It fails when
// the session ends in another way, with Helm's own error. Target is the
// revision to which a rollback goes back.
//
// The contract's own server takes the first Secret of that name and number for
// the answer, an old one too. Here it is the first that carries the session's
// label, which is new for each session, or for a rollback, which has none, the
// first above the start that goes back to the target.
func (s *Server) consoleFollow(call *consoleCall, session stream.Session, target int, toEnd bool) (progress, error) {
	log, err := s.options.Operations.Open(call.ctx, session.Release, session.ID)
	if err != nil {
		return progress{}, err
	}
	// Helm may take longer than an answer may take on the wire.
	unboundAnswer(call.Writer)
	defer s.boundAnswer(call.Writer)
	// With --on-stop=leave a session goes on when the server is closed.
	ctx, cancel := context.WithCancel(call.ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	var p progress
	var failure error
	ended := false
	others := map[string]bool{} // Secrets that are not the session's
	err = log.Follow(ctx, 0, func(e stream.Event) bool {
		switch body := e.Body.(type) {
		case *stream.ReleaseStatus:
			if p.secret != nil || body.Change != decoder.ChangeStatus || others[body.Secret.UID] || session.Operation == stream.OperationUninstall {
				return true
			}
			var secret json.RawMessage
			if secret, failure = s.consoleSecret(call, session, body, target); failure != nil {
				return false
			}
			if secret == nil {
				// A rollback is known by its description, which may come later.
				others[body.Secret.UID] = session.Operation != stream.OperationRollback
				return true
			}
			p.revision, p.secret = body.Revision, secret
			return toEnd
		case *stream.End:
			ended = true
			if e.Type != stream.TypeCompleted {
				failure = &consoleError{call.status, ending(e.Type, body)}
			}
			p.at = e.Time
			// Helm may have been run again after a known race, and made another.
			if p.revision > 0 && body.Release != nil {
				p.revision = body.Release.Revision
			}
			return false
		}
		return true
	})
	switch {
	case err != nil && s.closing.Err() != nil:
		return p, &consoleError{call.status, "helmtrail is stopping; session " + session.ID + " goes on without it"}
	case err != nil:
		return p, err
	case failure != nil:
		return p, failure
	case ended && p.revision == 0 && session.Operation != stream.OperationUninstall:
		return p, &consoleError{call.status, "helm has ended and left no revision of its own"}
	}
	return p, nil
}

// consoleSecret returns the Secret that a session's transition is about if it
// is that of the session's own revision, else nil.
func (s *Server) consoleSecret(call *consoleCall, session stream.Session, status *stream.ReleaseStatus, target int) (json.RawMessage, error) {
	if session.Operation == stream.OperationRollback &&
		(status.Revision <= call.start || status.RollbackRevision != target && status.Description != fmt.Sprintf("Rollback to %d", target)) {
		return nil, nil
	}
	secret, labels, err := call.cluster.API.ReleaseSecret(call.ctx, call.credentials(), session.Release.Namespace, status.Secret.Name)
	if errors.Is(err, stream.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if session.Operation != stream.OperationRollback && labels[decoder.SessionLabel] != session.ID {
		return nil, nil
	}
	return secret, nil
}

// ending says why a session has not reached its aim.
func ending(kind stream.Type, end *stream.End) string {
	switch {
	case kind == stream.TypeCanceled:
		return "the operation was canceled"
	case end.Message != "":
		return end.Message
	}
	return "helm failed: " + string(end.Reason)
}

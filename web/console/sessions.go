package console

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

// start starts a session and names it in the answer's header.
func (s *Server) start(call *apiCall, request helmtrail.Request) (helmtrail.Session, error) {
	if err := call.caller.Lend(&request); err != nil {
		return helmtrail.Session{}, err
	}
	session, err := s.Operations.Start(call.ctx, request)
	if busy, ok := errors.AsType[*helmtrail.InProgressError](err); ok && s.waitForEnd(call, request.Operation, busy) {
		session, err = s.Operations.Start(call.ctx, request)
	}
	if err != nil {
		return session, err
	}
	call.Header(sessionHeader, session.ID)
	return session, nil
}

// startUninstall overrides a pending status, because the console offers no other
// action for a pending release.
func (s *Server) startUninstall(call *apiCall, ref helmtrail.ReleaseRef) (helmtrail.Session, error) {
	return s.start(call, helmtrail.Request{Operation: helmtrail.OperationUninstall, Release: ref, Options: helmtrail.Options{OverridePending: true}})
}

const (
	// settleTime is how long a session may take to end after Helm has finished,
	// or after it was canceled.
	settleTime = time.Minute
	// watchLag is the maximum time by which the watch is behind what clients have seen.
	watchLag = 3 * time.Second
)

// waitForEnd waits for a running session that is about to end, and reports
// whether it has ended. Clients of the contract see from the Secrets that Helm
// has finished, and may request the next operation at the same moment. An
// uninstall cancels a running install.
func (s *Server) waitForEnd(call *apiCall, next helmtrail.Operation, busy *helmtrail.InProgressError) bool {
	running, err := s.Operations.Session(call.ctx, busy.Release, busy.SessionID)
	if err != nil {
		return false
	}
	if next == helmtrail.OperationUninstall && running.Operation == helmtrail.OperationInstall && isBusy(call.cluster, busy.Release) {
		err := s.Operations.Cancel(call.ctx, busy.Release, busy.SessionID, false)
		if err != nil && !errors.Is(err, helmtrail.ErrEnded) {
			return false
		}
	} else if !settles(call.ctx, call.cluster, busy.Release) {
		return false
	}
	log, err := s.Operations.Open(call.ctx, busy.Release, busy.SessionID)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(call.ctx, settleTime)
	defer cancel()
	return log.Follow(ctx, 0, func(helmtrail.Event) bool { return true }) == nil
}

// isBusy reports whether Helm is running on a release, according to the watch.
func isBusy(cluster Cluster, ref helmtrail.ReleaseRef) bool {
	newest := cluster.Newest(ref)
	return newest != nil && decoder.Busy(newest.Status())
}

// settles waits until Helm has finished with a release, at most for watchLag, and
// reports whether it has.
func settles(ctx context.Context, cluster Cluster, ref helmtrail.ReleaseRef) bool {
	ctx, cancel := context.WithTimeout(ctx, watchLag)
	defer cancel()
	about := polling.Topic{Namespace: ref.Namespace, Name: ref.Name}
	return cluster.WaitUntil(ctx, about, func() bool { return !isBusy(cluster, ref) })
}

// progress is the result of a session so far.
type progress struct {
	// revision is the revision that the session created, or 0. secret is its
	// Secret as JSON.
	revision int
	secret   json.RawMessage
	// at is the time of the session's end.
	at time.Time
}

// follow follows a session until Helm has stored the revision that it creates or,
// with toEnd, until the session has completed. If the session does not complete,
// follow fails with Helm's own error. target is the revision that a rollback
// restores.
//
// The console's own server answers with the first Secret of that name and number,
// even an old one. Here it is the first one with the session's label, which is
// new for each session. A rollback sets no label: its Secret is that of the first
// revision above the start that restores the target.
func (s *Server) follow(call *apiCall, session helmtrail.Session, target int, toEnd bool) (progress, error) {
	log, err := s.Operations.Open(call.ctx, session.Release, session.ID)
	if err != nil {
		return progress{}, err
	}
	// Helm may take longer than the time limit of a response.
	defer s.Unbound(call.Writer)()
	// With --on-stop=leave a session continues after the server is closed.
	ctx, cancel := context.WithCancel(call.ctx)
	defer cancel()
	defer context.AfterFunc(s.Closing, cancel)()
	var p progress
	var failure error
	ended := false
	others := map[string]bool{} // UIDs of Secrets of other sessions
	err = log.Follow(ctx, 0, func(e helmtrail.Event) bool {
		switch body := e.Body.(type) {
		case *helmtrail.ReleaseStatus:
			if p.secret != nil || body.Change != decoder.ChangeStatus || others[body.Secret.UID] || session.Operation == helmtrail.OperationUninstall {
				return true
			}
			var secret json.RawMessage
			if secret, failure = s.ownSecret(call, session, body, target); failure != nil {
				return false
			}
			if secret == nil {
				// A rollback is recognized by its description, which may be
				// written later.
				others[body.Secret.UID] = session.Operation != helmtrail.OperationRollback
				return true
			}
			p.revision, p.secret = body.Revision, secret
			return toEnd
		case *helmtrail.End:
			ended = true
			if e.Type != helmtrail.TypeCompleted {
				failure = &statusError{call.status, ending(e.Type, body)}
			}
			p.at = e.Time
			// helmtrail may have retried after a transient conflict, and helm may
			// have created another revision.
			if p.revision > 0 && body.Release != nil {
				p.revision = body.Release.Revision
			}
			return false
		}
		return true
	})
	switch {
	case err != nil && s.Closing.Err() != nil:
		return p, &statusError{call.status, "helmtrail is stopping; session " + session.ID + " goes on without it"}
	case err != nil:
		return p, err
	case failure != nil:
		return p, failure
	case ended && p.revision == 0 && session.Operation != helmtrail.OperationUninstall:
		return p, &statusError{call.status, "helm has ended and left no revision of its own"}
	}
	return p, nil
}

// ownSecret returns the Secret of a session's transition if it belongs to the
// session's own revision, else nil.
func (s *Server) ownSecret(call *apiCall, session helmtrail.Session, status *helmtrail.ReleaseStatus, target int) (json.RawMessage, error) {
	if session.Operation == helmtrail.OperationRollback {
		record := decoder.Header{Status: status.Status, Description: status.Description, RollbackRevision: status.RollbackRevision}
		if status.Revision <= call.start || record.RollbackTarget() != target {
			return nil, nil
		}
	}
	secret, labels, err := call.cluster.API.ReleaseSecret(call.ctx, call.caller.Credentials, session.Release.Namespace, status.Secret.Name)
	if errors.Is(err, helmtrail.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if session.Operation != helmtrail.OperationRollback && labels[decoder.SessionLabel] != session.ID {
		return nil, nil
	}
	return secret, nil
}

// ending returns the reason why a session did not complete.
func ending(kind helmtrail.Type, end *helmtrail.End) string {
	switch {
	case kind == helmtrail.TypeCanceled:
		return "the operation was canceled"
	case end.Message != "":
		return end.Message
	}
	return "helm failed: " + string(end.Reason)
}

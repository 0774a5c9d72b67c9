package stream_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// lagging is a cluster whose watch is behind the API server.
type lagging struct {
	stream.Cluster
	watched, live *decoder.Revision
}

func (c lagging) Newest(string, string) *decoder.Revision { return c.watched }

func (c lagging) Read(context.Context, string, string) ([]*decoder.Revision, error) {
	return []*decoder.Revision{c.live}, nil
}

func (lagging) Observe(string, string, func(decoder.Transition)) (stop func()) { return func() {} }

func (lagging) Kubeconfig(context.Context, helmtrail.Credentials) ([]byte, error) { return nil, nil }

func (lagging) Record(context.Context, string, string, int) (*decoder.Record, error) {
	return nil, helmtrail.ErrNotFound
}

// idleHelm counts how often Helm is run. Its processes end at once.
type idleHelm struct {
	stream.Helm
	starts atomic.Int32
}

func (*idleHelm) Check(helmtrail.Request) error              { return nil }
func (*idleHelm) Version() string                            { return "v4.3.2" }
func (*idleHelm) Command(string, helmtrail.Request) []string { return nil }
func (h *idleHelm) Prepare(ref helmtrail.SessionRef, request helmtrail.Request) (backend.Process, error) {
	return &idleProcess{helm: h, ref: ref, request: request}, nil
}

type idleProcess struct {
	backend.Process
	helm    *idleHelm
	ref     helmtrail.SessionRef
	request helmtrail.Request
}

func (p *idleProcess) Launched() (backend.Launch, bool) { return backend.Launch{}, false }
func (p *idleProcess) Mask(text string) string          { return text }
func (p *idleProcess) KeepRendered() (bool, error)      { return false, nil }
func (p *idleProcess) Close() error                     { return nil }

func (p *idleProcess) Start(context.Context, backend.Launch) error {
	p.helm.starts.Add(1)
	return nil
}

func (p *idleProcess) Follow(context.Context, int64, func(backend.Line) error) (backend.ProcessEnd, error) {
	return backend.ProcessEnd{Exit: exited(1), Message: "no"}, nil
}

// The watch may lag. The read right before Helm would run decides.
func TestARollbackIsNotRunOverAnOperationThatTheWatchHasNotSeen(t *testing.T) {
	deployed := revision(1, decoder.StatusDeployed, "")
	now := revision(2, decoder.StatusPendingUpgrade, "")
	now.Header.LastDeployed = time.Now()
	old := revision(2, decoder.StatusPendingUpgrade, "")
	old.Header.LastDeployed = time.Now().Add(-time.Hour)
	tests := []struct {
		name    string
		request helmtrail.Request
		live    *decoder.Revision
		want    helmtrail.Reason
		starts  int32
	}{
		{"a rollback", helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 1}, now, helmtrail.ReasonPending, 0},
		{"an uninstall", helmtrail.Request{Operation: helmtrail.OperationUninstall}, now, helmtrail.ReasonPending, 0},
		{"a rollback that overrides the pending state", helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 1, Options: helmtrail.Options{OverridePending: true}}, now, helmtrail.ReasonExit, 1},
		{"a rollback over a state that was left long ago", helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 1}, old, helmtrail.ReasonExit, 1},
		{"an upgrade, which helm itself refuses", helmtrail.Request{Operation: helmtrail.OperationUpgrade}, now, helmtrail.ReasonExit, 1},
		{"a rollback of a release at rest", helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 1}, deployed, helmtrail.ReasonExit, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			helm, cluster := &idleHelm{}, lagging{watched: deployed, live: test.live}
			operations := stream.NewOperations(stream.Setup{
				Journal: openJournal(t), Helm: helm, Logger: slog.New(slog.DiscardHandler),
				Cluster: func(string) (stream.Cluster, bool) { return cluster, true },
			})
			test.request.Release = session.Release
			opened, err := operations.Start(t.Context(), test.request)
			if err != nil {
				t.Fatal(err)
			}
			log, err := operations.Open(t.Context(), opened.Release, opened.ID)
			if err != nil {
				t.Fatal(err)
			}
			var events []helmtrail.Event
			if err := log.Follow(t.Context(), 0, func(e helmtrail.Event) bool { events = append(events, e); return true }); err != nil {
				t.Fatal(err)
			}
			stopped, stop := context.WithCancel(t.Context())
			stop()
			if err := operations.Run(stopped); err != nil {
				t.Error(err)
			}
			last := events[len(events)-1]
			end, ok := last.Body.(*helmtrail.End)
			if !ok || last.Type != helmtrail.TypeFailed || end.Reason != test.want || helm.starts.Load() != test.starts {
				t.Errorf("the session ended %s %+v after %d runs of helm, want FAILED %s after %d", last.Type, end, helm.starts.Load(), test.want, test.starts)
			}
			if test.starts == 0 && (len(events) != 2 || end.Hint == "" || end.StartRevision != nil) {
				t.Errorf("helm was not run, but there are %d events, the hint %q and the start %v", len(events), end.Hint, end.StartRevision)
			}
		})
	}
}

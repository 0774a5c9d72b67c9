package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// watchOfNothing is an objectWatch whose rows are set by the test.
func watchOfNothing() *objectWatch {
	r := &run{ops: NewOperations(Setup{}), inbox: newInbox()}
	w := newObjectWatch(r)
	w.secrets = mask.New(r.ops.setup.MaskKey, mask.Release{}).Collect()
	return w
}

// statuses takes the RESOURCE_STATUS events out of the inbox.
func (w *objectWatch) statuses(t *testing.T) []*helmtrail.ResourceStatus {
	t.Helper()
	var bodies []*helmtrail.ResourceStatus
	for _, item := range w.run.inbox.take() {
		if size := entrySize(t, item.kind, item.body); size > backend.MaxEntry {
			t.Errorf("an event has %d bytes, at most %d are allowed", size, backend.MaxEntry)
		}
		if body, ok := item.body.(*helmtrail.ResourceStatus); ok {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

func entrySize(t *testing.T, kind helmtrail.Type, body any) int {
	t.Helper()
	data, err := json.Marshal(helmtrail.Event{Seq: 1 << 40, Type: kind, Time: time.Now(), SessionID: strings.Repeat("0", 36), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return len(data) + 1
}

// A registry's proxy may answer every pull with a page of HTML. Each of its bytes
// may take six bytes in JSON.
func TestEventsOfAHugeReleaseFitIntoTheJournal(t *testing.T) {
	const many = 3000
	w, long := watchOfNothing(), strings.Repeat("<", 1200)
	var rows []health.Resource
	var refs []health.ObjectRef
	for i := range many {
		row := health.Resource{
			Kind: "Pod", APIVersion: "v1", Namespace: strings.Repeat("n", 63), Name: fmt.Sprintf("%s-%d", strings.Repeat("p", 240), i),
			Status: "ImagePullBackOff", Reason: "ImagePullBackOff", Message: long, Owner: fmt.Sprintf("apps/ReplicaSet/%s/%d", strings.Repeat("n", 63), i),
		}
		s := health.Sentence{Problem: health.ProblemImageNotPulled, Object: health.ObjectRef{Kind: row.Kind, Namespace: row.Namespace, Name: row.Name}, Container: "web", Image: long, Reason: row.Reason, Detail: long}
		row.Cause = health.Cause{Sentence: s, Message: long, Text: s.English(), Because: s, Rank: health.RankContainer}
		rows, refs = append(rows, row), append(refs, s.Object)
	}
	w.tell(rows)
	reported := map[string]bool{}
	for i, body := range w.statuses(t) {
		if body.Full != (i == 0) {
			t.Errorf("event %d is full: %v", i, body.Full)
		}
		for _, row := range body.Resources {
			reported[row.Key()] = true
		}
	}
	if len(reported) != many {
		t.Errorf("%d rows were reported, want %d", len(reported), many)
	}
	end := &helmtrail.End{
		Causes: w.finalCauses(), Leftovers: beginning(refs), Notes: cutNotes(strings.Repeat("<", 1<<20)),
		Message: strings.Repeat("<", maxDescription), Hint: "a hint",
	}
	if size := entrySize(t, helmtrail.TypeFailed, end); size > backend.MaxEntry || len(end.Causes) == 0 || len(end.Leftovers) < 300 {
		t.Errorf("an end of %d bytes with %d causes and %d leftovers; %d bytes are allowed", size, len(end.Causes), len(end.Leftovers), backend.MaxEntry)
	}

	w.tell(nil)
	removed := map[string]bool{}
	for _, body := range w.statuses(t) {
		for _, key := range body.Removed {
			removed[key] = true
		}
	}
	if diff := cmp.Diff(reported, removed); diff != "" {
		t.Errorf("keys of the removed rows (-want +got):\n%s", diff)
	}
}

// A revision without objects may follow one that has some.
func TestAnEmptyTableIsReportedOnce(t *testing.T) {
	w := watchOfNothing()
	w.tell([]health.Resource{{Kind: "Pod", Name: "web"}})
	w.stream = streamUnset
	w.tell(nil)
	w.tell(nil)
	reported := w.statuses(t)
	if len(reported) != 2 || !reported[1].Full || reported[1].Resources == nil || len(reported[1].Resources) > 0 {
		t.Errorf("reported %+v", reported)
	}
}

func TestRowsDoNotPileUpWhileTheJournalIsFull(t *testing.T) {
	w := watchOfNothing()
	row := health.Resource{Kind: "Pod", APIVersion: "v1", Namespace: "ns", Name: "web"}
	change := func() {
		row.Restarts++
		w.tell([]health.Resource{row})
	}
	for range 10 * maxWaitingOthers {
		change()
	}
	if waiting := w.statuses(t); len(waiting) != maxWaitingOthers {
		t.Errorf("%d events waited, want %d", len(waiting), maxWaitingOthers)
	}
	change()
	if reported := w.statuses(t); len(reported) != 1 || reported[0].Resources[0] != row {
		t.Errorf("once there is room, the row is reported as %+v, want %+v", reported, row)
	}
	for range maxWaitingOthers {
		change()
	}
	w.final = true
	change()
	if reported := w.statuses(t); reported[len(reported)-1].Resources[0] != row {
		t.Errorf("the row's last state is %+v, want %+v", reported[len(reported)-1].Resources[0], row)
	}
}

// The last change of an object may fall into a time when the journal is full.
func TestOmittedRowsAreReportedOnceThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchOfNothing()
		ctx, stop := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() { w.next(ctx, 0) })
		row := health.Resource{Kind: "Pod", APIVersion: "v1", Namespace: "ns", Name: "web"}
		for range maxWaitingOthers + 1 {
			row.Restarts++
			w.tell([]health.Resource{row})
		}
		synctest.Wait()
		if waiting := w.statuses(t); len(waiting) != maxWaitingOthers {
			t.Errorf("%d events waited, want %d", len(waiting), maxWaitingOthers)
		}
		synctest.Wait()
		if reported := w.statuses(t); len(reported) != 1 || reported[0].Resources[0] != row {
			t.Errorf("once there was room, reported %+v, want %+v", reported, row)
		}
		stop()
		watching.Wait()
	})
}

// Texts that stay in the standing causes are searched for secrets once, not five
// times a second.
func TestTextsThatStayAreMaskedOnce(t *testing.T) {
	w := watchOfNothing()
	var rows []health.Resource
	for i := range 3000 {
		rows = append(rows, health.Resource{Kind: "Pod", Name: fmt.Sprint(i), Message: fmt.Sprintf("password=%d", i)})
	}
	w.tell(rows)
	before := w.masked
	// From here on nothing can be masked.
	w.secrets = nil
	w.tell(rows)
	if diff := cmp.Diff(before, w.masked); diff != "" || len(before) != len(rows) {
		t.Errorf("%d texts (-first +second):\n%s", len(before), diff)
	}
	w.tell(rows[:1])
	if len(w.masked) != 1 {
		t.Errorf("%d texts are cached for one row", len(w.masked))
	}
}

// unwell is a cluster that answers only the third request for a record.
type unwell struct {
	Cluster
	asked    int
	followed chan int
}

func (u *unwell) Record(_ context.Context, _, _ string, revision int) (*decoder.Record, error) {
	if u.asked++; u.asked < 3 {
		return nil, errors.New("connection refused")
	}
	return &decoder.Record{Version: revision}, nil
}

func (u *unwell) Follow(ctx context.Context, record *decoder.Record, _ helmtrail.Viewer, _ func([]health.Resource)) error {
	u.followed <- record.Version
	<-ctx.Done()
	return nil
}

// If the API server is away for a moment, the release's objects must not be hidden
// for the whole session.
func TestARecordThatCannotBeReadIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchOfNothing()
		cluster := &unwell{followed: make(chan int, 10)}
		w.records, w.cluster, w.run.log = cluster, cluster, slog.New(slog.DiscardHandler)
		ctx, stop := context.WithCancel(t.Context())
		var watching sync.WaitGroup
		watching.Go(func() { w.watch(ctx) })
		begun := time.Now()
		w.follow(7)
		if revision := <-cluster.followed; revision != 7 {
			t.Errorf("revision %d is followed", revision)
		}
		if took, want := time.Since(begun), recordPause+2*recordPause; took != want {
			t.Errorf("it took %v, want %v", took, want)
		}
		stop()
		watching.Wait()
	})
}

// Helm deletes objects after it gave up, and rolls back. Neither may hide the causes.
func TestCausesStandFromTheMomentHelmGaveUp(t *testing.T) {
	w := watchOfNothing()
	w.run.request.Operation = helmtrail.OperationUpgrade
	cause := func(reason string, rank health.Rank, final bool) []health.Resource {
		s := health.Sentence{Object: health.ObjectRef{Kind: "Pod", Name: "web"}, Reason: reason}
		return []health.Resource{{Kind: "Pod", Name: "web", Cause: health.Cause{Sentence: s, Text: reason, Rank: rank, Final: final}}}
	}
	record := func(version int, status decoder.Status, description string) *decoder.Record {
		return &decoder.Record{Version: version, Header: decoder.Header{Status: status, Description: description}}
	}
	check := func(step string, want ...string) {
		t.Helper()
		var got []string
		for _, c := range w.standing {
			got = append(got, c.Reason)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: standing causes (-want +got):\n%s", step, diff)
		}
	}
	w.begin(record(2, decoder.StatusPendingUpgrade, ""))
	w.tell(cause("Unhealthy", health.RankProbe, false))
	check("while Helm waits", "Unhealthy")
	w.tell(cause("CrashLoopBackOff", health.RankContainer, false))
	check("when the trouble changes", "CrashLoopBackOff")
	w.freeze()
	w.tell(nil)
	check("when Helm deletes the objects", "CrashLoopBackOff")
	w.tell(cause("BackoffLimitExceeded", health.RankCondition, true))
	check("when a final cause is seen late", "BackoffLimitExceeded", "CrashLoopBackOff")
	w.begin(record(3, decoder.StatusPendingRollback, "Rollback to 1"))
	w.tell(cause("ImagePullBackOff", health.RankContainer, true))
	check("while Helm rolls back", "BackoffLimitExceeded", "CrashLoopBackOff")
	w.begin(record(4, decoder.StatusPendingUpgrade, ""))
	check("when Helm is run once more")
	w.tell(cause("Unhealthy", health.RankProbe, false))
	check("in the next attempt", "Unhealthy")
}

// The watch of the objects may report that Helm deletes them before the release's
// watch reports that Helm gave up.
func TestCausesStandIfTheDeletionIsSeenFirst(t *testing.T) {
	w := watchOfNothing()
	w.run.request.Operation = helmtrail.OperationInstall
	w.begin(&decoder.Record{Version: 1, Header: decoder.Header{Status: decoder.StatusPendingInstall}})
	deployment := health.Resource{Kind: "Deployment", APIVersion: "apps/v1", Name: "web", Status: "InProgress"}
	set := health.Resource{Kind: "ReplicaSet", APIVersion: "apps/v1", Name: "web-1", Owner: deployment.Key(), Status: "InProgress"}
	pod := health.Resource{
		Kind: "Pod", APIVersion: "v1", Name: "web-1-a", Owner: set.Key(), Status: "InProgress",
		Cause: health.Cause{Sentence: health.Sentence{Reason: "ImagePullBackOff"}, Rank: health.RankContainer},
	}
	gone, leaving, ready := deployment, pod, deployment
	gone.Status = health.StatusNotFound
	leaving.Cause = health.Cause{Sentence: health.Sentence{Reason: "Terminating", Problem: health.ProblemDeleting}, Rank: health.RankWaiting}
	ready.Status, ready.Current = "Current", true
	next, replaced := set, pod
	next.Name = "web-2"
	replaced.Name, replaced.Cause = "web-1-b", health.Cause{}
	failing, none := []string{"ImagePullBackOff"}, []string(nil)
	rows := func(rows ...health.Resource) []health.Resource { return rows }
	for _, step := range []struct {
		name string
		rows []health.Resource
		want []string
	}{
		{"while Helm waits", rows(deployment, set, pod), failing},
		{"when a Pod is replaced", rows(deployment, set, replaced), none},
		{"when its successor fails too", rows(deployment, set, pod), failing},
		{"when the Pod disappears before its owners", rows(deployment, set), failing},
		{"when its ReplicaSet disappears before the Deployment", rows(deployment), failing},
		{"when another ReplicaSet takes over", rows(deployment, next), none},
		{"when a Pod fails again", rows(deployment, set, pod), failing},
		{"when the Deployment is ready without it", rows(ready), none},
		{"when a Pod fails once more", rows(deployment, set, pod), failing},
		{"when only the Deployment's row is left at once", rows(gone), failing},
		{"when a Pod fails in a new Deployment", rows(deployment, set, pod), failing},
		{"when the Pod is being deleted", rows(deployment, set, leaving), failing},
		{"when it is gone", rows(deployment, set), failing},
		{"when the objects are being deleted", rows(gone, set, leaving), failing},
		{"when only the Deployment's row is left", rows(gone), failing},
		{"when it stays so", rows(gone), failing},
	} {
		w.tell(step.rows)
		var got []string
		for _, c := range w.standing {
			got = append(got, c.Reason)
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s: standing causes (-want +got):\n%s", step.name, diff)
		}
	}
	w.freeze()
	w.tell([]health.Resource{gone})
	if causes := w.finalCauses(); len(causes) != 1 || causes[0].Reason != "ImagePullBackOff" {
		t.Errorf("the causes at the end are %+v", causes)
	}
	w.run.request.Operation = helmtrail.OperationUninstall
	w.verdict, w.standing, w.alive = verdictOpen, nil, nil
	w.tell([]health.Resource{deployment, pod})
	w.tell([]health.Resource{deployment, leaving})
	if causes := w.finalCauses(); len(causes) != 1 || causes[0].Reason != "Terminating" {
		t.Errorf("an uninstall's causes are %+v", causes)
	}
}

// A container's log may arrive when the session already follows another revision.
func TestALateLogDoesNotBringBackTheRowsOfAnEarlierRevision(t *testing.T) {
	w := watchOfNothing()
	w.begin(&decoder.Record{Version: 1})
	w.tell([]health.Resource{{Kind: "Pod", Name: "old"}})
	w.statuses(t)
	w.begin(&decoder.Record{Version: 2})
	w.catchUp()
	w.cluster = logs{text: "what it wrote"}
	w.readLog(health.LogSource{Pod: "old"})
	if reported := w.statuses(t); len(reported) != 0 {
		t.Errorf("reported %+v", reported)
	}
}

// logs is a cluster in which every container wrote the same log.
type logs struct {
	Cluster
	text string
}

func (l logs) ContainerLog(context.Context, health.LogSource, helmtrail.Viewer) (string, error) {
	return l.text, nil
}

// still is a cluster whose objects do not change. logs are the answers to each
// request for a container's log.
type still struct {
	Cluster
	rows []health.Resource
	logs []string
}

func (*still) Record(_ context.Context, _, _ string, revision int) (*decoder.Record, error) {
	return &decoder.Record{Version: revision, Header: decoder.Header{Status: decoder.StatusFailed}}, nil
}

func (s *still) Snapshot(context.Context, *decoder.Record, helmtrail.Viewer) ([]health.Resource, error) {
	return s.rows, nil
}

func (s *still) ContainerLog(context.Context, health.LogSource, helmtrail.Viewer) (string, error) {
	log := s.logs[0]
	s.logs = s.logs[1:]
	return log, nil
}

func waitingRow() health.Resource {
	s := health.Sentence{Object: health.ObjectRef{Kind: "Deployment", Name: "web"}, Reason: "Progressing"}
	return health.Resource{Kind: "Deployment", Name: "web", Status: "Progressing", Cause: health.Cause{Sentence: s, Rank: health.RankWaiting}}
}

// On a busy machine a session may learn of its revision, and that it failed, only
// after Helm has ended.
func TestAnEndNamesACauseAlthoughTheWatchLags(t *testing.T) {
	w := watchOfNothing()
	w.run.request.Operation = helmtrail.OperationUpgrade
	cluster := &still{rows: []health.Resource{waitingRow()}}
	w.records, w.cluster, w.run.log = cluster, cluster, slog.New(slog.DiscardHandler)
	watched, stop := context.WithCancel(t.Context())
	stop()
	w.watch(watched)
	w.freeze()
	w.follow(2)
	if rows := w.last(t.Context()); len(rows) != 1 {
		t.Errorf("the last rows are %+v", rows)
	}
	if causes := w.finalCauses(); len(causes) != 1 || causes[0].Reason != "Progressing" {
		t.Errorf("the causes are %+v", causes)
	}
}

// A node may have a container's log only a moment after the container's end.
func TestAnEmptyLogIsReadAgain(t *testing.T) {
	w := watchOfNothing()
	w.cluster = &still{logs: []string{"", "out of luck"}}
	row := waitingRow()
	row.Cause.Rank, row.Cause.Source = health.RankContainer, health.LogSource{Pod: "web-0", Container: "web"}
	for restarts := range 2 {
		row.Restarts = restarts
		w.tell([]health.Resource{row})
		w.reading.Wait()
	}
	if causes := w.finalCauses(); len(causes) != 1 || causes[0].Log != "out of luck" {
		t.Errorf("the causes are %+v", causes)
	}
}

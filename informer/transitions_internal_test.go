package informer

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
)

// state describes one state of a release Secret for the index.
type state struct {
	name    string
	number  int
	uid     string
	version string
	status  decoder.Status
	// listed means that the state came from a LIST, without its record.
	listed bool
}

func (s state) secret() *secret {
	if s.uid == "" {
		s.uid = fmt.Sprintf("uid-%s-%d", s.name, s.number)
	}
	secretName := fmt.Sprintf("sh.helm.release.v1.%s.v%d", s.name, s.number)
	rev := &decoder.Revision{
		Namespace: "ns", Name: s.name, Number: s.number, LabelStatus: s.status,
		Secret: decoder.SecretRef{Name: secretName, UID: s.uid, ResourceVersion: s.version},
	}
	if !s.listed {
		rev.Header, rev.Digest = &decoder.Header{Name: s.name, Status: s.status}, "digest"
	}
	return &secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: secretName, UID: types.UID(s.uid), ResourceVersion: s.version,
		},
		revision: rev, read: !s.listed,
	}
}

// said formats each transition as one line.
func said(transitions []decoder.Transition) []string {
	lines := []string{}
	for _, t := range transitions {
		if t.Change == "" {
			continue // not a transition: a state for the keeper only
		}
		line := fmt.Sprintf("%s %s.v%d", t.Change, t.Revision.Name, t.Revision.Number)
		if t.Previous != "" {
			line += " " + string(t.Previous) + " ->"
		}
		line += " " + string(t.Revision.Status())
		if t.Revision.Header == nil {
			line += " (label)"
		}
		if t.Late {
			line += " late"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestIndexReportsTransitions(t *testing.T) {
	const deployed, superseded, pending = decoder.StatusDeployed, decoder.StatusSuperseded, decoder.StatusPendingUpgrade
	tests := []struct {
		name string
		do   func(x *index) []decoder.Transition
		want []string
	}{
		{
			name: "the first inventory is not a transition",
			do: func(x *index) []decoder.Transition {
				_, reported := x.stored(state{name: "a", number: 1, version: "1", status: deployed, listed: true}.secret(), true, time.Time{})
				return reported
			},
			want: []string{},
		},
		{
			name: "a record fetched for the first inventory is not a transition, even if its label was wrong",
			do: func(x *index) []decoder.Transition {
				listed := state{name: "a", number: 1, version: "1", status: pending, listed: true}.secret()
				x.stored(listed, true, time.Time{})
				reported := x.fetched(listed.revision, state{name: "a", number: 1, version: "1", status: deployed}.secret())
				_, more := x.stored(state{name: "a", number: 1, version: "2", status: deployed}.secret(), false, time.Time{})
				return append(reported, more...)
			},
			want: []string{},
		},
		{
			name: "a write that keeps the status is not a transition",
			do: func(x *index) []decoder.Transition {
				x.stored(state{name: "a", number: 1, version: "1", status: deployed}.secret(), true, time.Time{})
				_, reported := x.stored(state{name: "a", number: 1, version: "2", status: deployed}.secret(), false, time.Time{})
				return reported
			},
			want: []string{},
		},
		{
			name: "the transitions of a release wait for a record that must be fetched",
			do: func(x *index) []decoder.Transition {
				listed := state{name: "a", number: 1, version: "5", status: superseded, listed: true}.secret()
				x.stored(state{name: "a", number: 1, version: "1", status: deployed}.secret(), true, time.Time{})
				fetch, reported := x.stored(listed, false, time.Time{})
				if !fetch || len(reported) > 0 {
					panic("reported before it was read")
				}
				_, reported = x.stored(state{name: "a", number: 2, version: "6", status: deployed}.secret(), false, time.Time{})
				_, other := x.stored(state{name: "b", number: 1, version: "7", status: deployed}.secret(), false, time.Time{})
				reported = append(reported, other...)
				return append(reported, x.fetched(listed.revision, state{name: "a", number: 1, version: "5", status: superseded}.secret())...)
			},
			want: []string{
				"status b.v1 deployed",
				"status a.v1 deployed -> superseded late",
				"status a.v2 deployed",
			},
		},
		{
			name: "a state overwritten before it was read is reported from its label",
			do: func(x *index) []decoder.Transition {
				listed := state{name: "a", number: 1, version: "5", status: pending, listed: true}.secret()
				x.stored(listed, false, time.Time{})
				_, reported := x.stored(state{name: "a", number: 1, version: "6", status: deployed}.secret(), false, time.Time{})
				// The answer to the fetch of version 5 arrives too late and has
				// version 6.
				return append(reported, x.fetched(listed.revision, state{name: "a", number: 1, version: "6", status: deployed}.secret())...)
			},
			want: []string{
				"status a.v1 pending-upgrade (label) late",
				"status a.v1 pending-upgrade -> deployed",
			},
		},
		{
			name: "a fetch that returns the next state reports this one from its label",
			do: func(x *index) []decoder.Transition {
				listed := state{name: "a", number: 1, version: "5", status: pending, listed: true}.secret()
				x.stored(listed, false, time.Time{})
				reported := x.fetched(listed.revision, state{name: "a", number: 1, version: "6", status: deployed}.secret())
				_, more := x.stored(state{name: "a", number: 1, version: "6", status: deployed}.secret(), false, time.Time{})
				return append(reported, more...)
			},
			want: []string{
				"status a.v1 pending-upgrade (label) late",
				"status a.v1 pending-upgrade -> deployed",
			},
		},
		{
			name: "a Secret recreated unseen is reported as removed and added",
			do: func(x *index) []decoder.Transition {
				x.stored(state{name: "a", number: 1, version: "1", status: deployed}.secret(), true, time.Time{})
				_, reported := x.stored(state{name: "a", number: 1, uid: "other", version: "9", status: deployed}.secret(), false, time.Time{})
				return reported
			},
			want: []string{"removed a.v1 deployed -> deployed late", "status a.v1 deployed"},
		},
		{
			name: "missed deletes have the same result in any order",
			do: func(x *index) []decoder.Transition {
				for n, status := range []decoder.Status{superseded, superseded, deployed} {
					x.stored(state{name: "a", number: n + 1, version: "1", status: status}.secret(), true, time.Time{})
				}
				reported := x.deleted(state{name: "a", number: 3}.secret(), true, time.Time{})
				reported = append(reported, x.deleted(state{name: "a", number: 1}.secret(), true, time.Time{})...)
				return append(reported, x.deleted(state{name: "a", number: 2}.secret(), true, time.Time{})...)
			},
			want: []string{
				"removed a.v3 deployed -> deployed late",
				"pruned a.v1 superseded -> superseded late",
				"pruned a.v2 superseded -> superseded late",
			},
		},
		{
			name: "nothing is reported for a release without a name",
			do: func(x *index) []decoder.Transition {
				nameless := state{name: "", number: 0, version: "1", listed: true}.secret()
				_, reported := x.stored(nameless, false, time.Time{})
				return append(reported, x.fetched(nameless.revision, nil)...)
			},
			want: []string{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newIndex(0)
			if diff := cmp.Diff(test.want, said(test.do(&x))); diff != "" {
				t.Errorf("transitions (-want +got):\n%s", diff)
			}
		})
	}
}

// The record names the release if neither the labels nor the Secret's name do.
func TestIndexMovesRevisionToTheReleaseThatItsRecordNames(t *testing.T) {
	x := newIndex(0)
	nameless := state{name: "", number: 0, uid: "u", version: "1", listed: true}.secret()
	x.stored(nameless, true, time.Time{})
	if got := x.list(""); len(got) != 0 {
		t.Fatalf("a Secret without a name is listed: %v", got[0])
	}
	named := state{name: "a", number: 4, uid: "u", version: "1", status: decoder.StatusDeployed}.secret()
	named.Name, named.revision.Secret.Name = nameless.Name, nameless.Name
	x.fetched(nameless.revision, named)
	got := x.list("ns")
	if len(got) != 1 || got[0].Name != "a" || got[0].Number != 4 {
		t.Errorf("list = %v, want the revision 4 of a", got)
	}
	if len(x.releases) != 1 {
		t.Errorf("%d releases are left, want 1", len(x.releases))
	}
}

func TestIndexListsHighestRevisionsSorted(t *testing.T) {
	x := newIndex(0)
	for i, s := range []struct {
		namespace, name string
		number          int
	}{{"b", "x", 1}, {"a", "z", 9}, {"a", "z", 10}, {"a", "y", 1}, {"c", "w", 1}} {
		added := state{name: s.name, number: s.number, version: fmt.Sprint(i), status: decoder.StatusDeployed}.secret()
		added.Namespace, added.revision.Namespace = s.namespace, s.namespace
		x.stored(added, true, time.Time{})
	}
	names := func(list []*decoder.Revision) []string {
		out := []string{}
		for _, r := range list {
			out = append(out, fmt.Sprintf("%s/%s.v%d", r.Namespace, r.Name, r.Number))
		}
		return out
	}
	for namespace, want := range map[string][]string{
		"":  {"a/y.v1", "a/z.v10", "b/x.v1", "c/w.v1"},
		"a": {"a/y.v1", "a/z.v10"},
		"b": {"b/x.v1"},
		"d": {},
	} {
		if diff := cmp.Diff(want, names(x.list(namespace))); diff != "" {
			t.Errorf("list of %q (-want +got):\n%s", namespace, diff)
		}
	}
}

func newTestChanges() (*Watcher, *changes) {
	w := newWatcher(nil, nil, nil, slog.New(slog.DiscardHandler))
	w.fetcher = newFetcher()
	return w, &changes{w: w}
}

func (w *Watcher) takeReported() []decoder.Transition {
	w.observers.mu.Lock()
	defer w.observers.mu.Unlock()
	var reported []decoder.Transition
	for _, n := range w.observers.waiting {
		reported = append(reported, n.transition)
	}
	w.observers.waiting = nil
	return reported
}

// A delete that a broken watch missed arrives wrapped, by value, and may contain
// anything; see https://github.com/kumahq/kuma/issues/17065 and
// https://github.com/kubestellar/kubestellar/issues/3857.
func TestAMissedDeleteInATombstoneDoesNotPanic(t *testing.T) {
	w, c := newTestChanges()
	defer w.fetcher.urgent.ShutDown()
	defer w.fetcher.backfill.ShutDown()
	for n := 1; n <= 4; n++ {
		c.OnAdd(state{name: "a", number: n, version: fmt.Sprint(n), status: decoder.StatusSuperseded}.secret(), true)
	}
	tombstone := func(number int, object any) cache.DeletedFinalStateUnknown {
		return cache.DeletedFinalStateUnknown{Key: fmt.Sprintf("ns/sh.helm.release.v1.a.v%d", number), Obj: object}
	}
	first := tombstone(1, state{name: "a", number: 1, version: "1", status: decoder.StatusSuperseded}.secret())
	c.OnDelete(first)
	c.OnDelete(tombstone(2, nil))
	c.OnDelete(tombstone(3, "a string"))
	c.OnDelete(cache.DeletedFinalStateUnknown{Key: "too/many/parts", Obj: nil})
	c.OnDelete(tombstone(9, nil))
	c.OnDelete("a string")
	c.OnDelete(nil)
	// Repeat it, also as a pointer, which client-go never sends.
	c.OnDelete(first)
	c.OnDelete(&first)

	want := []string{
		"pruned a.v1 superseded -> superseded late",
		"pruned a.v2 superseded -> superseded late",
		"pruned a.v3 superseded -> superseded late",
	}
	if diff := cmp.Diff(want, said(w.takeReported())); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if got := w.Revisions("ns", "a"); len(got) != 1 || got[0].Number != 4 {
		t.Errorf("revisions left: %v, want only 4", got)
	}
}

// A resync, or a restarted API server, sends every object again as
// an update; see https://github.com/kubernetes/client-go/issues/529 and
// https://github.com/kubernetes/kubernetes/issues/81638.
func TestRepeatedUpdateOfUnchangedSecretReportsNothing(t *testing.T) {
	w, c := newTestChanges()
	defer w.fetcher.urgent.ShutDown()
	defer w.fetcher.backfill.ShutDown()
	first := state{name: "a", number: 1, version: "1", status: decoder.StatusDeployed}
	c.OnAdd(first.secret(), false)
	w.takeReported()
	version := w.Version()
	listedAgain := first
	listedAgain.listed = true
	for range 50 {
		c.OnUpdate(first.secret(), first.secret())
		c.OnUpdate(first.secret(), listedAgain.secret())
		c.OnAdd(listedAgain.secret(), false)
	}
	if reported := w.takeReported(); len(reported) > 0 {
		t.Errorf("reported %v", said(reported))
	}
	if w.Version() != version {
		t.Error("the version changed")
	}
	if got := w.Revisions("ns", "a"); got[0].Header == nil {
		t.Error("the header was lost")
	}
	if n := w.fetcher.urgent.Len() + w.fetcher.backfill.Len(); n > 0 {
		t.Errorf("%d records would be fetched again", n)
	}

	// A new resource version with the same status matters only to the index and
	// the keeper.
	relabelled := first
	relabelled.version = "2"
	c.OnUpdate(first.secret(), relabelled.secret())
	if reported := w.takeReported(); len(reported) != 1 || reported[0].Change != "" || reported[0].Revision.Secret.ResourceVersion != "2" {
		t.Errorf("a write without a new status reported %v", reported)
	}
	if w.Version() == version {
		t.Error("the version did not change with the Secret")
	}
}

// The informer also runs the transform on its own result.
func TestReduceTwiceIsOnce(t *testing.T) {
	once := state{name: "a", number: 1, version: "1"}.secret()
	twice, err := (&Watcher{}).reduce(once)
	if err != nil || twice != any(once) {
		t.Errorf("reduce gave %v, %v", twice, err)
	}
}

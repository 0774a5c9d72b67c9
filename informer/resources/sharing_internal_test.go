package resources

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestReadersShareAWatchThatEndsSomeTimeAfterTheLast(t *testing.T) {
	config := clustertest.Config(t)
	clients, err := ClientsFor(config)
	if err != nil {
		t.Fatal(err)
	}
	tracker := NewTracker(clients)
	record := &decoder.Record{SecretNamespace: "default", Manifest: `
{apiVersion: v1, kind: Service, metadata: {name: a}}
---
{apiVersion: v1, kind: Service, metadata: {name: b}}
---
{apiVersion: v1, kind: Secret, metadata: {name: c}}
`}
	begin := func() (end func()) {
		ctx, stop := context.WithCancel(t.Context())
		reported, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() {
			ended <- tracker.Follow(ctx, record, nil, func([]health.Resource) {
				select {
				case reported <- struct{}{}:
				default:
				}
			})
		}()
		<-reported
		return func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	readers := func() map[string]int {
		tracker.mu.Lock()
		defer tracker.mu.Unlock()
		count := map[string]int{}
		for p, w := range tracker.watches {
			w.mu.Lock()
			for _, n := range w.readers {
				count[p.resource.Resource] += n
			}
			w.mu.Unlock()
		}
		return count
	}

	endFirst, endSecond := begin(), begin()
	if got := readers(); got["services"] != 2 || got["secrets"] != 2 || len(got) != 2 {
		t.Errorf("two readers hold %v", got)
	}
	endFirst()
	if got := readers(); got["services"] != 1 || got["secrets"] != 1 {
		t.Errorf("one reader holds %v", got)
	}
	watching := func() map[place]*sharedWatch {
		tracker.mu.Lock()
		defer tracker.mu.Unlock()
		return maps.Clone(tracker.watches)
	}
	endSecond()
	before := watching()
	if len(before) != 2 || len(readers()) != 0 {
		t.Errorf("without readers there are %d watches and readers %v", len(before), readers())
	}
	begin()()
	if after := watching(); !maps.Equal(before, after) {
		t.Error("the next reader did not find the watches that had no reader")
	}

	tracker.mu.Lock()
	tracker.linger = 10 * time.Millisecond
	tracker.mu.Unlock()
	begin()()
	for deadline := time.Now().Add(time.Minute); len(watching()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the watches did not end")
		}
	}
	tracker.Close()
	begin()()
	if len(watching()) != 0 {
		t.Error("a closed tracker keeps watches without readers")
	}
	tracker.Close()
}

func TestAWatchKeepsItsStateWhileTheAPIServerIsBusy(t *testing.T) {
	clients, err := ClientsFor(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	tracker := NewTracker(clients)
	defer tracker.Close()
	fo := tracker.follower(&decoder.Record{SecretNamespace: "default", Manifest: "{apiVersion: v1, kind: Service, metadata: {name: kubernetes}}"})
	defer fo.leave()
	fo.join(t.Context())
	fo.waitUntilKnown(t.Context())
	target := fo.targets[0]
	w, services := fo.watches[target.place], schema.GroupResource{Resource: "services"}
	for _, test := range []struct {
		err          error
		there, fails bool
	}{
		{nil, true, false},
		{errors.New("connection refused"), true, false},
		{apierrors.NewServiceUnavailable("restarting"), true, false},
		{apierrors.NewTooManyRequestsError("busy"), true, false},
		{apierrors.NewResourceExpired("too old"), true, false},
		{apierrors.NewForbidden(services, "", errors.New("withdrawn")), false, true},
		{apierrors.NewNotFound(services, ""), false, false}, // the kind is gone, and the object with it
	} {
		w.note(test.err)
		object, err := fo.object(target)
		if (object != nil) != test.there || (err != nil) != test.fails {
			t.Errorf("after %v: object %v, %v", test.err, object != nil, err)
		}
	}
}

package resources

import (
	"context"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

func TestReadersShareAWatchThatEndsWithTheLast(t *testing.T) {
	config := clustertest.Config(t)
	tracker := NewTracker(Clients{
		Dynamic: dynamic.NewForConfigOrDie(config), Metadata: metadata.NewForConfigOrDie(config),
		Discovery: discovery.NewDiscoveryClientForConfigOrDie(config),
	})
	record := &decoder.Record{SecretNamespace: "default", Manifest: `
{apiVersion: v1, kind: Service, metadata: {name: a}}
---
{apiVersion: v1, kind: Service, metadata: {name: b}}
---
{apiVersion: v1, kind: Secret, metadata: {name: c}}
`}
	const services, secrets = 2, 1
	begin := func() (end func()) {
		ctx, stop := context.WithCancel(t.Context())
		told, ended := make(chan struct{}, 1), make(chan error, 1)
		go func() {
			ended <- tracker.Follow(ctx, record, func([]stream.Resource) {
				select {
				case told <- struct{}{}:
				default:
				}
			})
		}()
		<-told
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
	if got := readers(); got["services"] != 2*services || got["secrets"] != 2*secrets || len(got) != 2 {
		t.Errorf("two readers hold %v", got)
	}
	endFirst()
	if got := readers(); got["services"] != services || got["secrets"] != secrets {
		t.Errorf("one reader holds %v", got)
	}
	endSecond()
	if len(tracker.watches) != 0 {
		t.Errorf("%d watches are left", len(tracker.watches))
	}
}

package informer_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// BenchmarkSync compares three ways to load a cluster with 500 release Secrets
// of 100 KB: an informer on full Secrets, the same informer with the data
// stripped off, and helmtrail's own.
func BenchmarkSync(b *testing.B) {
	const secrets, size = 500, 100 << 10
	ns := clustertest.Namespace(b)
	fill(b, ns, secrets, size)
	config := clustertest.Config(b)

	b.Run("full informer", func(b *testing.B) { benchmarkInformer(b, config, nil) })
	b.Run("full informer, stripped", func(b *testing.B) {
		benchmarkInformer(b, config, func(o any) (any, error) {
			if s, ok := o.(*corev1.Secret); ok {
				s.Data, s.ManagedFields = nil, nil
			}
			return o, nil
		})
	})
	b.Run("helmtrail", func(b *testing.B) {
		for b.Loop() {
			measure(b, func(ctx context.Context) (wait func()) {
				c := open(b, clustertest.Kubeconfig(b))
				ended := make(chan error)
				go func() { ended <- c.Run(ctx) }()
				waitSynced(b, c)
				if n := len(c.Latest(ns)); n != secrets {
					b.Fatalf("%d releases, want %d", n, secrets)
				}
				return func() {
					if err := <-ended; err != nil {
						b.Error(err)
					}
					runtime.KeepAlive(c)
				}
			})
		}
	})
}

func benchmarkInformer(b *testing.B, config *rest.Config, transform cache.TransformFunc) {
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	for b.Loop() {
		measure(b, func(ctx context.Context) (wait func()) {
			client, err := corev1client.NewForConfig(config)
			if err != nil {
				b.Fatal(err)
			}
			informer := cache.NewSharedIndexInformer(&cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (apiruntime.Object, error) {
					o.LabelSelector = decoder.OwnerLabel
					return client.Secrets("").List(ctx, o)
				},
				WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
					o.LabelSelector = decoder.OwnerLabel
					return client.Secrets("").Watch(ctx, o)
				},
			}, &corev1.Secret{}, 0, cache.Indexers{})
			if transform != nil {
				if err := informer.SetTransform(transform); err != nil {
					b.Fatal(err)
				}
			}
			ended := make(chan struct{})
			go func() { defer close(ended); informer.RunWithContext(ctx) }()
			if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
				b.Fatal("not synced")
			}
			return func() { <-ended; runtime.KeepAlive(informer) }
		})
	}
}

// measure reports how long start takes, the memory in use afterwards, and the
// peak until then.
func measure(b *testing.B, start func(ctx context.Context) (wait func())) {
	ctx, stop := context.WithCancel(context.Background())
	before := inUse()
	var peak atomic.Uint64
	sampling, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			select {
			case <-sampling:
				return
			case <-time.After(2 * time.Millisecond):
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				peak.Store(max(peak.Load(), stats.HeapAlloc))
			}
		}
	}()
	begun := time.Now()
	wait := start(ctx)
	b.ReportMetric(float64(time.Since(begun).Milliseconds()), "ms/sync")
	close(sampling)
	<-sampled
	b.ReportMetric(float64(inUse()-before)/(1<<20), "MB-after")
	b.ReportMetric(float64(max(peak.Load(), before)-before)/(1<<20), "MB-peak")
	stop()
	wait()
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// fill makes release Secrets whose records do not compress.
func fill(b *testing.B, namespace string, secrets, size int) {
	b.Helper()
	core := clustertest.Core(b)
	var creating errgroup.Group
	creating.SetLimit(8)
	for n := range secrets {
		creating.Go(func() error {
			padding := make([]byte, size/2)
			_, _ = rand.Read(padding)
			name := fmt.Sprintf("web-%d", n)
			secret := releaseSecret(name, 1, decoder.StatusDeployed)
			secret.Data["release"] = recordOf(name, 1, decoder.StatusDeployed, base64.StdEncoding.EncodeToString(padding))
			_, err := core.Secrets(namespace).Create(b.Context(), secret, metav1.CreateOptions{})
			return err
		})
	}
	if err := creating.Wait(); err != nil {
		b.Fatal(err)
	}
}

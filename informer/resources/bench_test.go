package resources_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/informer/resources"
)

const (
	bigDeployments   = 250
	podsOfDeployment = 8
	bigPods          = bigDeployments * podsOfDeployment
)

// BenchmarkFollowABigRelease follows 500 objects with 2,000 pods on a real API
// server. It reports the time to the first rows, to a change, to answer for the
// rows and to read all objects, the memory in use, and the same for a plain
// dynamic informer of the same pods.
func BenchmarkFollowABigRelease(b *testing.B) {
	namespace := clustertest.Namespace(b)
	record := makeBigRelease(b, namespace)
	core := clustertest.Core(b)
	tracker := tracker(b, clustertest.Config(b))
	for n := 0; b.Loop(); n++ {
		before := heap()
		rows := make(chan []health.Resource, 1000)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- tracker.Follow(ctx, record, nil, func(r []health.Resource) { rows <- r }) }()
		first := <-rows
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/first")
		b.ReportMetric(float64(len(first)), "rows")
		b.ReportMetric(float64(heap()-before)/(1<<20), "MB/held")

		began = time.Now()
		reason := fmt.Sprintf("Evicted%d", n)
		if _, err := core.Pods(namespace).Patch(b.Context(), "app-0-0", "application/merge-patch+json",
			fmt.Appendf(nil, `{"status":{"phase":"Failed","reason":%q}}`, reason), metav1.PatchOptions{}, "status"); err != nil {
			b.Fatal(err)
		}
		for now := range rows {
			if slices.ContainsFunc(now, func(r health.Resource) bool { return r.Status == reason }) {
				break
			}
		}
		b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/change")
		for metric, ask := range map[string]func(context.Context, *decoder.Record, helmtrail.Viewer) ([]health.Resource, error){"ms/now": tracker.Now, "ms/snapshot": tracker.Snapshot} {
			began = time.Now()
			if _, err := ask(b.Context(), record, nil); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(began).Milliseconds()), metric)
		}
		stop()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(first)
	}
	measurePlainInformer(b, namespace)
}

// measurePlainInformer measures the usual way, without the tracker.
func measurePlainInformer(b *testing.B, namespace string) {
	client, err := dynamic.NewForConfig(clustertest.Config(b))
	if err != nil {
		b.Fatal(err)
	}
	before, began := heap(), time.Now()
	ctx, stop := context.WithCancel(context.Background())
	informer := dynamicinformer.NewFilteredDynamicInformer(client, pods, namespace, 0, cache.Indexers{}, nil).Informer()
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms/plain")
	b.ReportMetric(float64(heap()-before)/(1<<20), "MB/plain")
	stop()
	<-ended
	runtime.KeepAlive(informer)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// makeBigRelease creates Deployments without replicas and creates their pods
// itself, so that only the node works on them.
func makeBigRelease(b *testing.B, namespace string) *decoder.Record {
	b.Helper()
	clients, err := resources.ClientsFor(clustertest.Config(b))
	if err != nil {
		b.Fatal(err)
	}
	record := &decoder.Record{SecretNamespace: namespace}
	var making errgroup.Group
	making.SetLimit(32)
	none := int32(0)
	for i := range bigDeployments {
		name := fmt.Sprintf("app-%d", i)
		record.Manifest += fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: %[1]s}\n", name)
		labels := map[string]string{"app": name}
		template := corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{
				Name: "web", Image: "web:1", Env: []corev1.EnvVar{{Name: "DATABASE", Value: "postgres://db/" + name}, {Name: "LOG_LEVEL", Value: "info"}},
			}}},
		}
		making.Go(func() error {
			if _, err := clients.Core.ConfigMaps(namespace).Create(b.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				return err
			}
			d, err := clients.Apps.Deployments(namespace).Create(b.Context(), &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       appsv1.DeploymentSpec{Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
			}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			for n := range podsOfDeployment {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("%s-%d", name, n), Labels: labels,
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
				}, Spec: template.Spec}
				if _, err := clients.Core.Pods(namespace).Create(b.Context(), pod, metav1.CreateOptions{}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := making.Wait(); err != nil {
		b.Fatal(err)
	}
	for ready := 0; ready < bigPods; time.Sleep(time.Second) {
		list, err := clients.Core.Pods(namespace).List(b.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			b.Fatal(err)
		}
		ready = len(list.Items)
	}
	return record
}

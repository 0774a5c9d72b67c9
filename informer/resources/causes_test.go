package resources_test

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// chartOf writes a chart with one template and returns its folder.
func chartOf(t testing.TB, template string) string {
	t.Helper()
	return clustertest.ChartOf(t, t.TempDir(), "chart", template)
}

// pendingRecord returns a function that waits for the record that Helm writes
// before it does anything else.
func pendingRecord(t *testing.T, namespace, name string) (wait func() *decoder.Record) {
	t.Helper()
	clusters, err := informer.Open(informer.Options{Kubeconfig: clustertest.Kubeconfig(t)})
	if err != nil {
		t.Fatal(err)
	}
	c := clusters[0]
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	revisions := make(chan int, 10)
	unobserve := c.Observe(namespace, name, func(transition decoder.Transition) {
		select {
		case revisions <- transition.Revision.Number:
		default:
		}
	})
	t.Cleanup(unobserve)
	return func() *decoder.Record {
		t.Helper()
		select {
		case revision := <-revisions:
			record, err := c.Record(t.Context(), namespace, name, revision)
			if err != nil {
				t.Fatal(err)
			}
			return record
		case <-time.After(patience):
			t.Fatal("helm wrote no record")
			return nil
		}
	}
}

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// matches reports whether a cause equals the fault's, except for its count.
func matches(want clustertest.FaultCause, c health.Cause) bool {
	return want.Matches(c.Object.Kind, c.Object.Name, c.Container, c.Reason, c.Text, c.Final)
}

// TestTheFirstCauseIsReportedSoon installs charts that cannot become ready. Helm
// waits until the cause is complete. The test logs how long each cause took; its
// own limit only tells a watch from a periodic list. The two Helms alternate: the
// cluster's state does not depend on which of them waits.
func TestTheFirstCauseIsReportedSoon(t *testing.T) {
	for i, f := range clustertest.Faults {
		version := clustertest.Versions[i%len(clustertest.Versions)]
		t.Run(fmt.Sprintf("%s, helm %d", f.Name, version), func(t *testing.T) {
			t.Parallel()
			testFailure(t, version, f)
		})
	}
}

func testFailure(t *testing.T, version int, f clustertest.Fault) {
	namespace := clustertest.Namespace(t)
	if f.Prepare != nil {
		f.Prepare(t, namespace)
	}
	tracker := tracker(t, clustertest.Config(t))
	record := pendingRecord(t, namespace, "bad")
	known := clustertest.Listen(t, f.Kind, namespace, regexp.MustCompile(f.Says))
	helm := exec.CommandContext(t.Context(), clustertest.Binary(t, fmt.Sprintf("helm%d", version)),
		"install", "bad", chartOf(t, f.Objects), "-n", namespace, "--wait", "--timeout", "5m")
	helm.Env = clustertest.HelmEnvironment(t)
	if err := helm.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- helm.Wait() }()
	followed := record()
	rows := follow(t, tracker, followed)

	var first time.Time
	for complete, deadline := false, time.After(patience); !complete; {
		select {
		case r := <-rows:
			causes := stream.Summarize(r).Causes
			if len(causes) == 0 || !matches(f.Cause, causes[0]) {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			complete = causes[0].Count == f.Cause.Count
		case <-deadline:
			t.Fatalf("the cause was not reported for %d objects", f.Cause.Count)
		}
	}
	// The state of the objects must not depend on a waiting helm.
	_ = helm.Process.Kill() // it may have ended already: a failed hook ends it
	if err := <-ended; err == nil {
		t.Error("helm succeeded")
	}
	delay := first.Sub(known.At(t))
	t.Logf("the cause was reported %v after Kubernetes knew it", delay)
	if delay > patience/2 {
		t.Errorf("the cause was reported %v after Kubernetes knew it", delay)
	}
	read, err := tracker.Snapshot(t.Context(), followed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if causes := stream.Summarize(read).Causes; len(causes) == 0 || !matches(f.Cause, causes[0]) || causes[0].Count != f.Cause.Count {
		t.Errorf("the first cause at the end is not %+v. The causes are\n%+v\nand the rows\n%s", f.Cause, causes, strings.Join(texts(read), "\n"))
	}
}

package resources_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// chartOf writes a chart with one template and returns its folder.
func chartOf(t testing.TB, template string) string {
	t.Helper()
	return clustertest.ChartOf(t, t.TempDir(), "chart", template)
}

// pendingRecord waits for the record that helm writes before it does anything
// else, and returns it.
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

// matches tells whether a cause is what a fault must give, but for the count.
func matches(want clustertest.FaultCause, c stream.Cause) bool {
	return want.Matches(c.Object.Kind, c.Object.Name, c.Container, c.Reason, c.Text, c.Final)
}

// TestFirstCauseIsToldWithinTwoSeconds installs what cannot become ready, with
// a helm that waits for it. The Helms take turns: what the cluster says does not
// depend on who waits.
func TestFirstCauseIsToldWithinTwoSeconds(t *testing.T) {
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
	helm := make(chan string, 1)
	chart := chartOf(t, f.Objects)
	go func() {
		output, err := clustertest.TryHelm(t, version, "install", "bad", chart, "-n", namespace, "--wait", "--timeout", "8s")
		if err == nil {
			output = ""
		}
		helm <- output
	}()
	followed := record()
	rows := follow(t, tracker, followed)

	var now, told stream.Summary
	delay, output, deadline := time.Duration(-1), "", time.After(patience)
	for output == "" || delay < 0 {
		select {
		case r := <-rows:
			now = stream.Summarize(r)
			if delay < 0 && len(now.Causes) > 0 && matches(f.Cause, now.Causes[0]) {
				since, ok := known.Since(time.Now())
				if !ok {
					since = 0 // told before the bare watch was
				}
				delay, told = since, now
			}
		case output = <-helm:
			if output == "" {
				t.Fatal("helm succeeded")
			}
		case <-deadline:
			t.Fatalf("the cause did not come, only %+v", now.Causes)
		}
	}
	t.Logf("told after %v: %s", delay.Round(time.Millisecond), told.Causes[0].Text)
	if _, ok := known.Since(time.Now()); !ok {
		t.Errorf("Kubernetes never said %s", f.Says)
	}
	if delay > 2*time.Second {
		t.Errorf("the cause was told %v after Kubernetes knew it", delay)
	}
	read, err := tracker.Snapshot(t.Context(), followed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if causes := stream.Summarize(read).Causes; len(causes) == 0 || !matches(f.Cause, causes[0]) || causes[0].Count != f.Cause.Count {
		t.Errorf("the first cause at the end is not %+v but of\n%+v\nof the rows\n%s", f.Cause, causes, strings.Join(texts(read), "\n"))
	}
}

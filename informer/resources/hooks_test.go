package resources_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// hookedChart has a hook Job. Helm waits for its end before it creates anything
// else, and deletes the Job if it succeeded.
const hookedChart = `
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec:
  backoffLimit: 6
  template: {metadata: {annotations: {devcluster.helmtrail.dev/duration: "{{ .Values.duration }}"}}, spec: {restartPolicy: OnFailure, containers: [{name: sql, image: "sql:{{ .Values.tag }}"}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: made}
`

func eachHelm(t *testing.T, f func(*testing.T, int)) {
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", version), func(t *testing.T) {
			t.Parallel()
			f(t, version)
		})
	}
}

// Helm reports a failed hook only as "BackoffLimitExceeded", and a hanging hook
// not at all (https://github.com/helm/helm/issues/4010).
func TestAHangingHookHasACauseWhileHelmIsSilent(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		namespace := clustertest.Namespace(t)
		record := pendingRecord(t, namespace, "hooked")
		chart := chartOf(t, hookedChart)
		ended := make(chan string, 1)
		go func() {
			output, err := clustertest.TryHelm(t, version, "install", "hooked", chart, "-n", namespace, "--set", "tag=crash,duration=1s", "--timeout", "8s")
			if err == nil {
				output = "helm succeeded"
			}
			ended <- output
		}()
		rows := follow(t, tracker(t, clustertest.Config(t)), record())
		now := untilRows(t, rows, func(rows []health.Resource) bool { return len(stream.Summarize(rows).Causes) > 0 })
		select {
		case output := <-ended:
			t.Errorf("helm %d ended before the cause was reported: %s", version, output)
		default:
		}
		want := []string{
			"ConfigMap made NotFound NotFound", "Job migrate Progressing 0/1 (pre-install, pre-upgrade)", "Pod migrate-* CrashLoopBackOff CrashLoopBackOff",
		}
		if diff := cmp.Diff(want, texts(now)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if now[1].Current {
			t.Error("helm waits for the Job, but its row says that it does not")
		}
		cause := stream.Summarize(now).Causes[0]
		if cause.Object.Kind != "Pod" || cause.Container != "sql" || !strings.HasSuffix(cause.Text, "keeps crashing: it ended with exit code 1 (Error)") {
			t.Errorf("the cause is %+v", cause)
		}
		if output := <-ended; output == "helm succeeded" {
			t.Error(output)
		}
	})
}

// From the same report: a hook that succeeded and was deleted is done, not
// missing.
func TestDeletedHookIsDone(t *testing.T) {
	eachHelm(t, func(t *testing.T, version int) {
		namespace := clustertest.Namespace(t)
		record := pendingRecord(t, namespace, "hooked")
		chart := chartOf(t, hookedChart)
		ended := make(chan error, 1)
		go func() {
			_, err := clustertest.TryHelm(t, version, "install", "hooked", chart, "-n", namespace, "--set", "tag=1,duration=5s", "--timeout", "60s")
			ended <- err
		}()
		tracker := tracker(t, clustertest.Config(t))
		rows := follow(t, tracker, record())
		untilRows(t, rows, has("Job migrate Progressing 0/1 (pre-install, pre-upgrade)"))
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		untilRows(t, rows, func(rows []health.Resource) bool {
			lines := slices.DeleteFunc(texts(rows), func(line string) bool { return strings.HasPrefix(line, "Pod") })
			return slices.Equal(lines, []string{"ConfigMap made Ready", "Job migrate Completed 1/1 (pre-install, pre-upgrade)"})
		})

		read, err := tracker.Snapshot(t.Context(), readRecord(t, namespace, "hooked"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"ConfigMap made Ready", "Job migrate Completed (pre-install, pre-upgrade)"}, texts(read)); diff != "" {
			t.Errorf("helm %d: rows read afterwards (-want +got):\n%s", version, diff)
		}
	})
}

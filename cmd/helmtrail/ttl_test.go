package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// https://github.com/helm/helm/issues/11347: a Job that its TTL removes after its
// success was counted as missing and as drift.
func TestAJobThatItsTTLRemovedIsReadyAndNoDrift(t *testing.T) {
	t.Parallel()
	h, namespace := shared.on(t, clustertest.Binary(t, "helm4")), clustertest.Namespace(t)
	clustertest.ChartOf(t, shared.charts(), "once", `{apiVersion: batch/v1, kind: Job, metadata: {name: once}, spec: {ttlSecondsAfterFinished: 2, template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}`)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "once", "chart": object{"ref": "once"}, "options": object{"wait": true, "waitForJobs": true, "timeoutSeconds": 60}})
	if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the session ended %s, %+v", kind, last)
	}
	var list struct {
		Resources []health.Resource `json:"resources"`
		Summary   health.Summary    `json:"summary"`
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		h.get(t, h.release(namespace, "once")+"/resources", &list)
		if len(list.Resources) > 0 && (list.Resources[0].Reason == health.ReasonRemovedByTTL || time.Now().After(deadline)) {
			break
		}
	}
	if row := list.Resources[0]; row.Reason != health.ReasonRemovedByTTL || row.State != health.StateReady || list.Summary.Ready != 1 || list.Summary.Total != 1 {
		t.Errorf("row %+v, summary %+v", row, list.Summary)
	}
	var report drift.Report
	h.get(t, h.release(namespace, "once")+"/drift", &report)
	if report.Drifted || report.Counts[drift.Same] != 1 || report.Objects[0].Note == nil || report.Objects[0].Note.Code != drift.NoteRemovedByTTL {
		t.Errorf("drift %+v", report)
	}
}

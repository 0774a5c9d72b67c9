package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream"
)

// The causes of a failed operation are those standing when helm gave up: here
// helm has uninstalled all objects by the time the session ends.
func TestCausesOutliveTheObjects(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		h, namespace := serveOn(t, arguments{helm: helm}), clustertest.Namespace(t)
		answer := h.submit(t, http.MethodPost, h.releases(namespace), object{
			"name": "web", "chart": object{"ref": "web"}, "values": object{"tag": "doesnotexist", "replicas": 3},
			"options": object{"wait": true, "rollbackOnFailure": true, "timeoutSeconds": 10},
		})
		events := h.events(t.Context(), t, answer.Events, 1)
		live := false
		for _, e := range events {
			if body, ok := e.Body.(*stream.ResourceStatus); ok && len(body.Summary.Causes) > 0 {
				live = live || isMissingImage(body.Summary.Causes[0])
			}
		}
		if !live {
			t.Error("the cause was not told while helm waited")
		}
		kind, last := end(t, events)
		if kind != stream.TypeFailed || last.Release != nil {
			t.Errorf("the session ended %s with release %+v, want FAILED and no release", kind, last.Release)
		}
		if len(last.Causes) != 1 || !isMissingImage(last.Causes[0]) || last.Causes[0].Count != 3 {
			t.Errorf("causes at the end: %+v", last.Causes)
		}
	})
}

func isMissingImage(c stream.Cause) bool {
	return c.Object.Kind == "Pod" && c.Container == "web" && c.Reason == "ImagePullBackOff" && c.Final &&
		strings.HasPrefix(c.Text, "Container web of Pod web-") && strings.Contains(c.Text, "cannot pull its image web:doesnotexist: ")
}

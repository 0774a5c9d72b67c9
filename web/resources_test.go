package web_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

// objects is the state of a release's objects on an API server.
type objects struct {
	asked int // the last revision that was requested
	rows  []health.Resource
	err   error
}

func (o *objects) Record(_ context.Context, _, _ string, revision int) (*decoder.Record, error) {
	o.asked = revision
	return &decoder.Record{Config: []byte(`{"dbPassword":"correct-horse-battery"}`)}, o.err
}

func (o *objects) Now(context.Context, *decoder.Record, helmtrail.Viewer) ([]health.Resource, error) {
	return o.rows, nil
}

func (o *objects) ContainerLog(_ context.Context, source health.LogSource, _ helmtrail.Viewer) (string, error) {
	if source.Pod != "web-1" {
		return "", helmtrail.ErrNotFound
	}
	return "one\ntwo\nthree\nfour\nconnect postgres://web:correct-horse-battery@db\nno such host\n", nil
}

type resourceList struct {
	Revision  int
	Resources []health.Resource
	Summary   health.Summary
}

func TestResourcesAreThoseOfTheNewestRevision(t *testing.T) {
	o := &objects{rows: []health.Resource{
		{Kind: "Deployment", APIVersion: "apps/v1", Namespace: "shop", Name: "web", Status: "Progressing", Total: 1},
		{
			Kind: "Pod", APIVersion: "v1", Namespace: "shop", Name: "web-1", Status: "ImagePullBackOff", Owner: "apps/Deployment/shop/web",
			Cause: health.Cause{
				Sentence: health.Sentence{
					Problem: health.ProblemImageNotPulled, Object: health.ObjectRef{Kind: "Pod", Namespace: "shop", Name: "web-1"}, Container: "web",
					Reason: "ImagePullBackOff", Detail: "denied to correct-horse-battery",
				},
				Text: "it cannot pull with correct-horse-battery", Final: true, Rank: health.RankContainer,
				Source: health.LogSource{Namespace: "shop", Pod: "web-1", Container: "web"},
			},
		},
		{Kind: "Service", APIVersion: "v1", Namespace: "shop", Name: "web", Status: "NotFound"},
	}}
	f := newFixture(t, func(options *web.Options, _ *stream.Setup) { options.Clusters[0].Objects = o })
	f.releases.put(revision("shop", "web", 9, decoder.StatusSuperseded), revision("shop", "web", 10, decoder.StatusDeployed))

	var list resourceList
	f.do(http.MethodGet, shopURL+"/web/resources", "").decode(http.StatusOK, &list)
	if o.asked != 10 || list.Revision != 10 {
		t.Errorf("revision %d was read and %d was returned, want 10", o.asked, list.Revision)
	}
	want := health.Summary{Total: 2, Causes: []health.Cause{{
		Sentence: health.Sentence{
			Problem: health.ProblemImageNotPulled, Object: health.ObjectRef{Kind: "Pod", Namespace: "shop", Name: "web-1"}, Container: "web",
			Reason: "ImagePullBackOff", Detail: list.Summary.Causes[0].Detail,
		},
		Text: list.Summary.Causes[0].Text, Final: true, Log: list.Summary.Causes[0].Log,
	}}}
	if detail := want.Causes[0].Detail; !strings.HasPrefix(detail, "denied to «masked:") || strings.Contains(detail, "horse") {
		t.Errorf("the cause's detail is %q", detail)
	}
	if text := want.Causes[0].Text; !strings.HasPrefix(text, "it cannot pull with «masked:") || strings.Contains(text, "horse") {
		t.Errorf("the cause's text is %q", text)
	}
	if log := want.Causes[0].Log; !strings.HasPrefix(log, "two\nthree\nfour\nconnect postgres://web:«masked:") || !strings.HasSuffix(log, "»@db\nno such host") {
		t.Errorf("the container's log is %q, want its last five lines, masked", log)
	}
	if diff := cmp.Diff(want, list.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if len(list.Resources) != 3 || list.Resources[2].Status != "NotFound" {
		t.Errorf("rows %+v", list.Resources)
	}
}

func TestMissingResourcesHaveAReason(t *testing.T) {
	o := &objects{}
	f := newFixture(t, func(options *web.Options, _ *stream.Setup) { options.Clusters[0].Objects = o })
	f.do(http.MethodGet, shopURL+"/web/resources", "").wantError(http.StatusNotFound, "not_found")

	f.releases.put(revision("shop", "web", 1, decoder.StatusDeployed))
	var list resourceList
	f.do(http.MethodGet, shopURL+"/web/resources", "").decode(http.StatusOK, &list)
	if list.Resources == nil || list.Summary.Causes == nil {
		t.Errorf("an empty release has no lists: %+v", list)
	}

	o.err = errors.New("connection refused")
	f.do(http.MethodGet, shopURL+"/web/resources", "").wantError(http.StatusInternalServerError, "internal")
	f.state = func() web.ClusterState { return web.ClusterState{Synced: true, Problem: "It is down."} }
	f.do(http.MethodGet, shopURL+"/web/resources", "").wantError(http.StatusServiceUnavailable, "unreachable_cluster")
	o.err = helmtrail.ErrNotFound
	f.state = func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} }
	f.do(http.MethodGet, shopURL+"/web/resources", "").wantError(http.StatusNotFound, "not_found")

	broken := revision("shop", "old", 1, decoder.StatusDeployed)
	broken.Problem = "not gzip"
	f.releases.put(broken)
	f.do(http.MethodGet, shopURL+"/old/resources", "").wantError(http.StatusServiceUnavailable, "unavailable")
}

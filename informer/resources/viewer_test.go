package resources_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/informer/access"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// A viewer who lacks a permission sees which one, and sees all other rows
// (https://github.com/lensapp/lens/pull/6088).
func TestAViewerSeesWhatTheirPermissionsAllow(t *testing.T) {
	app, db := clustertest.Namespace(t), clustertest.Namespace(t)
	record := &decoder.Record{SecretNamespace: app, Manifest: deploymentIn("", "web", "web:1") + "---" + deploymentIn(db, "db", "db:doesnotexist") + "---" + deploymentIn("kube-system", "none", "none:1")}
	apply(t, deployments, app, deploymentIn(app, "web", "web:1"))
	apply(t, deployments, db, deploymentIn(db, "db", "db:doesnotexist"))
	grant(t, app, app, `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`)
	grant(t, app, db, `{apiGroups: [apps], resources: ["*"], verbs: ["*"]}, {apiGroups: [""], resources: [events], verbs: ["*"]}`)
	viewer := viewerNamed(t, app)

	rows := untilRows(t, followAs(t, tracker(t, clustertest.Config(t)), record, viewer), func(rows []health.Resource) bool {
		return has("Deployment web Ready 1/1")(rows) && has("Deployment db Progressing 0/1 LessAvailable")(rows)
	})
	read, err := tracker(t, clustertest.Config(t)).Snapshot(t.Context(), record, viewer)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range [][]health.Resource{rows, read} {
		want := []string{
			"Deployment web Ready 1/1", "ReplicaSet web-* Ready 1/1", "Pod web-* Running",
			"Deployment db Progressing 0/1 LessAvailable", "ReplicaSet db-* Progressing 0/1 LessAvailable",
			"Deployment none Forbidden Forbidden",
		}
		if diff := cmp.Diff(want, texts(now)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if message := now[3].Message; !strings.Contains(message, app+" may not list pods in namespace "+db) {
			t.Errorf("the Deployment says %q", message)
		}
		if message := now[5].Message; message != app+" may not get deployments.apps in namespace kube-system" {
			t.Errorf("the forbidden Deployment says %q", message)
		}
	}
}

func TestANewPermissionShowsWithoutAChangeOfTheObjects(t *testing.T) {
	ns := clustertest.Namespace(t)
	record := &decoder.Record{SecretNamespace: ns, Manifest: deploymentIn("", "web", "web:1")}
	apply(t, deployments, ns, deploymentIn(ns, "web", "web:1"))
	reported := followAs(t, tracker(t, clustertest.Config(t)), record, viewerNamed(t, ns))
	untilRows(t, reported, has("Deployment web Forbidden Forbidden"))
	grant(t, ns, ns, `{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}`)
	untilRows(t, reported, has("Pod web-* Running"))
}

// viewerNamed is a user whose permissions the cluster reviews.
func viewerNamed(t *testing.T, user string) helmtrail.Viewer {
	t.Helper()
	config := clustertest.Config(t)
	tokens, err := authenticationv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	rights, err := authorizationv1client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	reviewer := access.New(tokens, rights)
	return func(ctx context.Context, right helmtrail.Right) error {
		return reviewer.May(ctx, helmtrail.User{Name: user}, right)
	}
}

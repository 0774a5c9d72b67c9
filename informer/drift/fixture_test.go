package drift_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	driftcheck "github.com/helmtrail/helmtrail/informer/drift"
	"github.com/helmtrail/helmtrail/informer/resources"
)

var (
	deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	statefulsets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	services     = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	configmaps   = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets      = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	jobs         = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	definitions  = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// release is an installed release with its record and its comparer.
type release struct {
	t         *testing.T
	namespace string
	record    *decoder.Record
	client    dynamic.Interface
	comparer  *driftcheck.Comparer
}

// eachHelm runs the test with releases of both Helms.
func eachHelm(t *testing.T, f func(t *testing.T, version int)) {
	t.Parallel()
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprintf("helm %d", version), func(t *testing.T) {
			t.Parallel()
			f(t, version)
		})
	}
}

// traps copies the chart of that name and gives it a custom kind of its own. The
// kind is removed when the test ends.
func traps(t *testing.T) (folder, group string) {
	t.Helper()
	folder, group = t.TempDir(), "drift-"+rand.String(8)+".example.com"
	source := filepath.Join("testdata", "traps")
	err := filepath.WalkDir(source, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(folder, relative), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, relative), []byte(strings.ReplaceAll(string(data), "GROUP", group)), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	client := dynamicClient(t, clustertest.Config(t))
	t.Cleanup(func() {
		if err := client.Resource(definitions).Delete(context.Background(), "widgets."+group, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return folder, group
}

// trapsWithoutKind is the chart without its custom kind. The API server takes
// seconds to serve a new kind.
func trapsWithoutKind(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "traps"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"crds", filepath.Join("templates", "widget.yaml")} {
		if err := os.RemoveAll(filepath.Join(folder, path)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func dynamicClient(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// comparerAs returns a Comparer with that configuration's credentials.
func comparerAs(t *testing.T, config *rest.Config) *driftcheck.Comparer {
	t.Helper()
	config.WarningHandlerWithContext = driftcheck.Warnings{}
	names, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tracker := resources.NewTracker(resources.Clients{Discovery: kinds})
	t.Cleanup(tracker.Close)
	return &driftcheck.Comparer{Dynamic: dynamicClient(t, config), Metadata: names, Find: tracker.Find, EndOf: tracker.EndOf, Get: func(ctx context.Context, path string) ([]byte, error) {
		return kinds.RESTClient().Get().AbsPath(path).DoRaw(ctx)
	}}
}

// install installs a chart as release "web".
func install(t *testing.T, version int, chart string, args ...string) *release {
	t.Helper()
	r := &release{t: t, namespace: clustertest.Namespace(t)}
	config := clustertest.Config(t)
	r.client, r.comparer = dynamicClient(t, config), comparerAs(t, config)
	clustertest.Helm(t, version, append([]string{"install", "web", chart, "-n", r.namespace}, args...)...)
	r.read(1)
	return r
}

// read makes a revision the record that is compared.
func (r *release) read(revision int) {
	r.t.Helper()
	secret, err := clustertest.Core(r.t).Secrets(r.namespace).Get(r.t.Context(), fmt.Sprintf("sh.helm.release.v1.web.v%d", revision), metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	if r.record, err = decoder.DecodeRecord(secret.Data["release"], decoder.Limits{}); err != nil {
		r.t.Fatal(err)
	}
}

// patch changes an object under a manager's name.
func (r *release) patch(resource schema.GroupVersionResource, name, manager, patch string, subresources ...string) {
	r.t.Helper()
	kind := types.StrategicMergePatchType
	if strings.HasPrefix(patch, "[") {
		kind = types.JSONPatchType
	} else if strings.Contains(resource.Group, "example.com") {
		kind = types.MergePatchType
	}
	_, err := r.client.Resource(resource).Namespace(r.namespace).Patch(r.t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresources...)
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *release) remove(resource schema.GroupVersionResource, name string) {
	r.t.Helper()
	if err := r.client.Resource(resource).Namespace(r.namespace).Delete(r.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *release) ref() helmtrail.ReleaseRef {
	return helmtrail.ReleaseRef{Cluster: "dev", Namespace: r.namespace, Name: "web"}
}

// drift compares the record with the cluster.
func (r *release) drift(comparer *driftcheck.Comparer) *drift.Report {
	r.t.Helper()
	found, err := comparer.Drift(r.t.Context(), drift.Query{Release: r.ref(), Record: r.record})
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// lines formats a drift report, one line for each difference.
func lines(found *drift.Report) []string {
	all := []string{}
	for _, o := range found.Objects {
		if o.State != drift.Same && o.State != drift.Changed {
			all = append(all, fmt.Sprintf("%s %s: %s %s", o.Kind, o.Name, o.State, o.Message))
		}
		for _, c := range o.Changes {
			all = append(all, fmt.Sprintf("%s %s: %s %s -> %s by %s", o.Kind, o.Name, c.Path, c.Recorded, c.Live, c.Manager))
		}
		for _, c := range o.Added {
			all = append(all, fmt.Sprintf("%s %s: %s added %s by %s", o.Kind, o.Name, c.Path, c.Live, c.Manager))
		}
	}
	return all
}

// as returns the configuration of a user who has only these verbs, on all objects
// of the namespace.
func (r *release) as(verbs ...string) *rest.Config {
	r.t.Helper()
	user := "user-" + rand.String(6)
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	all := []any{"*"}
	allowed := []any{}
	for _, verb := range verbs {
		allowed = append(allowed, verb)
	}
	for resource, object := range map[string]map[string]any{
		"roles": {"kind": "Role", "rules": []any{map[string]any{"apiGroups": all, "resources": all, "verbs": allowed}}},
		"rolebindings": {
			"kind": "RoleBinding", "roleRef": map[string]any{"apiGroup": rbac.Group, "kind": "Role", "name": user},
			"subjects": []any{map[string]any{"apiGroup": rbac.Group, "kind": "User", "name": user}},
		},
	} {
		object["apiVersion"], object["metadata"] = rbac.String(), map[string]any{"name": user}
		if _, err := r.client.Resource(rbac.WithResource(resource)).Namespace(r.namespace).Create(r.t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{}); err != nil {
			r.t.Fatal(err)
		}
	}
	config := clustertest.Config(r.t)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	// The API server applies new permissions a moment later.
	reviews, err := authorizationv1client.NewForConfig(config)
	if err != nil {
		r.t.Fatal(err)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: r.namespace, Verb: verbs[0], Resource: "configmaps"},
	}}
	err = wait.PollUntilContextTimeout(r.t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		answer, err := reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
	if err != nil {
		r.t.Fatalf("waiting for the permissions of %s: %v", user, err)
	}
	return config
}

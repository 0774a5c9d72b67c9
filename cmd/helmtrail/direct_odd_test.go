package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// kubeconfigOf returns a kubeconfig for a server without checking its certificate.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := "apiVersion: v1\nkind: Config\ncurrent-context: away\ncontexts: [{name: away, context: {cluster: away, user: away, namespace: shop}}]\n" +
		"clusters: [{name: away, cluster: {server: '" + server + "', insecure-skip-tls-verify: true}}]\nusers: [{name: away, user: {}}]\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandsReportWhatTheyCannotReach(t *testing.T) {
	t.Parallel()
	// This server accepts every connection and never answers.
	silent := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	away, mute := kubeconfigOf(t, "https://127.0.0.1:1"), kubeconfigOf(t, silent.URL)
	for name, want := range map[string]int{"history": 1, "get": 1, "diff": 3, "drift": 3} {
		_, stderr, code := command(t, name, "web", "--kubeconfig", away)
		if code != want || !strings.Contains(stderr, "shop/web") {
			t.Errorf("%s of a missing cluster ends with %d: %s", name, code, stderr)
		}
		_, stderr, code = command(t, name, "web", "--kubeconfig", mute, "--request-timeout", "200ms")
		if code != want || !strings.Contains(stderr, "shop/web") || !strings.Contains(stderr, "did not respond within 200ms (--request-timeout)") {
			t.Errorf("%s of a cluster that does not answer ends with %d: %s", name, code, stderr)
		}
		if _, stderr, code := command(t, name, "web", "--kubeconfig", away, "--context", "nowhere"); code != want || !strings.Contains(stderr, "nowhere") {
			t.Errorf("%s in a missing context ends with %d: %s", name, code, stderr)
		}
		if _, stderr, code := command(t, name); code != 2 || !strings.Contains(stderr, fmt.Sprintf("Run 'helmtrail %s --help'", name)) {
			t.Errorf("%s without a release ends with %d: %s", name, code, stderr)
		}
	}
}

// Records that Helm does not find, or that mislead it, are distinguished from
// missing ones: https://github.com/helm/helm/issues/8247,
// https://github.com/helm/helm/issues/5595.
func TestCommandsReportOddRecordsAndAreNotMisled(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	put := func(revision int, labels map[string]string, record string) {
		t.Helper()
		all := map[string]string{"owner": "helm"}
		for key, value := range labels {
			all[key] = value
		}
		_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("sh.helm.release.v1.web.v%d", revision), Labels: all},
			Type:       decoder.SecretType, Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString([]byte(record)))},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(1, map[string]string{"name": "web", "version": "1", "status": "superseded"}, `{"name":"web","namespace":"prod","version":1,"info":{"status":"superseded"}}`)
	put(2, nil, `{"name":"web","namespace":"`+namespace+`","version":2,"info":{"status":"deployed"}}`)
	put(3, map[string]string{"name": "web", "version": "3", "status": "deployed"}, `{"name":"web","namespace":"`+namespace+`","version":3,"info":{"status":"failed"}}`)
	put(4, map[string]string{"name": "web", "version": "4", "status": "deployed"}, "no record")
	run := func(args ...string) (stdout, stderr string, code int) {
		t.Helper()
		return command(t, append(args, "-n", namespace, "--kubeconfig", clustertest.Kubeconfig(t))...)
	}

	stdout, stderr, code := run("history", "web", "-o", "json")
	var lines []revisionLine
	if err := json.Unmarshal([]byte(stdout), &lines); err != nil || code != 0 {
		t.Fatalf("history ends with %d: %s%s, %v", code, stdout, stderr, err)
	}
	var rows []string
	for _, l := range lines {
		row := fmt.Sprintf("%d %s", l.Revision, l.Status)
		if l.Problem != "" {
			row += " unreadable"
		}
		for _, odd := range l.Anomalies {
			row += " " + string(odd.Code)
		}
		rows = append(rows, row)
	}
	if diff := cmp.Diff([]string{"4 deployed unreadable", "3 failed label_status", "2 deployed", "1 superseded namespace"}, rows); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	stdout, _, _ = run("history", "web")
	for _, want := range []string{
		"\nRevision 3: The Secret's label says deployed, the record failed. Helm goes by the record.\n",
		"\nRevision 1: The record says that its namespace is \"prod\".\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("history does not print %q:\n%s", want, stdout)
		}
	}
	if stdout, stderr, code := run("drift", "web"); code != 0 || stdout != "Revision 2: nothing to compare\n" {
		t.Errorf("drift ends with %d: %s%s", code, stdout, stderr)
	}
	if _, stderr, code := run("get", "web"); code != 1 || !strings.Contains(stderr, "revision 4") || !strings.Contains(stderr, "not a helm record") {
		t.Errorf("get of an unreadable record ends with %d: %s", code, stderr)
	}
	if stdout, stderr, code := run("get", "web", "--revision", "2", "-o", "json"); code != 0 || !strings.Contains(stdout, `"status":"deployed"`) {
		t.Errorf("get of a record without labels ends with %d: %s%s", code, stdout, stderr)
	}
}

// A table omits equal objects, but not the limits of the answer.
func TestATableOfDriftShowsTheLimitsOfTheAnswer(t *testing.T) {
	var out bytes.Buffer
	err := printDrift(&out, asTable, &drift.Report{
		Revision: 2, Counts: map[drift.State]int{drift.Same: 2}, Unlisted: []string{"ConfigMap", "Deployment.apps"},
		Objects: []drift.Object{
			{State: drift.Same, Kind: "Service", Namespace: "shop", Name: "web"},
			{State: drift.Same, Kind: "Deployment", Namespace: "shop", Name: "web", Message: "it is being deleted"},
		},
	})
	want := `STATE  KIND        NAMESPACE  NAME  FIELD  RECORDED  LIVE  BY
same   Deployment  shop       web   it is being deleted
Revision 2: 2 same
Could not search these kinds for further objects of the release: ConfigMap, Deployment.apps.
`
	if diff := cmp.Diff(want, out.String()); err != nil || diff != "" {
		t.Errorf("table (-want +got):\n%s%v", diff, err)
	}
}

// Records of Helm's other driver are decoded from files, and are not reported as
// missing.
func TestRecordsInConfigMapsAreDecodedAndReported(t *testing.T) {
	t.Setenv("HELM_DRIVER", "configmap")
	for _, version := range clustertest.Versions {
		namespace, kubeconfig := clustertest.Namespace(t), clustertest.Kubeconfig(t)
		helm := exec.CommandContext(t.Context(), clustertest.Binary(t, fmt.Sprint("helm", version)), "install", "web", clustertest.Chart(t), "-n", namespace)
		helm.Env = append(clustertest.HelmEnvironment(t), "HELM_DRIVER=configmap")
		if output, err := helm.CombinedOutput(); err != nil {
			t.Fatalf("helm %d: %v\n%s", version, err, output)
		}
		if _, stderr, code := command(t, "history", "web", "-n", namespace, "--kubeconfig", kubeconfig); code != 1 || !strings.Contains(stderr, "HELM_DRIVER=configmap") {
			t.Errorf("helm %d: history ends with %d: %s", version, code, stderr)
		}
		list, err := clustertest.Core(t).ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
		if err != nil || len(list.Items) != 1 {
			t.Fatalf("helm %d has left %d ConfigMaps, %v", version, len(list.Items), err)
		}
		list.Items[0].TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		content, err := yaml.Marshal(list.Items[0])
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "record.yaml")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if stdout, stderr, code := command(t, "decode", path); code != 0 || !strings.Contains(stdout, "deployed") || strings.Contains(stdout, "\nRevision") {
			t.Errorf("helm %d: decode ends with %d: %s%s", version, code, stdout, stderr)
		}
	}
}

package helmcli_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/helmcli"
)

func TestArguments(t *testing.T) {
	five := 5
	tests := []struct {
		name    string
		request helmtrail.Request
		helm3   string
		helm4   string
	}{
		{
			name: "install",
			request: helmtrail.Request{
				Operation: helmtrail.OperationInstall, Chart: helmtrail.Chart{Ref: "nginx", Repo: "https://charts.example.com", Version: "^1.2"}, Values: []byte("a: 1"),
				Options: helmtrail.Options{CreateNamespace: true, Wait: helmtrail.ChoiceTrue, RollbackOnFailure: true, TimeoutSeconds: 20, Labels: map[string]string{"team": "blue"}},
			},
			helm3: "helm install --debug --namespace=shop --create-namespace --wait --atomic --labels=helmtrail.dev/session=S,team=blue --timeout=20s --values=(private) --repo=https://charts.example.com --version=^1.2 -- web nginx",
			helm4: "helm install --debug --namespace=shop --create-namespace --wait=watcher --rollback-on-failure --labels=helmtrail.dev/session=S,team=blue --timeout=20s --values=(private) --repo=https://charts.example.com --version=^1.2 -- web nginx",
		},
		{
			name:    "upgrade",
			request: helmtrail.Request{Operation: helmtrail.OperationUpgrade, Chart: helmtrail.Chart{Ref: "oci://example.com/charts/nginx"}, Options: helmtrail.Options{HistoryMax: &five, ReuseValues: true, CleanupOnFail: true}},
			helm3:   "helm upgrade --debug --namespace=shop --cleanup-on-fail --history-max=5 --reuse-values --labels=helmtrail.dev/session=S --timeout=5m0s -- web oci://example.com/charts/nginx",
			helm4:   "helm upgrade --debug --namespace=shop --cleanup-on-fail --history-max=5 --reuse-values --labels=helmtrail.dev/session=S --timeout=5m0s -- web oci://example.com/charts/nginx",
		},
		{
			name:    "rollback",
			request: helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 3, Options: helmtrail.Options{Wait: helmtrail.ChoiceTrue, WaitForJobs: true}},
			helm3:   "helm rollback --debug --namespace=shop --wait --wait-for-jobs --timeout=5m0s -- web 3",
			helm4:   "helm rollback --debug --namespace=shop --wait=watcher --wait-for-jobs --timeout=5m0s -- web 3",
		},
		{
			name:    "uninstall",
			request: helmtrail.Request{Operation: helmtrail.OperationUninstall, Options: helmtrail.Options{KeepHistory: true, NoHooks: true}},
			helm3:   "helm uninstall --debug --namespace=shop --no-hooks --keep-history --timeout=5m0s -- web",
			helm4:   "helm uninstall --debug --namespace=shop --no-hooks --keep-history --timeout=5m0s -- web",
		},
	}
	for version, want := range map[string]func(i int) string{
		"v3.22.0": func(i int) string { return tests[i].helm3 },
		"v4.3.2":  func(i int) string { return tests[i].helm4 },
	} {
		h := standIn(t, version, "")
		for i, test := range tests {
			request := test.request
			request.Release = session.Release
			if err := h.Check(request); err != nil {
				t.Errorf("%s %s: %v", version, test.name, err)
			}
			if diff := cmp.Diff(want(i), strings.Join(h.Command("S", request), " ")); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", version, test.name, diff)
			}
		}
	}
}

// Helm would read an argument that starts with a dash as a flag:
// https://github.com/helmfile/helmfile/issues/2563. Such names are rejected before
// anything is run.
func TestNamesThatHelmWouldReadAsFlagsAreRejected(t *testing.T) {
	h := standIn(t, "v4.3.2", "")
	with := func(change func(*helmtrail.Request)) helmtrail.Request {
		r := install()
		change(&r)
		return r
	}
	name := func(s string) helmtrail.Request { return with(func(r *helmtrail.Request) { r.Release.Name = s }) }
	chart := func(s string) helmtrail.Request { return with(func(r *helmtrail.Request) { r.Chart.Ref = s }) }
	tests := []struct {
		field   string
		request helmtrail.Request
	}{
		{"name", name("-h")},
		{"name", name("--kubeconfig=/x")},
		{"name", name("-ndefault")},
		{"name", name("a/b")},
		{"name", name("..")},
		{"name", name("Upper")},
		{"name", name("a\nb")},
		{"name", name("")},
		{"name", name(strings.Repeat("a", 54))},
		{"namespace", with(func(r *helmtrail.Request) { r.Release.Namespace = "--all-namespaces" })},
		{"namespace", with(func(r *helmtrail.Request) { r.Release.Namespace = "a.b" })},
		{"chart.ref", chart("")},
		{"chart.ref", chart("--post-renderer=/bin/sh")},
		{"chart.ref", chart("../web")},
		{"chart.ref", chart("/etc")},
		{"chart.ref", chart("missing")},
		{"chart.ref", chart("file:///etc/passwd")},
		{"chart.ref", chart("https://user:password@example.com/x.tgz")},
		{"chart.ref", chart("upload:../../etc/passwd")},
		{"chart.ref", chart("upload:" + strings.Repeat("0", 64))},
		{"chart.ref", chart("https://example.com/x.tgz?token=secret")},
		{"chart.ref", chart("oci://example.com/x --post-renderer=/bin/sh")},
		{"chart.ref", with(func(r *helmtrail.Request) { r.Chart.Ref, r.Chart.Repo = "../x", "https://example.com" })},
		{"chart.repo", with(func(r *helmtrail.Request) { r.Chart.Repo = "unknown" })},
		{"chart.repo", with(func(r *helmtrail.Request) { r.Chart.Repo = "https://user:password@example.com" })},
		{"chart.credentialsSecret", with(func(r *helmtrail.Request) { r.Chart.CredentialsSecret = "a" })},
		{"chart.credentialsSecret", with(func(r *helmtrail.Request) { r.Chart.Ref, r.Chart.CredentialsSecret = "oci://example.com/x", "../a" })},
		{"chart.version", with(func(r *helmtrail.Request) { r.Chart.Version = "1.0.0\n--kubeconfig=/x" })},
		{"chart.version", with(func(r *helmtrail.Request) { r.Chart.Version = "-d" })},
		{"chart.repo", with(func(r *helmtrail.Request) { r.Chart.Repo = "--ca-file=/x" })},
		{"chart.repo", with(func(r *helmtrail.Request) { r.Chart.Repo = "file:///etc" })},
		{"values", with(func(r *helmtrail.Request) { r.Values = []byte("- a list") })},
		{"options.labels", with(func(r *helmtrail.Request) { r.Options.Labels = map[string]string{"a": "b,c=d"} })},
		{"options.labels", with(func(r *helmtrail.Request) { r.Options.Labels = map[string]string{"helmtrail.dev/session": "x"} })},
		{"options.description", with(func(r *helmtrail.Request) { r.Options.Description = "two\nlines" })},
		{"options.retries", with(func(r *helmtrail.Request) { r.Options.Retries = new(int); *r.Options.Retries = -1 })},
		{"options.timeoutSeconds", with(func(r *helmtrail.Request) { r.Options.TimeoutSeconds = -1 })},
		{"revision", helmtrail.Request{Operation: helmtrail.OperationRollback, Release: session.Release}},
	}
	for _, test := range tests {
		err := h.Check(test.request)
		invalid := (*helmtrail.InvalidError)(nil)
		if !errors.As(err, &invalid) || invalid.Field != test.field {
			t.Errorf("%+v: got %v, want %s to be rejected", test.request, err, test.field)
		}
	}
	if err := h.Check(install()); err != nil {
		t.Errorf("a good request was rejected: %v", err)
	}
}

func TestAnOptionOfAnotherOperationIsRejected(t *testing.T) {
	request := install()
	request.Options.KeepHistory = true
	err := standIn(t, "v4.3.2", "").Check(request)
	unsupported := (*helmtrail.UnsupportedError)(nil)
	if !errors.As(err, &unsupported) || unsupported.Option != "keepHistory" {
		t.Errorf("got %v, want keepHistory to be rejected", err)
	}
}

// Without a Helm binary, errors say what to install.
func TestWithoutHelmEveryRequestSaysWhatToInstall(t *testing.T) {
	h, err := helmcli.New(t.Context(), helmcli.Config{Binary: filepath.Join(t.TempDir(), "helm"), Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	err = h.Check(install())
	if !errors.Is(err, helmtrail.ErrNoHelm) || !strings.Contains(err.Error(), "--helm") {
		t.Errorf("got %v, want an error that names --helm", err)
	}
}

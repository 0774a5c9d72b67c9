package clustertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Versions are the major versions of Helm that helmtrail supports.
var Versions = []int{3, 4}

// Helm runs helm 3 or 4 and returns its combined output. It fails the test if helm
// fails.
func Helm(t testing.TB, version int, args ...string) string {
	t.Helper()
	output, err := TryHelm(t, version, args...)
	if err != nil {
		t.Fatalf("helm%d %s: %v\n%s", version, strings.Join(args, " "), err, output)
	}
	return output
}

// TryHelm is Helm for a run that may fail, with an [exec.ExitError].
func TryHelm(t testing.TB, version int, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), Binary(t, fmt.Sprintf("helm%d", version)), args...)
	command.Env = HelmEnvironment(t)
	output, err := command.CombinedOutput()
	return string(output), err
}

// HelmEnvironment returns an environment in which helm reaches the cluster and finds
// no configuration of the user.
func HelmEnvironment(t testing.TB) []string {
	t.Helper()
	home := t.TempDir()
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"HELM_CACHE_HOME=" + filepath.Join(home, "cache"),
		"HELM_CONFIG_HOME=" + filepath.Join(home, "config"),
		"HELM_DATA_HOME=" + filepath.Join(home, "data"),
		"KUBECONFIG=" + Kubeconfig(t),
	}
}

// Chart writes a small chart and returns its folder. It has a Deployment with one
// replica, a Service and a ConfigMap. Its values are replicas, tag (the image's
// tag, which controls its Pods on the dev cluster), delay (the time until a Pod
// is ready, such as 5s) and padding (bytes of random text in the ConfigMap, which
// make the record large).
func Chart(t testing.TB) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "web")
	for name, content := range map[string]string{
		"Chart.yaml":             chartYAML,
		"values.yaml":            valuesYAML,
		"templates/objects.yaml": objectsYAML,
		"templates/NOTES.txt":    "Serving {{ .Release.Name }} revision {{ .Release.Revision }}.\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const chartYAML = `apiVersion: v2
name: web
description: A small web server for tests
version: 1.2.3
appVersion: "4.5"
`

const valuesYAML = `replicas: 1
tag: "1"
delay: ""
padding: 0
`

const objectsYAML = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  revision: "{{ .Release.Revision }}"
  padding: {{ randAlphaNum (int .Values.padding) | quote }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector:
    app: {{ .Release.Name }}
  ports:
    - port: 80
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
      {{- with .Values.delay }}
      annotations:
        devcluster.helmtrail.dev/delay: {{ . }}
      {{- end }}
    spec:
      containers:
        - name: web
          image: web:{{ .Values.tag }}
`

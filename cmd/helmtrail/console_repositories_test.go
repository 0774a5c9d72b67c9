package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// defineRepositories adds OpenShift's resources for chart repositories to the
// cluster, with the fields that helmtrail reads. They are removed when the test
// ends.
func defineRepositories(t *testing.T) (cluster, project dynamic.NamespaceableResourceInterface) {
	t.Helper()
	client, err := dynamic.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	define := func(kind, plural, scope string) dynamic.NamespaceableResourceInterface {
		name := plural + ".helm.openshift.io"
		_, err := definitions.Create(t.Context(), &unstructured.Unstructured{Object: object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": name},
			"spec": object{
				"group": "helm.openshift.io", "scope": scope, "names": object{"kind": kind, "plural": plural},
				"versions": []any{object{
					"name": "v1beta1", "served": true, "storage": true,
					"schema": object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := definitions.Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		})
		return client.Resource(schema.GroupVersionResource{Group: "helm.openshift.io", Version: "v1beta1", Resource: plural})
	}
	return define("HelmChartRepository", "helmchartrepositories", "Cluster"), define("ProjectHelmChartRepository", "projecthelmchartrepositories", "Namespaced")
}

// addRepository creates a repository object. The API server serves a new resource
// with a short delay.
func addRepository(t *testing.T, resource dynamic.ResourceInterface, kind, name, url string, more object) {
	t.Helper()
	connection := object{"url": url}
	for key, value := range more {
		connection[key] = value
	}
	eventually(t, kind+" is served", func() bool {
		_, err := resource.Create(t.Context(), &unstructured.Unstructured{Object: object{
			"apiVersion": "helm.openshift.io/v1beta1", "kind": kind, "metadata": object{"name": name},
			"spec": object{"connectionConfig": connection},
		}}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// serveChartToKnown is serveChart over TLS, for clients that have a certificate.
func serveChartToKnown(t *testing.T) (s *chartServer, authority, certificate, key string) {
	t.Helper()
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	certFile, keyFile := writeCertificate(t, t.TempDir(), 1)
	certificate, key = read(certFile), read(keyFile)
	known := x509.NewCertPool()
	known.AppendCertsFromPEM([]byte(certificate))
	server := httptest.NewUnstartedServer(http.FileServer(http.Dir(packagedChart(t))))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known}
	server.StartTLS()
	t.Cleanup(server.Close)
	authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return &chartServer{url: server.URL, chart: server.URL + "/web-1.2.3.tgz"}, authority, certificate, key
}

// The cluster's own repositories are offered besides the configured ones, those of a
// project with the credentials of its Secret.
func TestConsoleRepositoriesOfTheCluster(t *testing.T) {
	open, private := serveChart(t), serveChart(t)
	private.user, private.password = "keeper", "a long secret"
	namespace := clustertest.Namespace(t)
	cluster, project := defineRepositories(t)
	_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"username": "keeper", "password": "a long secret"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addRepository(t, cluster, "HelmChartRepository", "everybody", open.url, nil)
	addRepository(t, cluster, "HelmChartRepository", "broken", open.url, object{"tlsClientConfig": object{"name": "missing"}})
	addRepository(t, project.Namespace(namespace), "ProjectHelmChartRepository", "ours", private.url, object{"basicAuthConfig": object{"name": "login"}})

	// A server that wants to know its clients, with an authority of its own.
	secured, authority, certificate, key := serveChartToKnown(t)
	hosts := strings.Join([]string{open.host(), "http://" + private.host(), secured.host()}, ",")
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--chart-hosts", hosts}})
	entries := func(query string) (map[string]any, string) {
		a := h.console(t, http.MethodGet, "/charts/index.yaml"+query, nil)
		var index struct {
			Entries     map[string]any
			Annotations map[string]string
		}
		if err := yaml.Unmarshal(a.body, &index); err != nil || a.status != http.StatusOK {
			t.Fatalf("the index is %d %s: %v", a.status, a.body, err)
		}
		return index.Entries, index.Annotations["console-warning"]
	}
	if found, warning := entries(""); found["web--everybody"] == nil || found["web--ours"] != nil || !strings.Contains(warning, "broken") {
		t.Errorf("without a namespace the repositories are %v, warning %q", found, warning)
	}
	core := clustertest.Core(t)
	_, err = core.ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "authority"}, Data: map[string]string{"ca-bundle.crt": authority},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = core.Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "client"}, Type: corev1.SecretTypeTLS,
		StringData: map[string]string{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addRepository(t, project.Namespace(namespace), "ProjectHelmChartRepository", "secured", secured.url, object{
		"ca": object{"name": "authority"}, "tlsClientConfig": object{"name": "client"},
	})
	addRepository(t, project.Namespace(namespace), "ProjectHelmChartRepository", "stranger", secured.url, object{"ca": object{"name": "authority"}})
	if found, warning := entries("?namespace=" + namespace); found["web--secured"] == nil || found["web--stranger"] != nil || !strings.Contains(warning, "stranger") {
		t.Errorf("the server that requires a client certificate has %v, warning %q", found, warning)
	}
	h.console(t, http.MethodPost, "/release/async", object{
		"name": "secured", "namespace": namespace, "chart_url": secured.chart, "indexEntry": "web--secured",
	}).begun(namespace, "secured", 1)
	h.settled(t, namespace, "secured", 1, "deployed")

	if found, _ := entries("?namespace=" + namespace); found["web--everybody"] == nil || found["web--ours"] == nil {
		t.Errorf("with the namespace the repositories are %v", found)
	}

	query := "/chart?namespace=" + namespace + "&url=" + private.chart
	var chart struct{ Metadata map[string]any }
	h.console(t, http.MethodGet, query+"&indexEntry=web--ours", nil).decode(http.StatusOK, &chart)
	h.console(t, http.MethodGet, query+"&noRepo=true&basic_auth_secret_name=login", nil).decode(http.StatusOK, &chart)
	if chart.Metadata["name"] != "web" {
		t.Errorf("the chart is %v", chart)
	}
	h.console(t, http.MethodGet, query+"&noRepo=true", nil).fails(http.StatusBadRequest, "401")
	h.console(t, http.MethodGet, query+"&indexEntry=web--nowhere", nil).fails(http.StatusBadRequest, "repository")

	// An upgrade uses the Secret with which the URL was installed, until an
	// upgrade clears it.
	body := object{"name": "web", "namespace": namespace, "chart_url": private.chart, "noRepo": true, "basic_auth_secret_name": "login"}
	h.console(t, http.MethodPost, "/release/async", body).begun(namespace, "web", 1)
	r := h.settled(t, namespace, "web", 1, "deployed")
	want := map[string]any{"chart_url": private.chart, "installation": "url_install", "helm.openshift.io/auth-secret": "login"}
	for key, value := range want {
		if got := r.Chart.Metadata["annotations"].(map[string]any)[key]; got != value {
			t.Errorf("the chart's annotation %s is %v, want %v", key, got, value)
		}
	}
	delete(body, "basic_auth_secret_name")
	h.console(t, http.MethodPut, "/release/async", body).begun(namespace, "web", 2)
	h.settled(t, namespace, "web", 2, "deployed")
	body["basic_auth_secret_name"] = "__none__"
	h.console(t, http.MethodPut, "/release/async", body).fails(http.StatusBadGateway, "401")
}

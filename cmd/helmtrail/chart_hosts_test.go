package main

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
	"github.com/helmtrail/helmtrail/stream/repository/repositorytest"
)

// insideAnswer stands in what a server sends that callers must not reach.
const insideAnswer = "Z9-internal-answer"

// installs submits an install and returns its end.
func (h *server) installs(t *testing.T, namespace, name string, chart object) (helmtrail.Type, *helmtrail.End) {
	t.Helper()
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": name, "chart": chart})
	return end(t, h.events(t.Context(), t, answer.Events, 1))
}

// A chart's address, a repository's, and where they redirect to cannot make
// helmtrail or helm ask an inside address.
func TestInsideAddressesAreNotAskedForCharts(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		inside := repositorytest.Serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "%s: [", insideAnswer) })
		_, port, err := net.SplitHostPort(inside.Host())
		if err != nil {
			t.Fatal(err)
		}
		redirecting := repositorytest.Serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/index.yaml" {
				fmt.Fprintf(w, "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.0.0, urls: [%q]}\n", inside.URL+"/web-1.0.0.tgz")
				return
			}
			http.Redirect(w, r, inside.URL+"/debug/pprof/cmdline", http.StatusFound)
		})
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", "*," + redirecting.Host()}}), clustertest.Namespace(t)

		refused := func(what string, want int, path string) {
			t.Helper()
			status, answer := h.ask(t, http.MethodGet, path, "")
			if status != want || !strings.Contains(answer, "--chart-hosts") || strings.Contains(answer, insideAnswer) {
				t.Errorf("%s: %d %s, want %d", what, status, answer, want)
			}
		}
		for host, want := range map[string]int{"127.0.0.1": 400, "[::1]": 400, "[::ffff:127.0.0.1]": 400, "0.0.0.0": 400, "localhost": 503} {
			address := "http://" + host + ":" + port
			refused("chart at "+host, want, "/charts/"+url.PathEscape(address+"/web-1.0.0.tgz"))
			refused("repository at "+host, want, "/charts/web?repo="+url.QueryEscape(address))
			refused("the console's chart at "+host, 400, "/api/helm/chart?noRepo=true&url="+url.QueryEscape(address+"/web-1.0.0.tgz"))
		}
		refused("registry", 400, "/charts/"+url.PathEscape("oci://127.0.0.1:"+port+"/team/web"))
		refused("registry by name", 503, "/charts/"+url.PathEscape("oci://localhost:"+port+"/team/web"))
		refused("redirect", 503, "/charts/"+url.PathEscape(redirecting.URL+"/web-1.0.0.tgz"))
		refused("index", 503, "/charts/web?repo="+url.QueryEscape(redirecting.URL))

		for name, chart := range map[string]object{
			"byname":   {"ref": "http://localhost:" + port + "/web-1.0.0.tgz"},
			"registry": {"ref": "oci://localhost:" + port + "/team/web"},
			"redirect": {"ref": redirecting.URL + "/web-1.0.0.tgz"},
			"index":    {"ref": "web", "repo": redirecting.URL},
		} {
			kind, last := h.installs(t, namespace, name, chart)
			if kind != helmtrail.TypeFailed || !strings.Contains(last.Message, "--chart-hosts") || strings.Contains(last.Message, insideAnswer) {
				t.Errorf("%s ended %s: %s", name, kind, last.Message)
			}
		}
		if n := inside.Requests.Load(); n != 0 {
			t.Errorf("the inside server was asked %d times", n)
		}
		if n := redirecting.Requests.Load(); n == 0 {
			t.Error("the redirecting server was not asked")
		}
	})
}

// A redirect to another port of the same host is followed without the login, and
// no login is sent over plain HTTP.
func TestRepositoryLoginsStayWithTheirOrigin(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		packed := pack(t, clustertest.Chart(t))
		other := repositorytest.Serve(t, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) })
		own := repositorytest.Serve(t, true, func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "reader" || password != chartPassword {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			if r.URL.Path == "/index.yaml" {
				fmt.Fprint(w, "apiVersion: v1\nentries:\n  web:\n  - {apiVersion: v2, name: web, version: 1.2.3, urls: [web-1.2.3.tgz]}\n")
				return
			}
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
		})
		plain := repositorytest.Serve(t, false, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed) })
		hosts := strings.Join([]string{own.Host(), other.Host(), plain.Host()}, ",")
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", hosts}}), clustertest.Namespace(t)
		authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate().Raw}))
		_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "login"}, StringData: map[string]string{"username": "reader", "password": chartPassword, "ca.crt": authority},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for name, chart := range map[string]object{
			"archive":    {"ref": own.URL + "/web-1.2.3.tgz", "credentialsSecret": "login"},
			"repository": {"ref": "web", "repo": own.URL, "credentialsSecret": "login"},
		} {
			if kind, last := h.installs(t, namespace, name, chart); kind != helmtrail.TypeCompleted {
				t.Errorf("%s ended %s: %s", name, kind, last.Message)
			}
		}
		kind, last := h.installs(t, namespace, "plain", object{"ref": plain.URL + "/web-1.2.3.tgz", "credentialsSecret": "login"})
		if kind != helmtrail.TypeFailed || !strings.Contains(last.Message, "https only") {
			t.Errorf("over plain HTTP the install ended %s: %s", kind, last.Message)
		}
		if own.Logins.Load() == 0 || other.Requests.Load() == 0 || other.Logins.Load() != 0 || plain.Logins.Load() != 0 {
			t.Errorf("logins: %d at their server, %d after the redirect, %d over plain HTTP", own.Logins.Load(), other.Logins.Load(), plain.Logins.Load())
		}
	})
}

// A body without an end is not read to its end, and a cancel does not wait for a
// download.
func TestChartDownloadsAreBoundedAndCanceled(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		var sent atomic.Int64
		begun := make(chan struct{}, 1)
		server := repositorytest.Serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow.tgz" {
				w.(http.Flusher).Flush()
				begun <- struct{}{}
				<-r.Context().Done()
				return
			}
			part := make([]byte, 1<<16)
			for sent.Load() < 900<<20 {
				n, err := w.Write(part)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		})
		h, namespace := serveOn(t, arguments{helm: helm, more: []string{"--chart-hosts", server.Host()}}), clustertest.Namespace(t)
		status, answer := h.ask(t, http.MethodGet, "/charts/"+url.PathEscape(server.URL+"/huge.tgz"), "")
		if status != http.StatusServiceUnavailable || !strings.Contains(answer, "larger than") {
			t.Errorf("the huge chart: %d %s", status, answer)
		}
		kind, last := h.installs(t, namespace, "huge", object{"ref": server.URL + "/huge.tgz"})
		if kind != helmtrail.TypeFailed || !strings.Contains(last.Message, "larger than") {
			t.Errorf("the install of the huge chart ended %s: %s", kind, last.Message)
		}
		if n := sent.Load(); n > 128<<20 {
			t.Errorf("%d bytes were read of two huge charts", n)
		}

		slow := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": server.URL + "/slow.tgz"}})
		<-begun
		if status := h.cancel(t, namespace, slow, nil); status != http.StatusAccepted {
			t.Fatalf("the cancel was answered with %d", status)
		}
		kind, last = end(t, h.events(t.Context(), t, slow.Events, 1))
		if kind != helmtrail.TypeCanceled || last.DurationSeconds > 30 {
			t.Errorf("the slow install ended %s after %g s: %s", kind, last.DurationSeconds, last.Message)
		}
	})
}

// With a login only the configured repositories are used, unless --chart-hosts
// lists more, and a URL elsewhere needs the right to add charts.
func TestChartsByURLNeedAListedHostAndTheRight(t *testing.T) {
	own, listed, other := serveChart(t), serveChart(t), serveChart(t)
	namespace := clustertest.Namespace(t)
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	reader, readerToken := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))
	edit, editToken := account(t, namespace, "edit")
	bind(t, namespace, edit, "edit")
	helm := clustertest.Binary(t, "helm4")

	strict := serveOn(t, arguments{helm: helm, more: []string{"--auth", "kubernetes", "--repo", "own=" + own.url}})
	h := serveOn(t, arguments{helm: helm, more: []string{"--auth", "kubernetes", "--repo", "own=" + own.url, "--chart-hosts", own.host() + "," + listed.host()}})
	describe := func(s *chartServer) string {
		return "/charts/" + url.PathEscape(s.chart) + "?namespace=" + namespace
	}
	consoleChart := func(s *chartServer) string {
		return "/api/helm/chart?noRepo=true&namespace=" + namespace + "&url=" + url.QueryEscape(s.chart)
	}
	for _, test := range []struct {
		name, token, path string
		server            *server
		want              int
		says              string
	}{
		{"nobody", "", describe(own), h, 401, ""},
		{"a reader of the configured repository", readerToken, "/charts/web?repo=own", h, 200, ""},
		{"a reader of its archive", readerToken, describe(own), h, 200, ""},
		{"a reader of a URL", readerToken, describe(listed), h, 403, "create charts.helmtrail.dev"},
		{"a reader of a repository's URL", readerToken, "/charts/web?namespace=" + namespace + "&repo=" + url.QueryEscape(listed.url), h, 403, "create charts"},
		{"a reader in the console", readerToken, consoleChart(listed), h, 403, "create charts"},
		{"an operator of a URL", operatorToken, describe(listed), h, 200, ""},
		{"an operator of a URL in another namespace", operatorToken, "/charts/" + url.PathEscape(listed.chart) + "?namespace=default", h, 403, "create charts"},
		{"an operator in the console", operatorToken, consoleChart(listed), h, 200, ""},
		{"an operator of another URL", operatorToken, describe(other), h, 400, "--chart-hosts"},
		{"an operator in the console of another URL", operatorToken, consoleChart(other), h, 400, "--chart-hosts"},
		{"an operator without --chart-hosts", operatorToken, describe(listed), strict, 400, "--chart-hosts"},
		{"a configured repository inside", operatorToken, "/charts/web?repo=own", strict, 503, "--chart-hosts"},
	} {
		status, answer := test.server.holding(test.token).ask(t, http.MethodGet, test.path, "")
		if status != test.want || !strings.Contains(answer, test.says) {
			t.Errorf("%s: %d %.300s, want %d with %q", test.name, status, answer, test.want, test.says)
		}
	}
	// Who may install, but not add charts, installs no chart by URL.
	body := func(s *chartServer) string { return fmt.Sprintf(`{"name":"web","chart":{"ref":%q}}`, s.chart) }
	if status, answer := h.holding(editToken).ask(t, http.MethodPost, h.releases(namespace), body(listed)); status != http.StatusForbidden {
		t.Errorf("an install by URL without the right: %d %s", status, answer)
	}
	if kind, last := h.holding(operatorToken).installs(t, namespace, "web", object{"ref": listed.chart}); kind != helmtrail.TypeCompleted {
		t.Errorf("an operator's install by URL ended %s: %s", kind, last.Message)
	}
	if n := other.indexes.Load(); n != 0 {
		t.Errorf("the server that is not listed was asked %d times", n)
	}
}

package repository_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/repository"
	"github.com/helmtrail/helmtrail/stream/repository/repositorytest"
)

// marker stands in what the servers of these tests send. No error may contain it.
const marker = "Z9-internal-answer"

const password = "S3cr3t-chart-password"

// clientFor returns a client for the entries of --chart-hosts.
func clientFor(t *testing.T, entries ...string) *repository.Client {
	t.Helper()
	hosts, err := repository.ParseHosts(entries)
	if err != nil {
		t.Fatal(err)
	}
	return repository.NewClient(hosts)
}

// seen is a server with what its clients need.
type seen struct{ *repositorytest.Server }

// port is the server's port.
func (s *seen) port() string {
	_, port, _ := net.SplitHostPort(s.Host())
	return port
}

func serve(t *testing.T, secure bool, handler http.HandlerFunc) *seen {
	t.Helper()
	return &seen{repositorytest.Serve(t, secure, handler)}
}

// login is the login for a server over TLS.
func (s *seen) login(t *testing.T) repository.Login {
	t.Helper()
	login, err := repository.ReadLogin(map[string][]byte{"username": []byte("reader"), "password": []byte(password), "ca.crt": s.authority()})
	if err != nil {
		t.Fatal(err)
	}
	return login
}

func (s *seen) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// fetch fetches a chart and returns the archive.
func fetch(t *testing.T, c *repository.Client, chart repository.Chart) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chart.tgz")
	err := c.Fetch(t.Context(), chart, file)
	if err != nil {
		if !errors.Is(err, helmtrail.ErrNoChart) || strings.Contains(err.Error(), marker) || strings.Contains(err.Error(), password) {
			t.Errorf("the error is %v", err)
		}
		if left, _ := os.ReadDir(filepath.Dir(file)); len(left) > 0 {
			t.Errorf("%d files are left after %v", len(left), err)
		}
		return "", err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

// refused fails unless nothing was fetched and the error says why.
func refused(t *testing.T, c *repository.Client, chart repository.Chart, why string) {
	t.Helper()
	if data, err := fetch(t, c, chart); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s %s: got %q, %v, want an error with %q", chart.Repo, chart.Ref, data, err, why)
	}
}

// Loopback is refused in all its forms, as an address and as a name, and for
// repositories, archives and registries.
func TestInsideAddressesAreRefused(t *testing.T) {
	inside := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, marker) })
	c := clientFor(t, "*")
	hosts := []string{"127.0.0.1", "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "[64:ff9b::7f00:1]"}
	if private := privateAddress(t); private != "" {
		hosts = append(hosts, private)
	}
	for _, host := range hosts {
		host += ":" + inside.port()
		refused(t, c, repository.Chart{Ref: "http://" + host + "/web-1.0.0.tgz"}, "loopback, link-local or private")
		refused(t, c, repository.Chart{Ref: "web", Repo: "http://" + host}, "loopback, link-local or private")
		refused(t, c, repository.Chart{Ref: "https://" + host + "/web-1.0.0.tgz"}, "loopback, link-local or private")
		if !strings.HasPrefix(host, "[") {
			refused(t, c, repository.Chart{Ref: "oci://" + strings.ToLower(strings.Replace(host, ".:", ":", 1)) + "/team/web", Version: "1.0.0"}, "loopback, link-local or private")
		}
		if _, err := c.Index(t.Context(), "http://"+host, nil); err == nil || !strings.Contains(err.Error(), "private") {
			t.Errorf("the index of %s: %v", host, err)
		}
	}
	if n := inside.Requests.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}

// privateAddress returns a private address of this machine, "" if it has none.
func privateAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsPrivate() {
			return n.IP.String()
		}
	}
	return ""
}

func TestOnlyAllowedHostsAreAsked(t *testing.T) {
	server := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "archive") })
	chart := repository.Chart{Ref: "http://" + server.Host() + "/web-1.0.0.tgz"}
	for _, entries := range [][]string{nil, {"charts.example.com"}, {"127.0.0.1"}, {"127.0.0.1:1"}, {"*.0.0.1"}, {"localhost:" + server.port()}} {
		refused(t, clientFor(t, entries...), chart, "--chart-hosts")
	}
	if n := server.Requests.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	for _, entries := range [][]string{{server.Host()}, {"http://" + server.Host()}, {"*", server.Host()}, {"*.0.0.1:" + server.port()}} {
		if data, err := fetch(t, clientFor(t, entries...), chart); err != nil || data != "archive" {
			t.Errorf("with %q: %q, %v", entries, data, err)
		}
	}
	for _, entry := range []string{"", "a/b", "a?b", "u@a", "*.*.a", "*a", "https://a", ":80", "a b"} {
		if _, err := repository.ParseHosts([]string{entry}); err == nil {
			t.Errorf("%q was accepted", entry)
		}
	}
}

// A configured repository's server is allowed, but not with an inside address.
func TestConfiguredRepositoriesAreAllowed(t *testing.T) {
	hosts, err := repository.ParseHosts(nil)
	if err != nil {
		t.Fatal(err)
	}
	hosts = hosts.With("https://charts.example.com/stable", "http://127.0.0.1:1")
	for address, want := range map[string]string{
		"https://charts.example.com/other/x.tgz": "",
		"https://Charts.Example.com.:443/x.tgz":  "",
		"oci://charts.example.com/x":             "",
		"http://charts.example.com/x.tgz":        "--chart-hosts",
		"https://charts.example.com:8443/x.tgz":  "--chart-hosts",
		"https://example.com/x.tgz":              "--chart-hosts",
		"http://127.0.0.1:1/x.tgz":               "private",
	} {
		err := hosts.Check(address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
		if hosts.Configured(address) != (want != "--chart-hosts") {
			t.Errorf("%s: configured is %v", address, hosts.Configured(address))
		}
	}
}

func TestRedirectsAreCheckedLikeTheFirstRequest(t *testing.T) {
	inside := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, marker) })
	to := ""
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	c := clientFor(t, "*", server.Host())
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"} {
		to = "http://" + host + ":" + inside.port() + "/debug/pprof/cmdline"
		refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "private")
		refused(t, c, repository.Chart{Ref: "web", Repo: server.URL}, "private")
	}
	to = "http://charts.example.com/x.tgz"
	refused(t, clientFor(t, server.Host()), repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "--chart-hosts")
	to = "file:///etc/passwd"
	refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "")
	to = server.URL + "/again"
	refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "redirects too often")
	if n := inside.Requests.Load(); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

// A redirect to another port of the same host is followed without the login, and
// so is what follows, even if it leads back.
func TestTheLoginStaysWithItsOrigin(t *testing.T) {
	var first *seen
	other := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, first.URL+"/end", http.StatusFound)
			return
		}
		fmt.Fprint(w, "archive")
	})
	first = serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/index.yaml":
			fmt.Fprintf(w, "entries:\n  web:\n  - {version: 1.0.0, urls: [%q]}\n", other.URL+"/from-the-index")
		case "/end":
			fmt.Fprint(w, "archive")
		case "/back":
			http.Redirect(w, r, other.URL+"/back", http.StatusFound)
		default:
			http.Redirect(w, r, other.URL+"/web", http.StatusFound)
		}
	})
	c, login := clientFor(t, first.Host(), other.Host()), first.login(t)
	for _, test := range []struct {
		chart repository.Chart
		want  int64 // logins that the first server sees
	}{
		{repository.Chart{Ref: first.URL + "/web-1.0.0.tgz"}, 1},
		{repository.Chart{Ref: first.URL + "/back"}, 1},
		{repository.Chart{Ref: "web", Repo: first.URL}, 1},
		{repository.Chart{Ref: other.URL + "/web-1.0.0.tgz", LoginFor: first.URL}, 0},
	} {
		first.Logins.Store(0)
		test.chart.Login = login
		if data, err := fetch(t, c, test.chart); err != nil || data != "archive" {
			t.Errorf("%s %s: %q, %v", test.chart.Repo, test.chart.Ref, data, err)
		}
		if n := first.Logins.Load(); n != test.want {
			t.Errorf("%s %s: the server saw %d logins, want %d", test.chart.Repo, test.chart.Ref, n, test.want)
		}
	}
	if n := other.Logins.Load(); n != 0 {
		t.Errorf("the other server saw %d logins", n)
	}
}

// Basic and Bearer challenges of a registry get the login over https from the
// registry's own answer only.
func TestRegistriesGetTheLoginAtTheirOriginOnly(t *testing.T) {
	var challenge string
	thief := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q", "https://"+r.Host+"/token"))
		w.WriteHeader(http.StatusUnauthorized)
	})
	plain := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"token":"t"}`) })
	registry := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		if challenge == "" {
			http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(http.StatusUnauthorized)
	})
	c := clientFor(t, registry.Host(), thief.Host(), plain.Host())
	chart := repository.Chart{Ref: "oci://" + registry.Host() + "/team/web", Login: registry.login(t)}
	for _, version := range []string{"", "1.0.0"} {
		chart.Version = version
		challenge = ""
		refused(t, c, chart, "")
		challenge = fmt.Sprintf("Bearer realm=%q", plain.URL+"/token")
		refused(t, c, chart, "")
	}
	if thief.Requests.Load() == 0 || thief.Logins.Load() != 0 || plain.Logins.Load() != 0 {
		t.Errorf("the other server was asked %d times and saw %d logins, the one without TLS %d", thief.Requests.Load(), thief.Logins.Load(), plain.Logins.Load())
	}
}

func TestLoginsAreSentOverHTTPSOnly(t *testing.T) {
	server := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "archive") })
	login, err := repository.ReadLogin(map[string][]byte{"username": []byte("reader"), "password": []byte(password)})
	if err != nil {
		t.Fatal(err)
	}
	chart := repository.Chart{Ref: server.URL + "/web-1.0.0.tgz", Login: login}
	refused(t, clientFor(t, server.Host()), chart, "https only")
	if n := server.Requests.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	// The flag may allow it for a loopback address.
	if data, err := fetch(t, clientFor(t, "http://"+server.Host()), chart); err != nil || data != "archive" {
		t.Errorf("with http:// before the host: %q, %v", data, err)
	}
	if private := privateAddress(t); private != "" {
		chart.Ref = "http://" + private + ":" + server.port() + "/web-1.0.0.tgz"
		refused(t, clientFor(t, "http://"+private+":"+server.port()), chart, "https only")
	}
}

// endless sends bytes until the client leaves.
func endless(w http.ResponseWriter, sent *atomic.Int64) {
	part := make([]byte, 1<<16)
	for {
		n, err := w.Write(part)
		sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func TestAnswersAreBoundedInBytes(t *testing.T) {
	var sent atomic.Int64
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/headers" {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		}
		endless(w, &sent)
	})
	c := clientFor(t, server.Host())
	refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "larger than 33554432 bytes")
	refused(t, c, repository.Chart{Ref: "web", Repo: server.URL}, "larger than 67108864 bytes")
	refused(t, c, repository.Chart{Ref: server.URL + "/headers"}, "")
	const buffers = 32 << 20 // in the kernel
	if n := sent.Load(); n > 96<<20+buffers {
		t.Errorf("%d bytes were sent", n)
	}
}

// Slow downloads of one user hold up nobody else, and end when the caller leaves.
func TestSlowDownloadsHoldUpTheirUserOnly(t *testing.T) {
	begun := make(chan struct{}, 10)
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			begun <- struct{}{}
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, "archive")
	})
	c := clientFor(t, server.Host())
	slow, leave := context.WithCancel(t.Context())
	var downloads sync.WaitGroup
	for i := range 10 {
		file := filepath.Join(t.TempDir(), "chart.tgz")
		downloads.Go(func() {
			release, err := c.Take(slow, "slow")
			if err != nil {
				return // its turn did not come
			}
			defer release()
			if err := c.Fetch(slow, repository.Chart{Ref: fmt.Sprintf("%s/slow-%d", server.URL, i)}, file); err == nil {
				t.Error("a download without an end has ended")
			}
		})
	}
	for range 4 {
		<-begun
	}
	release, err := c.Take(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fetch(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}); err != nil || data != "archive" {
		t.Errorf("the other user got %q, %v", data, err)
	}
	release()
	if n := server.Requests.Load(); n != 5 {
		t.Errorf("the server was asked %d times, want 4 slow downloads and 1 other", n)
	}
	leave()
	downloads.Wait()
}

// A server that is not a chart server cannot be read through an error.
func TestErrorsQuoteNothingOfTheAnswer(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter){
		"YAML": func(w http.ResponseWriter) { fmt.Fprintf(w, "%s: [1, 2\n", marker) },
		"JSON": func(w http.ResponseWriter) { fmt.Fprintf(w, `{"entries": {"web": "%s"}}`, marker) },
		"500":  func(w http.ResponseWriter) { http.Error(w, marker, http.StatusInternalServerError) },
		"OCI error": func(w http.ResponseWriter) {
			w.WriteHeader(404)
			fmt.Fprintf(w, `{"errors":[{"code":"%s","message":"%s"}]}`, marker, marker)
		},
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "http://[::1%"+marker); w.WriteHeader(302) },
		"protocol": func(w http.ResponseWriter) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			fmt.Fprintf(connection, "SSH-2.0-%s\r\n", marker)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := serve(t, false, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
			c := clientFor(t, server.Host())
			refused(t, c, repository.Chart{Ref: "web", Repo: server.URL}, "")
			if _, err := c.Index(t.Context(), server.URL, nil); err == nil || strings.Contains(err.Error(), marker) {
				t.Errorf("the index: %v", err)
			}
			if name != "YAML" && name != "JSON" {
				refused(t, c, repository.Chart{Ref: server.URL + "/web-1.0.0.tgz"}, "")
			}
			secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
			secure.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			secure.StartTLS()
			defer secure.Close()
			login, err := repository.ReadLogin(map[string][]byte{"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})})
			if err != nil {
				t.Fatal(err)
			}
			address, err := url.Parse(secure.URL)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, clientFor(t, address.Host), repository.Chart{Ref: "oci://" + address.Host + "/team/web", Login: login}, "")
		})
	}
}

// An index is cached and shared by all callers with the same login.
func TestIndexesAreCached(t *testing.T) {
	server := serve(t, false, nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if server.Requests.Add(1) > 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, `apiVersion: v1
entries:
  web:
  - {name: web, version: 2.0.0, kubeVersion: ">=1.99", urls: [web-2.0.0.tgz]}
  - {name: web, version: 1.0.0, urls: ["https://elsewhere.example.com/web-1.0.0.tgz"], unknown: kept}
  -
`)
	})
	c := clientFor(t, server.Host())
	for range 3 {
		index, err := c.Index(t.Context(), server.URL+"/stable", nil)
		if err != nil || len(index["web"]) != 3 {
			t.Fatalf("the index is %+v, %v", index, err)
		}
		first, second := index["web"][0], index["web"][1]
		if first.URL != server.URL+"/stable/web-2.0.0.tgz" || first.KubeVersion != ">=1.99" || !strings.Contains(string(second.Content), `"unknown":"kept"`) || second.URL != "https://elsewhere.example.com/web-1.0.0.tgz" {
			t.Errorf("the index is %+v", index)
		}
	}
	c = clientFor(t, server.Host())
	for range 3 {
		if _, err := c.Index(t.Context(), server.URL+"/stable", nil); !errors.Is(err, helmtrail.ErrNoChart) || !strings.Contains(err.Error(), "500") {
			t.Errorf("got %v, want an error with the server's status 500", err)
		}
	}
	if n := server.Requests.Load(); n != 2 {
		t.Errorf("the server was asked %d times, want 2", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := clientFor(t, server.Host()).Index(ctx, server.URL, nil); err == nil {
		t.Error("a caller that has left got an answer")
	}
}

// The version is chosen as helm chooses it.
func TestTheNewestVersionInTheRangeIsFetched(t *testing.T) {
	server := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/index.yaml" {
			fmt.Fprint(w, r.URL.Path)
			return
		}
		fmt.Fprint(w, "entries:\n  web:\n")
		for _, v := range []string{"1.0.0", "2.0.0-rc.1", "1.10.0", "1.9.0", "not-a-version", "2.0.0+build"} {
			fmt.Fprintf(w, "  - {version: %q, urls: [%q]}\n", v, v)
		}
		fmt.Fprint(w, "  file:\n  - {version: 1.0.0, urls: ['file:///etc/passwd']}\n")
	})
	c := clientFor(t, server.Host())
	for wanted, got := range map[string]string{"": "2.0.0+build", "^1": "1.10.0", "1.9.0": "1.9.0", "2.0.0-rc.1": "2.0.0-rc.1", ">1.0.0 <1.10.0": "1.9.0", "not-a-version": ""} {
		data, err := fetch(t, c, repository.Chart{Ref: "web", Repo: server.URL, Version: wanted})
		if got != "" && (err != nil || data != "/"+got) || got == "" && err == nil {
			t.Errorf("%q: %q, %v, want %q", wanted, data, err, got)
		}
	}
	refused(t, c, repository.Chart{Ref: "web", Repo: server.URL, Version: "^9"}, "no such chart or version")
	refused(t, c, repository.Chart{Ref: "absent", Repo: server.URL}, "absent")
	refused(t, c, repository.Chart{Ref: "file", Repo: server.URL}, "no usable address")
}

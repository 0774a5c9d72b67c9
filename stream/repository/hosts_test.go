package repository_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/stream/repository"
)

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

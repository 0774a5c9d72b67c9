package repository_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/helmtrail/helmtrail/stream/repository"
)

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

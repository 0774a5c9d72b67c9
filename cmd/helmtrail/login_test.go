package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestLoginKeepsTheTokenFromScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	user, token := account(t, namespace, "reader")
	bind(t, namespace, user, exampleRole(t, "reader"))
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--auth", "kubernetes", "--base-path", "/trail/"}})
	post := func(path, body string, cookies ...*http.Cookie) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cookies {
			request.AddCookie(c)
		}
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}
	if r := post("/trail/login", `{"token":"nonsense"}`); r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) > 0 {
		t.Errorf("a bad token: %d %v", r.StatusCode, r.Cookies())
	}
	past := base64.RawURLEncoding.EncodeToString([]byte(`{"exp":1700000000}`))
	if status, answer := h.holding("").ask(t, http.MethodPost, "/trail/login", `{"token":"e30.`+past+`.e30"}`); status != http.StatusUnauthorized ||
		!strings.Contains(answer, `"message":"The token expired at 2023-11-14T22:13:20Z."`) {
		t.Errorf("an expired token: %d %s", status, answer)
	}
	proxied, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/trail/login", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	proxied.Header.Set("Origin", strings.Replace(h.url, "http://", "https://", 1))
	behind, err := h.client.Do(proxied)
	if err != nil {
		t.Fatal(err)
	}
	behind.Body.Close()
	if c := behind.Cookies(); len(c) != 1 || !c[0].Secure || c[0].Name != "__Secure-helmtrail-"+h.cluster {
		t.Errorf("behind a proxy that ends TLS: %d, cookies %v", behind.StatusCode, c)
	}
	signedIn := post("/trail/login", `{"token":"`+token+`"}`)
	if signedIn.StatusCode != http.StatusOK || len(signedIn.Cookies()) != 1 {
		t.Fatalf("login: %d, cookies %v", signedIn.StatusCode, signedIn.Cookies())
	}
	cookie := signedIn.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/trail/" || cookie.Expires.Before(time.Now().Add(30*time.Minute)) {
		t.Errorf("the cookie is %+v", cookie)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/trail"+h.releases(namespace), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.AddCookie(cookie)
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %d", response.StatusCode)
	}
	// The browser may also have a cookie from a time when the server was behind a
	// proxy that ends TLS.
	older := &http.Cookie{Name: "__Secure-" + cookie.Name, Value: token}
	if r := post("/trail/logout", "", cookie, older); len(r.Cookies()) != 2 || r.Cookies()[0].Name != older.Name || r.Cookies()[0].MaxAge >= 0 || !r.Cookies()[0].Secure {
		t.Errorf("logout with two cookies: %d %v", r.StatusCode, r.Cookies())
	}
	if r := post("/trail/logout", "", cookie); r.StatusCode != http.StatusNoContent || len(r.Cookies()) != 1 || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d %v", r.StatusCode, r.Cookies())
	}
	var me struct {
		Auth     string
		Clusters []struct {
			ID   string
			User *string
		}
	}
	h.holding("").get(t, "/trail/me", &me)
	if me.Auth != "kubernetes" || len(me.Clusters) != 1 || me.Clusters[0].User != nil {
		t.Errorf("without a token /me is %+v", me)
	}
	h.holding(token).get(t, "/trail/me", &me)
	if me.Clusters[0].User == nil || *me.Clusters[0].User != user {
		t.Errorf("with a token /me is %+v, want %s", me, user)
	}
	if got := fmt.Sprint(me.Clusters[0].ID); got != h.cluster {
		t.Errorf("the cluster is %s", got)
	}
}

package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacv1client "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// rbac returns a client for roles and bindings.
func rbac(t *testing.T) rbacv1client.RbacV1Interface {
	t.Helper()
	client, err := rbacv1client.NewForConfig(clustertest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// exampleRole creates a role of deploy/rbac in the cluster and returns its name.
func exampleRole(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "rbac", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	roles := rbac(t).ClusterRoles()
	if _, err = roles.Create(t.Context(), &role, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		_, err = roles.Update(t.Context(), &role, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return role.Name
}

// account creates a ServiceAccount and returns its user name and a token.
func account(t *testing.T, namespace, name string) (user, token string) {
	t.Helper()
	accounts := clustertest.Core(t).ServiceAccounts(namespace)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return "system:serviceaccount:" + namespace + ":" + name, tokenFor(t, namespace, name, time.Hour)
}

func tokenFor(t *testing.T, namespace, name string, lifetime time.Duration) string {
	t.Helper()
	seconds := int64(lifetime.Seconds())
	request, err := clustertest.Core(t).ServiceAccounts(namespace).CreateToken(t.Context(), name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// bind gives an account a role in a namespace. It returns a function that removes it.
func bind(t *testing.T, namespace, account, role string) (unbind func()) {
	t.Helper()
	owner, name, _ := strings.Cut(strings.TrimPrefix(account, "system:serviceaccount:"), ":")
	bindings := rbac(t).RoleBindings(namespace)
	made, err := bindings.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "helmtrail-"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := bindings.Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// bearer sends a token with each request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// holding returns the same helmtrail for a caller with a token.
func (h *server) holding(token string) *server {
	other := *h
	other.client = &http.Client{
		Transport:     bearer{token, h.client.Transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &other
}

// ask sends a request. It returns the status and the part of the answer that arrives
// within a moment, since a stream does not end.
func (h *server) ask(t *testing.T, method, path, body string) (status int, answer string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, h.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") != "text/event-stream" {
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(data)
	}
	first := make([]byte, 4096)
	n, err := io.ReadAtLeast(response.Body, first, 16)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(first[:n])
}

// session returns the running session of a release, or nil.
func (h *server) session(t *testing.T, namespace, name string) *string {
	t.Helper()
	var i item
	h.get(t, h.release(namespace, name), &i)
	return i.Session
}

// Readers see masked values and change nothing; auditors may reveal.
func TestTheExampleRolesAllowWhatTheyDescribe(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	auditor, auditorToken := account(t, namespace, "auditor")
	bind(t, namespace, auditor, exampleRole(t, "auditor"))
	reader, readerToken := account(t, namespace, "reader")
	bind(t, namespace, reader, exampleRole(t, "reader"))

	h := shared.withLogin(t)
	owner := h.holding(operatorToken)
	answer := owner.submit(t, http.MethodPost, owner.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": object{"password": "hunter2hunter2"},
	})
	if kind, last := end(t, owner.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Fatalf("the install ended %s: %s", kind, last.Message)
	}
	values := owner.release(namespace, "web") + "/revisions/1/values"
	for _, test := range []struct {
		name, token, path string
		want              int
		shown             bool
	}{
		{"a reader", readerToken, values, 200, false},
		{"a reader trying to reveal", readerToken, values + "?reveal=true", 403, false},
		{"an auditor", auditorToken, values, 200, false},
		{"an auditor who reveals", auditorToken, values + "?reveal=true", 200, true},
		{"an operator who reveals", operatorToken, values + "?reveal=true", 200, true},
		{"a reader's list", readerToken, h.releases(namespace), 200, false},
		{"a reader's list of all", readerToken, "/" + h.cluster + "/releases", 200, false},
		{"an auditor's stream", auditorToken, answer.Events, 200, false},
	} {
		got, body := h.holding(test.token).ask(t, http.MethodGet, test.path, "")
		if got != test.want || strings.Contains(body, "hunter2") != test.shown {
			t.Errorf("%s: %d, want %d, shown %v: %.200s", test.name, got, test.want, test.shown, body)
		}
	}
	for _, token := range []string{readerToken, auditorToken} {
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			if got, body := h.holding(token).ask(t, method, h.release(namespace, "web"), `{"chart":{"ref":"web"}}`); got != http.StatusForbidden {
				t.Errorf("%s: %d %s", method, got, body)
			}
		}
	}
}

func TestAStreamEndsWhenThePermissionIsWithdrawn(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	operator, operatorToken := account(t, namespace, "operator")
	bind(t, namespace, operator, exampleRole(t, "operator"))
	reader, readerToken := account(t, namespace, "reader")
	unbind := bind(t, namespace, reader, exampleRole(t, "reader"))

	h := shared.withLogin(t)
	owner, watcher := h.holding(operatorToken), h.holding(readerToken)
	running := owner.submit(t, http.MethodPost, owner.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never, "options": object{"wait": true, "timeoutSeconds": 600},
	})
	eventually(t, "the release is listed", func() bool {
		_, list := watcher.ask(t, http.MethodGet, "/"+h.cluster+"/releases", "")
		return strings.Contains(list, `"web"`)
	})
	paths := []string{running.Events, "/" + h.cluster + "/releases/events"}
	var opened, reading sync.WaitGroup
	withdrawn := make(chan time.Time)
	opened.Add(len(paths))
	for _, path := range paths {
		reading.Go(func() {
			first := sync.OnceFunc(opened.Done)
			terminal := false
			var gone time.Time
			err := watcher.frames(t.Context(), path, func(f frame) bool {
				first()
				if gone.IsZero() {
					gone = <-withdrawn
				}
				terminal = terminal || helmtrail.Type(f.event).Terminal()
				return time.Since(gone) < patience
			})
			if took := time.Since(gone); err != nil || terminal || took >= patience {
				t.Errorf("%s continued for %v after the permission was withdrawn, terminal %v, error %v", path, took, terminal, err)
			}
			if got, _ := watcher.ask(t, http.MethodGet, path, ""); got != http.StatusForbidden {
				t.Errorf("%s again: %d, want 403", path, got)
			}
		})
	}
	opened.Wait()
	unbind()
	gone := time.Now()
	for range paths {
		withdrawn <- gone
	}
	reading.Wait()
	if got, _ := owner.ask(t, http.MethodPost, owner.release(namespace, "web")+"/sessions/"+running.SessionID+"/cancel", `{"force":true}`); got != http.StatusAccepted {
		t.Errorf("cancel: %d", got)
	}
	end(t, owner.events(t.Context(), t, running.Events, 1))
}

// A long poll shows a change only if the caller still has permission to see it. That
// includes Secrets and lists of several namespaces.
func TestALongPollShowsNothingAfterThePermissionIsWithdrawn(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	auditor, token := account(t, namespace, "auditor")
	unbind := bind(t, namespace, auditor, exampleRole(t, "auditor"))
	h := shared.withLogin(t)
	waiter := h.holding(token)
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "--namespace", namespace)
	paths := []string{
		h.release(namespace, "web"), h.release(namespace, "web") + "/history", h.releases(namespace), "/" + h.cluster + "/releases",
		"/api/helm/release?ns=" + namespace + "&name=web", "/api/helm/releases?ns=" + namespace, "/api/helm/release/history?ns=" + namespace + "&name=web",
	}
	eventually(t, "the outside operation is reported to its end", func() bool {
		var i item
		return waiter.call(t, http.MethodGet, paths[0], nil, &i) == http.StatusOK && i.Status == "deployed" && i.Session == nil
	})
	answers := make(chan polled, len(paths))
	for _, path := range paths {
		var known polled
		eventually(t, path, func() bool {
			known = waiter.poll(t, path, "")
			return known.status == http.StatusOK && strings.Contains(known.body, `"web"`)
		})
		go func() {
			a := waiter.poll(t, path, known.tag)
			for a.status == http.StatusNotModified { // nothing changed within a minute
				a = waiter.poll(t, path, known.tag)
			}
			answers <- a
		}()
	}
	unbind()
	// Earlier reviews are cached for a while.
	eventually(t, "every path is forbidden", func() bool {
		return !slices.ContainsFunc(paths, func(path string) bool {
			code, _ := waiter.ask(t, http.MethodGet, path, "")
			return code != http.StatusForbidden
		})
	})
	clustertest.Helm(t, 4, "upgrade", "web", clustertest.Chart(t), "--namespace", namespace, "--set", "replicas=2")
	for range paths {
		if a := <-answers; a.status != http.StatusForbidden || strings.Contains(a.body, `"replicas"`) {
			t.Errorf("%s without permission: %d %.200s", a.path, a.status, a.body)
		}
	}
}

// polled is the response to a long poll.
type polled struct {
	path   string
	status int
	tag    string
	body   string
}

// poll reads a path. With an ETag it waits until the answer differs.
func (h *server) poll(t *testing.T, path, tag string) polled {
	a := polled{path: path}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Error(err)
		return a
	}
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
		query := request.URL.Query()
		query.Set("wait", "60")
		request.URL.RawQuery = query.Encode()
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Error(err)
		return a
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	a.status, a.tag, a.body = response.StatusCode, response.Header.Get("ETag"), string(body)
	return a
}

// Helm has only the caller's permissions, whatever helmtrail's own account may do.
func TestHelmRunsOnlyWithTheCallersToken(t *testing.T) {
	t.Parallel()
	namespace := clustertest.Namespace(t)
	user, token := account(t, namespace, "halfway")
	role, err := rbac(t).Roles(namespace).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "records-only"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = rbac(t).RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "records-only"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "halfway"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), dataDir: folder, more: []string{"--auth", "kubernetes"}})
	caller := h.holding(token)
	answer := caller.submit(t, http.MethodPost, caller.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}, "options": object{"retries": 0}})
	kind, last := end(t, caller.events(t.Context(), t, answer.Events, 1))
	if kind != helmtrail.TypeFailed || !strings.Contains(last.Message, user) {
		t.Errorf("the install ended %s: %q, want %s to be forbidden", kind, last.Message, user)
	}
	short := tokenFor(t, namespace, "halfway", 10*time.Minute)
	var refused struct{ Code string }
	body := object{"name": "late", "chart": object{"ref": "web"}, "options": object{"timeoutSeconds": 3600}}
	if code := h.holding(short).call(t, http.MethodPost, h.releases(namespace), body, &refused); code != http.StatusBadRequest || refused.Code != "token_expires" {
		t.Errorf("an operation longer than its token: %d %s, want 400 token_expires", code, refused.Code)
	}
	h.stop()
	// Nothing that is stored holds the token.
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(token)) {
			t.Errorf("%s holds the caller's token", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

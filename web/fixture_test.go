package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/docs/openapitest"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/streamtest"
	"github.com/helmtrail/helmtrail/web"
)

// atOnce is longer than a busy machine needs for anything that is not held back. What
// is held back arrives later or never.
const atOnce = 10 * time.Second

// fixture is a web.Server on a real port with real Operations and a real journal. Only
// Helm is fake, so that tests decide what it prints and when.
type fixture struct {
	t          *testing.T
	url        string
	address    string
	server     *web.Server
	http       *httptest.Server
	client     *http.Client
	operations *stream.Operations
	helm       *helm
	releases   *releases
	state      func() web.ClusterState
}

// newFixture starts a server. adjust changes its options first.
func newFixture(t *testing.T, adjust ...func(*web.Options, *stream.Setup)) *fixture {
	t.Helper()
	f := &fixture{
		t: t, helm: &helm{made: map[string]chan *process{}}, releases: &releases{},
		state: func() web.ClusterState { return web.ClusterState{Reachable: true, Synced: true} },
	}
	kept, err := journal.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	quiet := slog.New(slog.DiscardHandler)
	setup := stream.Setup{
		Journal: kept, Helm: f.helm, Logger: quiet,
		Cluster: func(id string) (stream.Cluster, bool) { return emptyCluster{}, id == "dev" },
	}
	options := web.Options{
		Clusters: []web.Cluster{{
			ID: "dev", Server: "https://127.0.0.1:6443", HelmVersion: "v4.3.2", Releases: f.releases,
			State: func() web.ClusterState { return f.state() },
		}},
		Pages:  newFixturePages(),
		Logger: quiet,
	}
	for _, a := range adjust {
		a(&options, &setup)
	}
	f.operations = stream.NewOperations(setup)
	options.Operations = f.operations
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	stopped := make(chan error, 1)
	go func() { stopped <- f.operations.Run(ctx) }()
	t.Cleanup(func() {
		f.helm.endAll()
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	if f.server, err = web.New(options); err != nil {
		t.Fatal(err)
	}
	f.http = httptest.NewServer(f.server)
	f.url, f.address = f.http.URL, f.http.Listener.Addr().String()
	f.client = &http.Client{
		Transport:     openapitest.Transport(t, &http.Transport{}, options.BasePath),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		if err := f.server.Close(); err != nil {
			t.Error(err)
		}
		f.client.CloseIdleConnections()
		f.http.Close()
	})
	return f
}

const shopURL = "/dev/namespaces/shop/releases"

// install starts an install and returns the session's id and its Helm process.
func (f *fixture) install(name string) (string, *process) {
	f.t.Helper()
	response := f.do(http.MethodPost, shopURL, `{"name":"`+name+`","chart":{"ref":"web"}}`)
	var accepted struct {
		SessionID string `json:"sessionId"`
	}
	response.decode(http.StatusAccepted, &accepted)
	return accepted.SessionID, f.helm.process(accepted.SessionID)
}

type response struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// do sends one request; headers are pairs.
func (f *fixture) do(method, path, body string, headers ...string) response {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	r, err := f.client.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return response{f.t, r.StatusCode, r.Header, string(data)}
}

func (r response) decode(status int, into any) {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		r.t.Fatal(err)
	}
}

// wantError checks an error's status, code and message.
func (r response) wantError(status int, code string) (message string, details map[string]any) {
	r.t.Helper()
	var e struct {
		Code, Message string
		Details       map[string]any
	}
	r.decode(status, &e)
	if e.Code != code || e.Message == "" {
		r.t.Fatalf("error %+v, want code %s and a message", e, code)
	}
	return e.Message, e.Details
}

// frame is one frame of a stream.
type frame struct {
	id, event, data string
}

// reader is a client of a stream on a connection of its own.
type reader struct {
	t      *testing.T
	conn   *net.TCPConn
	lines  *bufio.Reader
	frames *streamtest.Reader // of the response body
	status int
	header http.Header
}

// listen opens a stream; headers are pairs.
func (f *fixture) listen(path string, headers ...string) *reader {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	request := "GET " + path + " HTTP/1.1\r\nHost: " + f.address + "\r\n"
	for i := 0; i < len(headers); i += 2 {
		request += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		f.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		f.t.Fatal(err)
	}
	lines := bufio.NewReader(answer.Body)
	return &reader{
		t: f.t, conn: conn.(*net.TCPConn), lines: lines, frames: streamtest.NewReader(lines),
		status: answer.StatusCode, header: answer.Header,
	}
}

// next returns the next frame; ok is false at the end of the stream.
func (r *reader) next() (f frame, ok bool) {
	r.t.Helper()
	read, err := r.frames.Next()
	if errors.Is(err, io.EOF) {
		return f, false
	}
	if err != nil {
		r.t.Fatalf("stream broke off: %v", err)
	}
	return frame{read.ID, read.Event, read.Data}, true
}

// stored returns the next frame that is not a heartbeat.
func (r *reader) stored() (frame, bool) {
	r.t.Helper()
	for {
		f, ok := r.next()
		if !ok || f.event != "HEARTBEAT" {
			return f, ok
		}
	}
}

// all returns the remaining frames except heartbeats.
func (r *reader) all() []frame {
	r.t.Helper()
	var all []frame
	for {
		f, ok := r.stored()
		if !ok {
			return all
		}
		all = append(all, f)
	}
}

// reset closes the connection like the kernel of a crashed client.
func (r *reader) reset() {
	if err := r.conn.SetLinger(0); err != nil {
		r.t.Error(err)
	}
	r.conn.Close()
}

// releases is the state of the cluster's watch.
type releases struct {
	mu        sync.Mutex
	version   uint64
	revisions []*decoder.Revision
	observers map[int]func(decoder.Transition)
	made      int
}

// put stores revisions, replaces those with the same number, and notifies the
// observers.
func (s *releases) put(revisions ...*decoder.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range revisions {
		s.version++
		kept := s.revisions[:0:0]
		for _, old := range s.revisions {
			if old.Namespace != r.Namespace || old.Name != r.Name || old.Number != r.Number {
				kept = append(kept, old)
			}
		}
		s.revisions = append(kept, r)
		for _, f := range s.observers {
			f(decoder.Transition{Time: time.Now(), Change: decoder.ChangeStatus, Revision: r})
		}
	}
}

func (s *releases) Latest(namespace string) []*decoder.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := map[[2]string]*decoder.Revision{}
	for _, r := range s.revisions {
		key := [2]string{r.Namespace, r.Name}
		if old := newest[key]; (namespace == "" || namespace == r.Namespace) && (old == nil || old.Number < r.Number) {
			newest[key] = r
		}
	}
	var list []*decoder.Revision
	for _, r := range newest {
		list = append(list, r)
	}
	return list
}

func (s *releases) Revisions(namespace, name string) []*decoder.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*decoder.Revision
	for _, r := range s.revisions {
		if r.Namespace == namespace && r.Name == name {
			list = append(list, r)
		}
	}
	return list
}

func (s *releases) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *releases) ObserveAll(f func(decoder.Transition)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.observers == nil {
		s.observers = map[int]func(decoder.Transition){}
	}
	s.made++
	key := s.made
	s.observers[key] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.observers, key)
	}
}

// emptyCluster is a cluster without releases.
type emptyCluster struct{}

func (emptyCluster) Observe(string, string, func(decoder.Transition)) func() { return func() {} }
func (emptyCluster) Read(context.Context, string, string) ([]*decoder.Revision, error) {
	return nil, nil
}
func (emptyCluster) Record(context.Context, string, string, int) (*decoder.Record, error) {
	return nil, helmtrail.ErrNotFound
}
func (emptyCluster) ObserveAll(func(decoder.Transition)) (stop func()) { return func() {} }

func (emptyCluster) Newest(string, string) *decoder.Revision { return nil }

func (emptyCluster) MarkFailed(context.Context, helmtrail.Mark) (int, error) {
	return 0, helmtrail.ErrNotFound
}

func (emptyCluster) Follow(ctx context.Context, _ *decoder.Record, _ helmtrail.Viewer, _ func([]health.Resource)) error {
	<-ctx.Done()
	return ctx.Err()
}
func (emptyCluster) Snapshot(context.Context, *decoder.Record, helmtrail.Viewer) ([]health.Resource, error) {
	return nil, nil
}
func (emptyCluster) ContainerLog(context.Context, health.LogSource, helmtrail.Viewer) (string, error) {
	return "", helmtrail.ErrNotFound
}
func (emptyCluster) May(context.Context, helmtrail.User, helmtrail.Right) error { return nil }
func (emptyCluster) SecretData(context.Context, helmtrail.Credentials, string, string) (map[string][]byte, error) {
	return nil, helmtrail.ErrNotFound
}
func (emptyCluster) Kubeconfig(context.Context, helmtrail.Credentials) ([]byte, error) {
	return []byte("{}"), nil
}

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/docs/openapitest"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// credentialCommand makes the test binary act as a credential plugin.
const credentialCommand = "credential"

// TestMain lets bin/helmtrail supervise helm, and runs the test binary as the
// program for tests that need it as a separate process.
func TestMain(m *testing.M) {
	executable = func() (string, error) { return clustertest.FindBinary("helmtrail") }
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
	}
	if len(os.Args) > 2 && os.Args[1] == credentialCommand {
		printCredential(os.Args[2])
		syscall.Exit(0)
	}
	// Tests here wait for the cluster far more than they compute. The -parallel
	// flag, which is parsed later, still overrides this.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	clustertest.Main(m, shared.stop)
}

// server is a running `helmtrail serve`, as one test uses it.
type server struct {
	url     string
	cluster string // the id of its only cluster
	stop    func() // ends it like SIGTERM and waits
	pid     int    // if it is a separate process
	client  *http.Client
}

// arguments are the flags of serve that a test chooses.
type arguments struct {
	helm string // a path
	// kubeconfig is a path; the default is the test cluster's.
	kubeconfig string
	dataDir    string
	charts     string
	more       []string
	// wait is the path that must answer 200 before the test continues; the default is
	// /readyz.
	wait string
}

// withDefaults returns the arguments with every path set.
func (a arguments) withDefaults(t *testing.T) arguments {
	t.Helper()
	if a.dataDir == "" {
		a.dataDir = t.TempDir()
	}
	if a.kubeconfig == "" {
		a.kubeconfig = clustertest.Kubeconfig(t)
	}
	if a.charts == "" {
		a.charts = filepath.Dir(clustertest.Chart(t))
	}
	return a
}

// command returns the command line of `helmtrail serve`.
func (a arguments) command() []string {
	return append([]string{
		"serve", "--kubeconfig", a.kubeconfig, "--listen", "127.0.0.1:0",
		"--helm", a.helm, "--data-dir", a.dataDir, "--chart-dir", a.charts,
	}, a.more...)
}

// serving is a `helmtrail serve` that runs in this process.
type serving struct {
	line string     // what it printed at its start
	stop func() int // ends it like SIGTERM, waits, and returns the exit code
}

// startServing runs serve until stop is called.
func startServing(a arguments, logs io.Writer) (*serving, error) {
	ctx, cancel := context.WithCancel(context.Background())
	output, input := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, a.command(), input, logs)
		input.Close()
		ended <- code
	}()
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		cancel()
		return nil, fmt.Errorf("serve printed no address and ended with %d", <-ended)
	}
	return &serving{line, func() int { cancel(); return <-ended }}, nil
}

// serveOn runs the program on the test cluster until the test ends.
func serveOn(t *testing.T, a arguments) *server {
	t.Helper()
	logs := &logWriter{t: t}
	t.Cleanup(logs.close) // after the server has stopped
	return serveWith(t, a, logs)
}

// serveWith is serveOn with a writer for the program's log.
func serveWith(t *testing.T, a arguments, logs io.Writer) *server {
	t.Helper()
	s, err := startServing(a.withDefaults(t), logs)
	if err != nil {
		t.Fatal(err)
	}
	h := &server{client: &http.Client{}}
	h.stop = sync.OnceFunc(func() {
		if code := s.stop(); code != 0 {
			t.Errorf("serve ended with %d", code)
		}
		h.client.CloseIdleConnections()
	})
	t.Cleanup(h.stop)
	h.at(t, s.line)
	h.waitFor(t, cmp.Or(a.wait, "/readyz"))
	return h
}

// at takes the address from the line that serve prints at its start. Every response is
// checked against openapi.yaml.
func (h *server) at(t *testing.T, line string) {
	t.Helper()
	found := regexp.MustCompile(`(https?://[^/]+)(\S*)/helm/releases`).FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("serve printed %q", line)
	}
	h.url = found[1]
	transport := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		// Close unused connections before the server does, which might happen
		// just when they are used again.
		IdleConnTimeout: idleTimeout / 2,
	}
	h.client.Transport = openapitest.Transport(t, transport, found[2])
}

// logWriter sends the program's log to the test's log until it is closed.
type logWriter struct {
	mu     sync.Mutex
	t      *testing.T
	closed bool
}

func (w *logWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func (w *logWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

func (h *server) waitReady(t *testing.T) {
	t.Helper()
	h.waitFor(t, "/readyz")
}

func (h *server) waitFor(t *testing.T, path string) {
	t.Helper()
	eventually(t, path, func() bool {
		response, err := h.client.Get(h.url + path)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	var me struct{ Clusters []struct{ ID string } }
	h.get(t, "/me", &me)
	h.cluster = me.Clusters[0].ID
}

// patience is how long a test waits for something that must happen: long enough that it
// does not fail only because the machine is busy.
const patience = 3 * time.Minute

// atOnce is longer than a busy machine needs for anything that is not held back.
// What is held back arrives later or never.
const atOnce = 10 * time.Second

// eventually calls ask until it returns true, at most for patience.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ask() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not true after %v", what, patience)
		}
	}
}

// call sends a request and decodes the answer; it returns the status code.
func (h *server) call(t *testing.T, method, path string, body, answer any) int {
	t.Helper()
	var reader io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, h.url+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	response, err := h.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, answer); err != nil {
		t.Fatalf("%s %s answered %d %q: %v", method, path, response.StatusCode, data, err)
	}
	return response.StatusCode
}

func (h *server) get(t *testing.T, path string, answer any) {
	t.Helper()
	if code := h.call(t, http.MethodGet, path, nil, answer); code != http.StatusOK {
		t.Fatalf("GET %s answered %d", path, code)
	}
}

// accepted is the response to a submitted operation.
type accepted struct {
	SessionID, Events, Page string
}

func (h *server) submit(t *testing.T, method, path string, body any) accepted {
	t.Helper()
	var answer struct {
		accepted
		Code, Message string
	}
	if code := h.call(t, method, path, body, &answer); code != http.StatusAccepted {
		t.Fatalf("%s %s answered %d %s: %s", method, path, code, answer.Code, answer.Message)
	}
	return answer.accepted
}

func (h *server) releases(namespace string) string {
	return fmt.Sprintf("/%s/namespaces/%s/releases", h.cluster, namespace)
}

func (h *server) release(namespace, name string) string { return h.releases(namespace) + "/" + name }

type object = map[string]any

// frame is one frame of a stream.
type frame struct{ id, event, data string }

// frames reads a stream until it ends or f returns false.
func (h *server) frames(ctx context.Context, path string, f func(frame) bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	if err != nil {
		return err
	}
	response, err := h.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s answered %d", path, response.StatusCode)
	}
	reader := bufio.NewReader(response.Body)
	var current frame
	for {
		line, err := reader.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return nil
		}
		if err != nil {
			return err
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch key {
		case "id":
			current.id = value
		case "event":
			current.event = value
		case "data":
			current.data = value
		case "":
			if current.event != "" && !f(current) {
				return nil
			}
			current = frame{}
		}
	}
}

// events reads a session's stored events until the stream ends, and checks what
// holds for every stream: seq without gaps, the ids, and exactly one terminal
// event, which is the last.
func (h *server) events(ctx context.Context, t *testing.T, path string, first uint64) []helmtrail.Event {
	t.Helper()
	var events []helmtrail.Event
	err := h.frames(ctx, path, func(f frame) bool {
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Errorf("%s: %v", f.data, err)
			return false
		}
		if e.Type == helmtrail.TypeHeartbeat {
			if f.id != "" {
				t.Errorf("a heartbeat has the id %q", f.id)
			}
			return true
		}
		if want := first + uint64(len(events)); e.Seq != want {
			t.Errorf("got event %d, want %d", e.Seq, want)
		}
		if want := fmt.Sprintf("%s.%d", e.SessionID, e.Seq); f.id != want || f.event != string(e.Type) {
			t.Errorf("frame has id %q and event %q, want %q and %q", f.id, f.event, want, e.Type)
		}
		if len(events) > 0 && events[len(events)-1].Type.Terminal() {
			t.Errorf("%s follows the terminal event", e.Type)
		}
		events = append(events, e)
		return true
	})
	if err != nil {
		t.Error(err)
		return events
	}
	if len(events) == 0 || !events[len(events)-1].Type.Terminal() {
		t.Errorf("the stream of %d events has no terminal event", len(events))
	}
	return events
}

// statuses returns the transitions of a stream as "revision status".
func statuses(events []helmtrail.Event) []string {
	var list []string
	for _, e := range events {
		if body, ok := e.Body.(*helmtrail.ReleaseStatus); ok {
			word := string(body.Status)
			if body.Change != "status" {
				word = string(body.Change)
			}
			list = append(list, fmt.Sprintf("%d %s", body.Revision, word))
		}
	}
	return list
}

// end returns the terminal event's body.
func end(t *testing.T, events []helmtrail.Event) (helmtrail.Type, *helmtrail.End) {
	t.Helper()
	last := events[len(events)-1]
	body, ok := last.Body.(*helmtrail.End)
	if !ok {
		t.Fatalf("the last event is %s", last.Type)
	}
	return last.Type, body
}

// notReady returns what /readyz reports as missing, "" if it answers 200.
func (h *server) notReady(t *testing.T) string {
	t.Helper()
	var body struct {
		Details struct{ NotReady []string }
	}
	if h.call(t, http.MethodGet, "/readyz", nil, &body) == http.StatusOK {
		return ""
	}
	return strings.Join(body.Details.NotReady, " ")
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

func TestHelmByHandIsSeenWithinASecond(t *testing.T) {
	t.Parallel()
	h := shared.on(t, clustertest.Binary(t, "helm4"))
	chart := clustertest.Chart(t)
	for _, major := range clustertest.Versions {
		namespace := clustertest.Namespace(t)
		seen := make(chan time.Time, 16)
		ctx, cancel := context.WithCancel(t.Context())
		connected := make(chan struct{})
		var reading sync.WaitGroup
		reading.Go(func() {
			once := sync.OnceFunc(func() { close(connected) })
			err := h.frames(ctx, "/"+h.cluster+"/releases/events", func(f frame) bool {
				once()
				if strings.Contains(f.data, `"namespace":"`+namespace+`"`) && strings.Contains(f.data, `"deployed"`) {
					seen <- time.Now()
				}
				return true
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		<-connected
		clustertest.Helm(t, major, "install", "byhand", chart, "--namespace", namespace)
		done := time.Now()
		select {
		case at := <-seen:
			if late := at.Sub(done); late > atOnce {
				t.Errorf("helm %d: seen %v after helm ended", major, late)
			}
		case <-time.After(patience):
			t.Errorf("helm %d: the install was not seen", major)
		}
		var list struct {
			Items []struct{ Name, Status string }
		}
		h.get(t, h.releases(namespace), &list)
		if len(list.Items) != 1 || list.Items[0].Name != "byhand" || list.Items[0].Status != "deployed" {
			t.Errorf("helm %d: the list is %+v", major, list.Items)
		}
		cancel()
		reading.Wait()
	}
}

// gate is a file that a script waits for.
type gate string

func newGate(t *testing.T) gate {
	t.Helper()
	return gate(filepath.Join(t.TempDir(), "gate"))
}

// await returns the shell command that waits until the gate is open.
func (g gate) await() string { return fmt.Sprintf("while [ ! -e %s ]; do sleep 0.05; done", string(g)) }

func (g gate) open(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(string(g), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// standIn returns a Helm that runs the script; see standIn in package helmcli.
func standIn(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "helm")
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo v4.3.2; exit 0; fi\n" + script + "\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// silentReader opens a stream and reads nothing until the test ends. Its receive
// buffer is small.
func (h *server) silentReader(t *testing.T, path string) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	if err := connection.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	return connection
}

// A viewer that reads nothing must not affect the others or the operation. The
// server is a separate process, so that its memory can be measured. The test is
// not parallel, because its readers need the whole CPU.
func TestFiveHundredReadersOfTwentyThousandLinesAndOneThatReadsNothing(t *testing.T) {
	const readers, lines = 500, 20_000
	// The lines start when all readers are connected. They are long enough that
	// no socket buffer holds them all.
	begin := newGate(t)
	script := fmt.Sprintf("%s; seq -f 'line %%.0f %s' 1 %d", begin.await(), strings.Repeat("x", 150), lines)
	h, namespace := startProgram(t, arguments{helm: standIn(t, script)}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})

	h.silentReader(t, answer.Events)

	var reading, connected sync.WaitGroup
	connected.Add(readers)
	for n := range readers {
		reading.Go(func() {
			response, err := h.client.Get(h.url + answer.Events)
			connected.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if n < 10 {
				checkLines(t, response.Body, lines)
			} else {
				countLines(t, response.Body, lines)
			}
		})
	}
	connected.Wait()
	begin.open(t)
	reading.Wait()
	used := memory(t, h.pid) >> 20
	t.Logf("the server uses %d MB after %d readers", used, readers)
	if used > 400 {
		t.Errorf("the server uses %d MB, want 400 at most", used)
	}
}

func TestAReaderThatReadsNothingIsDisconnected(t *testing.T) {
	t.Parallel()
	script := fmt.Sprintf("seq -f 'line %%.0f %s' 1 3000", strings.Repeat("x", 6000)) // more than socket buffers hold
	h, namespace := serveOn(t, arguments{helm: standIn(t, script)}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	silent := h.silentReader(t, answer.Events)
	eventually(t, "the silent reader is disconnected, which happens after 30 s", func() bool { return !established(t, silent) })
}

// checkLines checks that a stream holds every line once and in order, and ends.
func checkLines(t *testing.T, body io.Reader, lines int) {
	t.Helper()
	count, ended := 0, false
	scanner := bufio.NewScanner(body)
	for scanner.Scan() {
		text := scanner.Text()
		if strings.HasPrefix(text, "data: ") && strings.Contains(text, `"type":"LOG"`) {
			count++
			if !strings.Contains(text, `"line":"line `+strconv.Itoa(count)+` `) {
				t.Errorf("line %d is %.200s", count, text)
				return
			}
		}
		ended = ended || text == "event: COMPLETED"
	}
	if scanner.Err() != nil || count != lines || !ended {
		t.Errorf("a reader got %d lines, completed %v, error %v", count, ended, scanner.Err())
	}
}

// countLines checks that a stream holds the right number of lines, and ends. It
// is cheap enough for hundreds of readers.
func countLines(t *testing.T, body io.Reader, lines int) {
	t.Helper()
	log, completed := []byte("\nevent: LOG\n"), []byte("\nevent: COMPLETED\n")
	keep := len(completed) - 1
	buffer := make([]byte, 64<<10)
	filled, count, ended := 0, 0, 0
	for {
		n, err := body.Read(buffer[filled:])
		window := buffer[:filled+n]
		count += bytes.Count(window, log)
		ended += bytes.Count(window, completed)
		// Do not count these bytes again with the next part.
		rest := window[max(0, len(window)-keep):]
		count -= bytes.Count(rest, log)
		filled = copy(buffer, rest)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Error(err)
			return
		}
	}
	count += bytes.Count(buffer[:filled], log)
	if count != lines || ended != 1 {
		t.Errorf("a reader got %d lines and %d ends, want %d and 1", count, ended, lines)
	}
}

// established reports whether the other side of a local connection still holds it open
// (proc_pid_net(5), tcp: state 01).
func established(t *testing.T, c net.Conn) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	port := func(a net.Addr) string { return fmt.Sprintf(":%04X", a.(*net.TCPAddr).Port) }
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if strings.HasSuffix(fields[1], port(c.RemoteAddr())) && strings.HasSuffix(fields[2], port(c.LocalAddr())) {
			return fields[3] == "01"
		}
	}
	return false
}

func TestStoppingLeavesNoHelmAndKeepsTheSessions(t *testing.T) {
	t.Parallel()
	a := arguments{helm: standIn(t, "echo pid $$; sleep 300 & wait"), dataDir: t.TempDir(), more: []string{"--drain", "0s"}}
	h, namespace := serveOn(t, a), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	var pid int
	var seen []helmtrail.Event
	var stopping sync.WaitGroup
	err := h.frames(t.Context(), answer.Events, func(f frame) bool {
		var e helmtrail.Event
		if err := json.Unmarshal([]byte(f.data), &e); err != nil {
			t.Error(err)
			return false
		}
		if e.Type == helmtrail.TypeHeartbeat {
			return true
		}
		seen = append(seen, e)
		if line, ok := e.Body.(*helmtrail.LogLine); ok && strings.HasPrefix(line.Line, "pid ") {
			pid, _ = strconv.Atoi(line.Line[len("pid "):])
			stopping.Go(h.stop)
		}
		return true
	})
	stopping.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if kind, last := end(t, seen); kind != helmtrail.TypeFailed || last.Reason != helmtrail.ReasonInterrupted {
		t.Errorf("the session ended %s %+v, want FAILED, interrupted", kind, last)
	}
	if pid == 0 || !processEnded(pid) {
		t.Errorf("helm (process %d) is still there", pid)
	}
	left, err := os.ReadDir(filepath.Join(a.dataDir, "sessions"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}

	again := serveOn(t, a)
	if diff := cmp.Diff(seen, again.events(t.Context(), t, answer.Events, 1)); diff != "" {
		t.Errorf("the replay of the restarted helmtrail differs (-before +after):\n%s", diff)
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	tests := []struct {
		flag string
		args []string
	}{
		{"--auth", []string{"--listen", "0.0.0.0:0", "--auth", "none"}},
		{"--listen", []string{"--listen", "nonsense"}},
		{"--listen", []string{"--listen", "192.0.2.1:0", "--kubeconfig", clustertest.Kubeconfig(t)}},
		{"--auth", []string{"--auth", "maybe"}},
		{"--tls-cert", []string{"--tls-cert", "cert.pem"}},
		{"--tls-cert", []string{"--tls-cert", "/does/not/exist", "--tls-key", "/does/not/exist", "--kubeconfig", clustertest.Kubeconfig(t)}},
		{"--base-path", []string{"--base-path", "no slash"}},
		{"--pprof", []string{"--pprof", "0.0.0.0:6060"}},
		{"--cluster", []string{"--cluster", "nopath"}},
		{"--cluster", []string{"--cluster", "Upper=/does/not/exist"}},
		{"--drain", []string{"--drain", "-1s"}},
		{"--max-operations", []string{"--max-operations", "0"}},
		{"--max-operations-per-namespace", []string{"--max-operations-per-namespace", "-1"}},
		{"--max-operations-per-user", []string{"--max-operations-per-user", "-1"}},
		{"--max-deadline", []string{"--max-deadline", "59s"}},
		{"--helm-env", []string{"--helm-env", "novalue"}},
		{"--chart-dir", []string{"--chart-dir", "/does/not/exist"}},
		{"--log-level", []string{"--log-level", "loud"}},
		{"--no-such-flag", []string{"--no-such-flag"}},
		{"--kubeconfig", []string{"--kubeconfig", "/does/not/exist"}},
	}
	for _, test := range tests {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), slices.Concat([]string{"serve", "--data-dir", t.TempDir()}, test.args), &stdout, &stderr)
		if code == 0 || !strings.Contains(stderr.String(), test.flag) {
			t.Errorf("serve %v ended with %d and printed %q, want %s in it", test.args, code, stderr.String(), test.flag)
		}
	}
	t.Setenv("HELMTRAIL_DRAIN", "soon")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"serve"}, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), "HELMTRAIL_DRAIN") {
		t.Errorf("a bad HELMTRAIL_DRAIN ended with %d and printed %q", code, stderr.String())
	}
}

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// crowd is the number of clients of each kind.
const crowd = 5000

// BenchmarkCrowd connects 5,000 long polls of one release and 5,000 readers of
// one session's stream to one helmtrail in a separate process. It measures their
// cost while nothing happens, and the time until all of them have received a
// change.
func BenchmarkCrowd(b *testing.B) {
	gate := filepath.Join(b.TempDir(), "gate")
	script := "#!/bin/sh\nif [ \"$1\" = version ]; then echo v4.3.2; exit 0; fi\n" +
		fmt.Sprintf("while [ ! -e %s ]; do sleep 0.02; done; echo the line; while [ ! -e %s.end ]; do sleep 0.1; done\n", gate, gate)
	helm := filepath.Join(b.TempDir(), "helm")
	if err := os.WriteFile(helm, []byte(script), 0o700); err != nil {
		b.Fatal(err)
	}
	h, pid := crowded(b, helm)
	namespace, chart := clustertest.Namespace(b), clustertest.Chart(b)
	clustertest.Helm(b, 4, "install", "polled", chart, "--namespace", namespace)
	releases := fmt.Sprintf("%s/%s/namespaces/%s/releases", h.url, h.cluster, namespace)
	answer, err := h.client.Post(releases, "application/json", strings.NewReader(`{"name":"streamed","chart":{"ref":"web"},"options":{"timeoutSeconds":3600}}`))
	if err != nil {
		b.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		b.Fatalf("the install answered %d", answer.StatusCode)
	}
	first, err := h.client.Get(releases + "/polled")
	if err != nil {
		b.Fatal(err)
	}
	first.Body.Close()

	for b.Loop() {
		var polling, reading, sent, connected sync.WaitGroup
		polls, streams := make([]time.Time, crowd), make([]time.Time, crowd)
		base := memory(b, pid)
		sent.Add(crowd)
		for n := range crowd {
			polling.Go(func() { polls[n] = longPoll(b, h, releases+"/polled", first.Header.Get("ETag"), sent.Done) })
		}
		sent.Wait()
		b.ReportMetric(idle(b, pid), "cpu-%/polls")
		polled := memory(b, pid)
		b.ReportMetric(float64(polled-base)/crowd/1024, "KB/poll")
		connected.Add(crowd)
		for n := range crowd {
			reading.Go(func() { streams[n] = readLine(b, h, releases+"/streamed/events", connected.Done) })
		}
		connected.Wait()
		b.ReportMetric(idle(b, pid), "cpu-%/polls+streams")
		b.ReportMetric(float64(memory(b, pid)-polled)/crowd/1024, "KB/stream")

		clustertest.Helm(b, 4, "upgrade", "polled", chart, "--namespace", namespace, "--set", "replicas=2")
		polling.Wait()
		spread(b, "polls", slices.MinFunc(polls, time.Time.Compare), polls)
		begun := time.Now()
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		reading.Wait()
		spread(b, "streams", begun, streams)
	}
	if err := os.WriteFile(gate+".end", nil, 0o600); err != nil {
		b.Fatal(err)
	}
}

// crowded runs the program as a separate process.
func crowded(b *testing.B, helm string) (*server, int) {
	b.Helper()
	command := exec.Command(clustertest.Binary(b, "helmtrail"), "serve", "--kubeconfig", clustertest.Kubeconfig(b), "--listen", "127.0.0.1:0",
		"--helm", helm, "--data-dir", b.TempDir(), "--chart-dir", filepath.Dir(clustertest.Chart(b)), "--drain", "0s")
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	h := &server{client: &http.Client{Transport: &http.Transport{MaxIdleConns: 1}}}
	b.Cleanup(func() {
		h.client.CloseIdleConnections()
		if err := command.Process.Signal(os.Interrupt); err != nil {
			b.Error(err)
		}
		_ = command.Wait() // the measurements are done
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	_, address, _ := strings.Cut(line, "http://")
	host, _, _ := strings.Cut(address, "/")
	h.url = "http://" + host
	limit := time.Now().Add(time.Minute)
	for {
		var clusters bytes.Buffer
		ready, err := h.client.Get(h.url + "/readyz")
		if err == nil {
			ready.Body.Close()
		}
		if err == nil && ready.StatusCode == http.StatusOK {
			list, err := h.client.Get(h.url + "/clusters")
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(&clusters, list.Body)
			list.Body.Close()
			_, id, _ := strings.Cut(clusters.String(), `"id":"`)
			h.cluster, _, _ = strings.Cut(id, `"`)
			return h, command.Process.Pid
		}
		if time.Now().After(limit) {
			b.Fatalf("not ready within a minute: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// readLine reads a stream up to helm's line, and returns the time of its arrival.
func readLine(b *testing.B, h *server, url string, connected func()) time.Time {
	response, err := h.client.Get(url)
	connected()
	if err != nil {
		b.Error(err)
		return time.Time{}
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 512)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			b.Error(err)
			return time.Time{}
		}
		if bytes.HasPrefix(line, []byte("event: LOG")) {
			return time.Now()
		}
	}
}

// longPoll waits until a release changes, and returns the time of the response.
func longPoll(b *testing.B, h *server, url, tag string, sent func()) time.Time {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url+"?wait=60", nil)
	if err != nil {
		b.Error(err)
		sent()
		return time.Time{}
	}
	request.Header.Set("If-None-Match", tag)
	sent()
	for {
		response, err := h.client.Do(request)
		if err != nil {
			b.Error(err)
			return time.Time{}
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		switch response.StatusCode {
		case http.StatusOK:
			return time.Now()
		case http.StatusNotModified:
		default:
			b.Errorf("a poll answered %d", response.StatusCode)
			return time.Time{}
		}
	}
}

// spread reports when half, 99 of 100 and all clients had received the change.
func spread(b *testing.B, who string, begun time.Time, seen []time.Time) {
	slices.SortFunc(seen, time.Time.Compare)
	for name, at := range map[string]int{"half": crowd / 2, "p99": crowd * 99 / 100, "all": crowd - 1} {
		b.ReportMetric(float64(seen[at].Sub(begun).Microseconds())/1000, "ms/"+name+"-"+who)
	}
}

// memory returns the memory of a process in bytes (proc_pid_status(5), VmRSS).
func memory(b testing.TB, pid int) int {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes << 10
}

// idle returns the share of a core that a process uses over ten seconds, in percent
// (proc_pid_stat(5), utime and stime in hundredths of a second).
func idle(b *testing.B, pid int) float64 {
	b.Helper()
	used := func() (ticks int) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		for _, field := range fields[11:13] {
			n, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			ticks += n
		}
		return ticks
	}
	const seconds = 10
	time.Sleep(5 * time.Second) // until all clients have connected
	before := used()
	time.Sleep(seconds * time.Second)
	return float64(used()-before) / seconds
}

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// mostMemory is the limit in docs/operations.md, in bytes.
const mostMemory = 500 << 20

// hostileRecords are records that take as much memory as possible when they are
// decoded and masked, from Secrets of some kilobytes. Those with "refused" are
// larger than any record may be.
func hostileRecords() map[string]string {
	object := func(config, manifest string) string {
		return `{"name":"x","info":{"status":"deployed","description":"not one of Helm's own sentences"},"chart":{"metadata":{"name":"x","version":"1"}},` +
			`"config":` + config + `,"manifest":"` + manifest + `","version":1}`
	}
	quoted := strings.NewReplacer("\n", `\n`, `"`, `\"`)
	return map[string]string{
		"numbers-refused": object(`{"a":[`+strings.Repeat("1,", 5<<20)+`1]}`, ""),
		"bytes-refused":   object(`{"a":"`+strings.Repeat("x", 60<<20)+`"}`, ""),
		"numbers":         object(`{"a":[`+strings.Repeat("1,", 190_000)+`1]}`, ""),
		"objects":         object(`{"a":[`+strings.Repeat(`{"a":1},`, 64_000)+`1]}`, ""),
		"texts":           object(`{"a":[`+strings.Repeat(`"`+strings.Repeat("y", 70)+`",`, 180_000)+`1]}`, ""),
		"secrets":         object(`{"password":[`+strings.Repeat(`"0123456789",`, 60_000)+`1]}`, ""),
		"manifest":        object(`{}`, strings.Repeat("x", 15<<20)),
		"document":        object(`{}`, quoted.Replace("kind: ConfigMap\ndata:\n"+strings.Repeat("- a: 1\n", 60_000)+"- password: abcdefgh\n")),
	}
}

// createHostile stores the records in a namespace, each in some releases.
func createHostile(t *testing.T, namespace string, copies int) (releases []string) {
	t.Helper()
	for name, record := range hostileRecords() {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, record); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data := []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
		for copy := range copies {
			release := fmt.Sprintf("%s-%d", name, copy)
			createRecord(t, namespace, release, data)
			releases = append(releases, release)
		}
	}
	return releases
}

func createRecord(t *testing.T, namespace, release string, data []byte) {
	t.Helper()
	_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "sh.helm.release.v1." + release + ".v1",
			Labels: map[string]string{"owner": "helm", "name": release, "version": "1", "status": "deployed"},
		},
		Type: "helm.sh/release.v1", Data: map[string][]byte{"release": data},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// peak returns the most memory that a process has ever had, in bytes
// (proc_pid_status(5), VmHWM).
func peak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// Whoever may create Secrets in one namespace can store records that are small
// and become huge. Neither the watch, nor any number of readers, nor the next
// start may take more memory than documented, and other tenants are still served.
func TestHostileRecordsDoNotExhaustTheServer(t *testing.T) {
	namespace, other := clustertest.Namespace(t), clustertest.Namespace(t)
	clustertest.Helm(t, 4, "install", "web", clustertest.Chart(t), "--namespace", other)
	a := arguments{helm: clustertest.Binary(t, "helm4"), dataDir: t.TempDir()}
	h := startProgram(t, a)
	t.Logf("the server uses %d MB when it has started", peak(t, h.pid)>>20)

	releases := createHostile(t, namespace, 3)
	watches := func(h *server) {
		t.Helper()
		for _, release := range releases {
			h.waitFor(t, h.release(namespace, release))
		}
		h.waitFor(t, h.release(other, "web"))
		t.Logf("the server uses %d MB at most for watching the records", peak(t, h.pid)>>20)
	}
	watches(h)

	paths := []string{
		"/revisions/1/values?all=true", "/revisions/1/raw", "/revisions/1/manifest", "/revisions/1/values?all=true",
		"/history", "/diff?from=1&to=1", "/resources", "/drift",
	}
	var mu sync.Mutex
	answers := map[int]int{}
	count := func(status int) {
		mu.Lock()
		defer mu.Unlock()
		answers[status]++
	}
	attack := func(readers, each int) {
		var reading sync.WaitGroup
		for n := range readers {
			reading.Go(func() {
				for i := range each {
					k := n*each + i
					ctx, leave := t.Context(), func() {}
					if k%3 == 0 {
						// Every third reader leaves before it has an answer.
						ctx, leave = context.WithTimeout(ctx, time.Duration(50+k%7*100)*time.Millisecond)
					}
					path := h.release(namespace, releases[k%len(releases)]) + paths[k/len(releases)%len(paths)]
					status := h.read(ctx, t, path)
					leave()
					count(status)
					if status == http.StatusInternalServerError {
						t.Errorf("%s answered %d", path, status)
					}
				}
			})
		}
		reading.Wait()
	}
	var attacking sync.WaitGroup
	attacking.Go(func() { attack(40, 4) })
	// A reader of another tenant's release is served while the attack goes on.
	done := make(chan struct{})
	go func() { attacking.Wait(); close(done) }()
	served := 0
	for attacked := true; attacked; served++ {
		if status := h.read(t.Context(), t, h.release(other, "web")+"/revisions/1/values"); status != http.StatusOK {
			t.Errorf("a reader of another tenant's release got %d", status)
		}
		select {
		case <-done:
			attacked = false
		default:
		}
	}
	used := peak(t, h.pid)
	t.Logf("the server uses %d MB at most under attack; answers by status, 0 for readers that left: %v; %d answers to another tenant", used>>20, answers, served)
	if used > mostMemory {
		t.Errorf("the server used %d MB, want at most %d", used>>20, mostMemory>>20)
	}
	for status := range answers {
		switch status {
		case 0, http.StatusOK, http.StatusUnprocessableEntity, http.StatusServiceUnavailable:
		default:
			t.Errorf("%d answers have the status %d", answers[status], status)
		}
	}

	h.stop()
	h = startProgram(t, a)
	watches(h)
	if used := peak(t, h.pid); used > mostMemory {
		t.Errorf("the next start used %d MB, want at most %d", used>>20, mostMemory>>20)
	}
}

// read reads an answer to its end and returns its status, 0 if ctx ended before.
func (h *server) read(ctx context.Context, t *testing.T, path string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/yaml, application/json;q=0.9, text/plain;q=0.8")
	response, err := h.client.Do(request)
	if err == nil {
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
	}
	if err != nil && ctx.Err() == nil {
		t.Errorf("read %s: %v", path, err)
	}
	if err != nil {
		return 0
	}
	return response.StatusCode
}

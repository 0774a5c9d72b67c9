package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// bufferingProxy is a proxy that holds answers back until it has all of them or
// a lot, unless it is told not to, as nginx does
// (https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering).
func bufferingProxy(t *testing.T, target string) (url string) {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		request.Header = r.Header.Clone()
		response, err := transport.RoundTrip(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		for name, values := range response.Header {
			if name != "X-Accel-Buffering" { // it is the proxy's own
				w.Header()[name] = values
			}
		}
		if response.Header.Get("X-Accel-Buffering") != "no" {
			w.Header().Set("X-Proxy-Buffered", "yes")
			w.WriteHeader(response.StatusCode)
			all := bufio.NewWriterSize(w, 1<<20)
			_, _ = io.Copy(all, response.Body) // either side may leave
			_ = all.Flush()
			return
		}
		w.WriteHeader(response.StatusCode)
		control := http.NewResponseController(w)
		part := make([]byte, 4096)
		for {
			n, err := response.Body.Read(part)
			if _, writeErr := w.Write(part[:n]); err != nil || writeErr != nil || control.Flush() != nil {
				return
			}
		}
	}))
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// Compression and buffering on the way held events back until the end, and
// heartbeats for ever: https://github.com/gin-contrib/gzip/issues/16,
// https://github.com/nginx/nginx/issues/1505.
func TestEventsPassABufferingProxyAtOnce(t *testing.T) {
	// helm says nothing for some heartbeats.
	h, namespace := serveOn(t, arguments{helm: standIn(t, "sleep 7; echo late")}), clustertest.Namespace(t)
	proxy := bufferingProxy(t, h.url)
	open := func(path string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip, br")
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	if plain := open("/openapi.yaml"); plain.Header.Get("X-Proxy-Buffered") != "yes" || plain.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the proxy does not buffer a plain answer, or it is not compressed: %v", plain.Header)
	}

	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	events := open(answer.Events)
	if head := events.Header; head.Get("Content-Encoding") != "" || head.Get("Cache-Control") != "no-cache" || head.Get("X-Proxy-Buffered") != "" {
		t.Errorf("the stream came with %v", head)
	}
	// What is held back comes together with the only line, for which helm takes
	// seven seconds.
	var started, late time.Time
	var beats []time.Time
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "event: STARTED"):
			started = time.Now()
		case strings.HasPrefix(text, "event: HEARTBEAT"):
			beats = append(beats, time.Now())
		case strings.Contains(text, `"line":"late"`):
			late = time.Now()
		}
	}
	if started.IsZero() || late.Sub(started) < 3*time.Second {
		t.Errorf("STARTED came %v before the only line", late.Sub(started))
	}
	// One comes at once, then one every two seconds.
	if len(beats) < 4 || beats[3].Sub(beats[0]) < 3*time.Second {
		t.Errorf("heartbeats came at %v", beats)
	}

	begun := time.Now()
	cluster := bufio.NewScanner(open("/" + h.cluster + "/releases/events").Body)
	for cluster.Scan() && !strings.HasPrefix(cluster.Text(), "event: HEARTBEAT") {
	}
	if took := time.Since(begun); took > atOnce {
		t.Errorf("the cluster's first heartbeat came after %v", took)
	}
}

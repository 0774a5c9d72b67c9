package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// bufferingProxy is a proxy that delays a response until it has all or much of it,
// unless X-Accel-Buffering is no. nginx does the same
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
			if name != "X-Accel-Buffering" { // it is meant for the proxy
				w.Header()[name] = values
			}
		}
		if response.Header.Get("X-Accel-Buffering") != "no" {
			w.Header().Set("X-Proxy-Buffered", "yes")
			w.WriteHeader(response.StatusCode)
			all := bufio.NewWriterSize(w, 1<<20)
			_, _ = io.Copy(all, response.Body) // either side may disconnect
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

// Compression and buffering by a proxy delay events until the end, and heartbeats
// forever: https://github.com/gin-contrib/gzip/issues/16,
// https://github.com/nginx/nginx/issues/1505.
func TestEventsPassABufferingProxyAtOnce(t *testing.T) {
	t.Parallel()
	// helm prints its only line after everything before it has arrived.
	goOn := newGate(t)
	h, namespace := serveOn(t, arguments{helm: standIn(t, goOn.await()+"; echo late")}), clustertest.Namespace(t)
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
	if head := events.Header; head.Get("Content-Encoding") != "" || head.Get("Cache-Control") != "private, no-cache" || head.Get("X-Proxy-Buffered") != "" {
		t.Errorf("the stream has the headers %v", head)
	}
	// The first heartbeat arrives at once, the others every two seconds.
	started, late, beats := false, false, 0
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		switch text := lines.Text(); {
		case strings.HasPrefix(text, "event: STARTED"):
			started = true
		case strings.HasPrefix(text, "event: HEARTBEAT"):
			if beats++; started && beats == 3 {
				goOn.open(t)
			}
		case strings.Contains(text, `"line":"late"`):
			late = true
		}
	}
	if !started || !late {
		t.Errorf("STARTED arrived: %v, the only line: %v", started, late)
	}

	cluster := bufio.NewScanner(open("/" + h.cluster + "/releases/events").Body)
	for cluster.Scan() && !strings.HasPrefix(cluster.Text(), "event: HEARTBEAT") {
	}
	if err := cluster.Err(); err != nil {
		t.Errorf("the cluster's stream has no heartbeat: %v", err)
	}
}

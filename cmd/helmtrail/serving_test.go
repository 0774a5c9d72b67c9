package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// writeCertificate writes a self-signed certificate with a serial number, and its
// key, into two files in a folder.
func writeCertificate(t *testing.T, folder string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	for name, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestTheCertificateIsReadAgainWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		certFile, keyFile := writeCertificate(t, folder, 1)
		c, err := loadCertificate(certFile, keyFile, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		serial := func() int64 {
			pair, err := c.get(nil)
			if err != nil {
				t.Fatal(err)
			}
			return pair.Leaf.SerialNumber.Int64()
		}
		if got := serial(); got != 1 {
			t.Errorf("serial %d, want 1", got)
		}
		writeCertificate(t, folder, 2)
		later := time.Now().Add(time.Minute)
		for _, name := range []string{certFile, keyFile} {
			if err := os.Chtimes(name, later, later); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(certificateCheck)
		if got := serial(); got != 2 {
			t.Errorf("serial %d after the change, want 2", got)
		}
		if err := os.WriteFile(keyFile, []byte("half a k"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(certificateCheck)
		if got := serial(); got != 2 {
			t.Errorf("serial %d while the key is broken, want 2 still", got)
		}
	})
}

func TestHTTP2WithAndWithoutTLS(t *testing.T) {
	for _, secure := range []bool{false, true} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var pair *certificate
		if secure {
			certFile, keyFile := writeCertificate(t, t.TempDir(), 1)
			if pair, err = loadCertificate(certFile, keyFile, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		}
		server := newHTTPServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }), slog.New(slog.DiscardHandler))
		done := make(chan error, 1)
		go func() { done <- serveHTTP(server, listener, pair) }()
		scheme := "http"
		if secure {
			scheme = "https"
		}
		for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
			transport := &http.Transport{Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			transport.Protocols.SetHTTP1(protocol == "HTTP/1.1")
			transport.Protocols.SetHTTP2(protocol == "HTTP/2.0")
			transport.Protocols.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
			response, err := (&http.Client{Transport: transport}).Get(scheme + "://" + listener.Addr().String())
			if err != nil {
				t.Errorf("%s, TLS %v: %v", protocol, secure, err)
				continue
			}
			answer, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || string(answer) != protocol {
				t.Errorf("%s, TLS %v: served as %s, %v", protocol, secure, answer, err)
			}
			transport.CloseIdleConnections()
		}
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
}

// A header has room for a token and the cookies of many clusters, but not much more.
func TestHeadersAreBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newHTTPServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), slog.New(slog.DiscardHandler))
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { server.Close() })
	for size, want := range map[int]int{120 << 10: http.StatusOK, 140 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Cookie", "many="+strings.Repeat("x", size))
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a header of %d bytes: %d, want %d", size, response.StatusCode, want)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// This test serves over TLS: pages and streams over HTTP/2, a certificate that is
// replaced as in a mounted Secret, and the profiles.
func TestServingOverTLS(t *testing.T) {
	t.Parallel()
	folder, profiles := t.TempDir(), freeAddress(t)
	mounted := filepath.Join(folder, "..data")
	renew := func(serial int64) {
		t.Helper()
		version := filepath.Join(folder, fmt.Sprint("version", serial))
		if err := os.Mkdir(version, 0o700); err != nil {
			t.Fatal(err)
		}
		writeCertificate(t, version, serial)
		if err := os.Symlink(version, mounted+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(mounted+".new", mounted); err != nil {
			t.Fatal(err)
		}
	}
	renew(1)
	h := serveOn(t, arguments{helm: standIn(t, "echo first; echo last"), wait: "/healthz", more: []string{
		"--tls-cert", filepath.Join(mounted, "tls.crt"), "--tls-key", filepath.Join(mounted, "tls.key"), "--pprof", profiles,
	}})
	h.waitReady(t)
	ask := func(path string) *http.Response {
		t.Helper()
		response, err := h.client.Get(h.url + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}
	page := ask("/helm/releases")
	if page.StatusCode != http.StatusOK || page.Proto != "HTTP/2.0" || page.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("the page has %s %d %v", page.Proto, page.StatusCode, page.Header)
	}
	namespace := clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	if kind, last := end(t, h.events(t.Context(), t, answer.Events, 1)); kind != helmtrail.TypeCompleted {
		t.Errorf("the session ended %s: %s", kind, last.Message)
	}
	renew(2)
	eventually(t, "the new certificate", func() bool {
		h.client.CloseIdleConnections()
		return ask("/healthz").TLS.PeerCertificates[0].SerialNumber.Int64() == 2
	})
	index, err := http.Get("http://" + profiles + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	defer index.Body.Close()
	if text, err := io.ReadAll(index.Body); err != nil || index.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("goroutine profile")) {
		t.Errorf("the profile is %d %.100s, %v", index.StatusCode, text, err)
	}
	if public := ask("/debug/pprof/"); public.StatusCode != http.StatusNotFound {
		t.Errorf("the profiles are served on the public address: %d", public.StatusCode)
	}
}

// freeAddress returns a loopback address that is not in use.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Every response is compressed if the client accepts that, except streams, whose frames
// must arrive at once. The server has a base path.
func TestServingBelowAPath(t *testing.T) {
	t.Parallel()
	more := newGate(t)
	h, namespace := serveOn(t, arguments{helm: standIn(t, "echo first; "+more.await()+"; echo last"), more: []string{"--base-path", "/tools/trail"}}), clustertest.Namespace(t)
	get := func(path string) *http.Response {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := h.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	plain := get("/tools/trail/openapi.yaml")
	if plain.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("the description has the headers %q", plain.Header)
	} else if body, err := gzip.NewReader(plain.Body); err != nil {
		t.Error(err)
	} else if text, err := io.ReadAll(body); err != nil || !bytes.HasPrefix(text, []byte("openapi:")) {
		t.Errorf("the description is %.40s, %v", text, err)
	}

	answer := h.submit(t, http.MethodPost, "/tools/trail"+h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	if !strings.HasPrefix(answer.Events, "/tools/trail/") || !strings.HasPrefix(answer.Page, "/tools/trail/helm/events/") {
		t.Errorf("the paths are not below the base path: %+v", answer)
	}
	events := get(answer.Events)
	if h := events.Header; h.Get("Content-Encoding") != "" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("the stream has the headers %v", h)
	}
	// helm prints its last line only after the first one has arrived.
	var seen []string
	lines := bufio.NewScanner(events.Body)
	for lines.Scan() {
		for _, line := range []string{"first", "last"} {
			if strings.Contains(lines.Text(), `"line":"`+line+`"`) {
				seen = append(seen, line)
				more.open(t)
			}
		}
	}
	if diff := cmp.Diff([]string{"first", "last"}, seen); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

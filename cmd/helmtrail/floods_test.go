package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// connect opens a connection that is closed when the test ends.
func (h *server) connect(t *testing.T) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

// Headers that are too large are refused, and headers that never end are given up,
// while others are served.
func TestHeaderFloodsAreCutOff(t *testing.T) {
	t.Parallel()
	h := startProgram(t, arguments{helm: clustertest.Binary(t, "helm4")})
	before := peak(t, h.pid)
	for range 20 {
		connection := h.connect(t)
		fmt.Fprint(connection, "GET /me HTTP/1.1\r\nHost: localhost\r\n")
		// The server closes the connection, so a later write may fail.
		for n := range 300 {
			if _, err := fmt.Fprintf(connection, "X-%d: %s\r\n", n, strings.Repeat("x", 1000)); err != nil {
				break
			}
		}
		fmt.Fprint(connection, "\r\n")
		if response, err := http.ReadResponse(bufio.NewReader(connection), nil); err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("300 KB of headers are answered with %d", response.StatusCode)
			}
		}
	}
	const slow = 1000
	begun := time.Now()
	var connections []net.Conn
	for range slow {
		connection := h.connect(t)
		fmt.Fprint(connection, "GET /me HTTP/1.1\r\nHost: localhost\r\nX-A: ")
		connections = append(connections, connection)
	}
	var me struct{}
	h.get(t, "/me", &me)
	for _, connection := range connections {
		if err := connection.SetReadDeadline(begun.Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, connection); err != nil {
			t.Fatalf("a header that never ends keeps its connection for %v: %v", time.Since(begun), err)
		}
	}
	if grown := peak(t, h.pid) - before; grown > 100<<20 {
		t.Errorf("the floods took %d MB", grown>>20)
	}
}

// Thousands of viewers who read nothing neither exhaust the memory nor delay others.
func TestThousandsOfReadersWhoReadNothing(t *testing.T) {
	const readers = 2000
	h, namespace := startProgram(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	answer := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
	for n := range readers {
		path := answer.Events
		if n%2 == 0 {
			path = "/" + h.cluster + "/releases/events"
		}
		h.silentReader(t, path)
	}
	end(t, h.events(t.Context(), t, answer.Events, 1))
	for n := range 20 {
		upgrade := h.submit(t, http.MethodPut, h.release(namespace, "web"), object{"chart": object{"ref": "web"}, "values": object{"replicas": n % 3}, "options": object{"dryRun": "client"}})
		end(t, h.events(t.Context(), t, upgrade.Events, 1))
	}
	used := peak(t, h.pid)
	t.Logf("with %d silent readers the server uses %d MB", readers, used>>20)
	if used > 500<<20 {
		t.Errorf("the server uses %d MB", used>>20)
	}
}

// A Secret may have as many labels as fit into a request to the API server.
func TestASecretOfManyLabels(t *testing.T) {
	t.Parallel()
	h, namespace := startProgram(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	before := peak(t, h.pid)
	for n := range 5 {
		name := fmt.Sprint("labels-", n)
		labels := map[string]string{"owner": "helm", "name": name, "version": "1", "status": "deployed"}
		for i := range 30_000 {
			labels[fmt.Sprint("l", i)] = "x"
		}
		_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "sh.helm.release.v1." + name + ".v1", Labels: labels},
			Type:       "helm.sh/release.v1", Data: map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString([]byte("{}")))},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ Items []item }
	eventually(t, "all five releases are listed", func() bool {
		h.get(t, h.releases(namespace), &list)
		return len(list.Items) == 5
	})
	if grown := peak(t, h.pid) - before; grown > 200<<20 {
		t.Errorf("five Secrets of 30,000 labels took %d MB", grown>>20)
	}
}

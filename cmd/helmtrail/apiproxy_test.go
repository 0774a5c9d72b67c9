package main

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// fault is a way in which a request fails.
type fault int

const (
	// conflict is the error that two writers of one object get.
	conflict fault = iota
	// leaderChanged is etcd's error while it elects another leader.
	leaderChanged
	// lost breaks the connection.
	lost
)

// apiProxy is a proxy for the API server that makes chosen requests fail.
type apiProxy struct {
	kubeconfig string // reaches the cluster through the proxy

	mu    sync.Mutex
	rules []*rule
}

// rule makes the next requests of a method fail whose path contains a text. A |
// separates several methods. times is the number of requests that fail.
type rule struct {
	methods, path string
	fault         fault
	times         int
}

// connection is the context key of a request's connection.
type connection struct{}

func startProxy(t *testing.T) *apiProxy {
	t.Helper()
	config := clustertest.Config(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // a watch's events must not wait
		ErrorLog:      log.New(io.Discard, "", 0),
	}
	p := &apiProxy{kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f, ok := p.next(r); ok {
			f.answer(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	server.EnableHTTP2 = true
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connection{}, c)
	}
	server.Config.ErrorLog = forward.ErrorLog
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})

	through := clientcmdapi.NewConfig()
	through.CurrentContext = "proxied"
	through.Contexts["proxied"] = &clientcmdapi.Context{Cluster: "proxied", AuthInfo: "proxied"}
	through.Clusters["proxied"] = &clientcmdapi.Cluster{
		Server:                   server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
	}
	through.AuthInfos["proxied"] = &clientcmdapi.AuthInfo{}
	if err := clientcmd.WriteToFile(*through, p.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return p
}

// fail adds a rule.
func (p *apiProxy) fail(r rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, &r)
}

// next returns the fault for a request, if any.
func (p *apiProxy) next(request *http.Request) (fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if r.times > 0 && strings.Contains("|"+r.methods+"|", "|"+request.Method+"|") && strings.Contains(request.URL.Path, r.path) {
			r.times--
			return r.fault, true
		}
	}
	return 0, false
}

// answer responds in place of the API server, as in case of the fault.
func (f fault) answer(w http.ResponseWriter, r *http.Request) {
	status := func(code int, reason, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
	switch f {
	case conflict:
		status(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on resourcequotas \"team\": the object has been modified; please apply your changes to the latest version and try again")
	case leaderChanged:
		status(http.StatusInternalServerError, "InternalError", "etcdserver: leader changed")
	case lost:
		// Closing it like this resets the connection.
		c := r.Context().Value(connection{}).(net.Conn)
		if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok {
			c = wrapped.NetConn()
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

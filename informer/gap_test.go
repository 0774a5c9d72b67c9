package informer_test

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// cut is how a proxy separates client and server.
type cut int

const (
	// opened lets everything through.
	opened cut = iota
	// talksNonsense answers with something that is not TLS. A client then fails
	// at once and lists again.
	talksNonsense
	// hangsUp closes each connection.
	hangsUp
)

// proxy stands between the informer and the API server and can separate them.
type proxy struct {
	listener net.Listener
	server   string
	running  sync.WaitGroup

	mu          sync.Mutex
	cut         cut
	connections map[net.Conn]bool
}

// startProxy returns a running proxy and a kubeconfig that leads through it.
func startProxy(t testing.TB) (*proxy, string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, server: server.Host, connections: map[net.Conn]bool{}}
	cluster.TLSServerName = server.Hostname()
	cluster.Server = "https://" + listener.Addr().String()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	p.running.Go(p.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		p.set(hangsUp)
		p.running.Wait()
	})
	return p, path
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !p.keep(client, server) {
			_ = server.Close()
			continue
		}
		p.running.Go(func() { p.copy(client, server) })
		p.running.Go(func() { p.copy(server, client) })
	}
}

// keep registers connections so that they can be closed later. If the proxy is
// cut, it closes the client's.
func (p *proxy) keep(client, server net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.cut {
	case talksNonsense:
		_, _ = io.WriteString(client, "go away\n")
		_ = client.Close()
		return false
	case hangsUp:
		_ = client.Close()
		return false
	}
	p.connections[client], p.connections[server] = true, true
	return true
}

func (p *proxy) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, to)
	delete(p.connections, from)
}

// set changes how the proxy separates client and server. Unless how is opened,
// it also closes all connections.
func (p *proxy) set(how cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = how
	if how != opened {
		for c := range p.connections {
			_ = c.Close()
		}
	}
}

func waitReachable(t testing.TB, c *informer.Cluster, want bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for c.Health().Reachable != want {
		if time.Now().After(deadline) {
			t.Fatalf("reachable is not %v: %+v", want, c.Health())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A broken watch loses nothing and repeats nothing: missed changes are reported
// once, marked late, with their records. Unchanged revisions are not reported.
func TestRelistReportsMissedChangesOnceAndLate(t *testing.T) {
	p, kubeconfig := startProxy(t)
	c := open(t, kubeconfig)
	run(t, c)
	waitSynced(t, c)
	ns := clustertest.Namespace(t)
	reported := map[string]*journal{}
	for _, release := range []string{"web", "removed", "unchanged", "new"} {
		reported[release] = newJournal()
		defer c.Observe(ns, release, reported[release].add)()
	}
	chart := clustertest.Chart(t)
	clustertest.Helm(t, 4, "install", "web", chart, "-n", ns)
	reported["web"].same(t, "1 pending-install", "1 pending-install -> deployed")
	create(t, ns, releaseSecret("unchanged", 1, decoder.StatusDeployed))
	reported["unchanged"].same(t, "1 deployed")
	for n, status := range []decoder.Status{decoder.StatusSuperseded, decoder.StatusSuperseded, decoder.StatusDeployed} {
		create(t, ns, releaseSecret("removed", n+1, status))
	}
	reported["removed"].same(t, "1 superseded", "2 superseded", "3 deployed")

	p.set(talksNonsense)
	waitReachable(t, c, false)
	clustertest.Helm(t, 4, "upgrade", "web", chart, "-n", ns, "--set", "tag=2", "--description", "while nobody watched")
	create(t, ns, releaseSecret("new", 1, decoder.StatusFailed))
	for _, name := range []string{"v1", "v2", "v3"} {
		remove(t, ns, "sh.helm.release.v1.removed."+name)
	}
	p.set(opened)

	reported["new"].same(t, "1 failed late")
	reported["web"].until(t, "2 deployed late")
	reported["web"].find(t, "1 deployed -> superseded late")
	missed := reported["web"].find(t, "2 deployed late").Revision
	if missed.Header == nil || missed.Header.Description != "while nobody watched" || missed.Digest == "" {
		t.Errorf("the missed state was reported without its record: %+v", missed)
	}
	barrier(t, c, ns, "barrier")
	waitReachable(t, c, true)

	lines := func(release string) map[string]int {
		reported[release].mu.Lock()
		defer reported[release].mu.Unlock()
		count := map[string]int{}
		for _, transition := range reported[release].all {
			count[line(transition)]++
		}
		return count
	}
	want := map[string]map[string]int{
		"web": {
			"1 pending-install": 1, "1 pending-install -> deployed": 1,
			"1 deployed -> superseded late": 1, "2 deployed late": 1,
		},
		"removed": {
			"1 superseded": 1, "2 superseded": 1, "3 deployed": 1,
			"1 pruned late": 1, "2 pruned late": 1, "3 removed late": 1,
		},
		"unchanged": {"1 deployed": 1},
		"new":       {"1 failed late": 1},
	}
	for release, expected := range want {
		if diff := cmp.Diff(expected, lines(release)); diff != "" {
			t.Errorf("transitions of %s (-want +got):\n%s", release, diff)
		}
	}
	if got := c.Revisions(ns, "removed"); len(got) != 0 {
		t.Errorf("%d revisions of the removed release are left", len(got))
	}
}

// An API server that returns unchanged after an outage causes no transitions;
// see https://github.com/kubernetes/client-go/issues/529.
func TestRelistOfUnchangedReleasesReportsNothing(t *testing.T) {
	t.Parallel()
	p, kubeconfig := startProxy(t)
	ns := clustertest.Namespace(t)
	for n := range 20 {
		create(t, ns, releaseSecret("web", n+1, decoder.StatusSuperseded))
	}
	c := open(t, kubeconfig)
	run(t, c)
	waitSynced(t, c)
	reported := newJournal()
	defer c.Observe(ns, "web", reported.add)()
	p.set(talksNonsense)
	waitReachable(t, c, false)
	p.set(opened)
	waitReachable(t, c, true)
	barrier(t, c, ns, "barrier")
	reported.mu.Lock()
	defer reported.mu.Unlock()
	if len(reported.lines) > 0 {
		t.Errorf("reported %q", reported.lines)
	}
	if got := c.Revisions(ns, "web"); len(got) != 20 {
		t.Errorf("%d revisions, want 20", len(got))
	}
}

// A load balancer without a backend accepts connections and closes them.
// client-go mistakes that for an answer.
func TestServerThatHangsUpIsUnreachable(t *testing.T) {
	t.Parallel()
	p, kubeconfig := startProxy(t)
	c := open(t, kubeconfig)
	run(t, c)
	waitSynced(t, c)
	ns := clustertest.Namespace(t)
	reported := newJournal()
	defer c.Observe(ns, "web", reported.add)()
	p.set(hangsUp)
	waitReachable(t, c, false)
	create(t, ns, releaseSecret("web", 1, decoder.StatusDeployed))
	p.set(opened)
	waitReachable(t, c, true)
	reported.same(t, "1 deployed late")
}

package trail_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is what a watch would know. What a test does to it is told to the
// keeper as a watch would tell it, unless nobody watches.
type cluster struct {
	t          testing.TB
	namespaces map[string]string // UIDs
	watched    bool

	mu      sync.Mutex
	keeper  stream.Keeper
	secrets []*decoder.Revision
	data    map[string][]byte // by UID
	version int
	wanted  int
}

func newCluster(t testing.TB) *cluster {
	return &cluster{t: t, namespaces: map[string]string{"shop": "uid-shop"}, data: map[string][]byte{}}
}

func (c *cluster) Keep(keeper stream.Keeper) { c.keeper = keeper }

func (c *cluster) All(namespace string) []*decoder.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	var labels []*decoder.Revision
	for _, rev := range c.secrets {
		if namespace == "" || namespace == rev.Namespace {
			label := *rev
			label.Digest, label.Size, label.Header = "", 0, nil
			labels = append(labels, &label)
		}
	}
	return labels
}

// Want reads a record at once.
func (c *cluster) Want(want *decoder.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted++
	for _, rev := range c.secrets {
		if rev.Secret.UID == want.Secret.UID {
			c.keeper.Record(rev, c.data[rev.Secret.UID])
			c.keeper.See(decoder.Transition{Revision: rev})
		}
	}
}

func (c *cluster) Watching(string) bool                { return c.watched }
func (c *cluster) UID(context.Context) (string, error) { return "uid-cluster", nil }
func (c *cluster) NamespaceUID(_ context.Context, namespace string) (string, error) {
	return c.namespaces[namespace], nil
}
func (c *cluster) KnownNamespaceUID(namespace string) string { return c.namespaces[namespace] }

// state is one state of a release Secret.
type state struct {
	namespace, name string
	number          int
	status          decoder.Status
	// first is the life's beginning.
	first time.Time
	// padding makes the record larger.
	padding int
}

var begin = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func recordOf(s state, version int) []byte {
	raw, err := json.Marshal(map[string]any{
		"name": s.name,
		"info": map[string]any{
			"first_deployed": s.first, "last_deployed": s.first.Add(time.Duration(s.number) * time.Minute),
			"status": s.status, "description": fmt.Sprintf("canary-%d", version),
		},
		"chart": map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.3"}}, "version": s.number,
		"manifest": string(slices.Repeat([]byte("x"), s.padding)),
	})
	if err != nil {
		panic(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(raw))
}

// write stores a state of a Secret.
func (c *cluster) write(s state) *decoder.Revision {
	c.t.Helper()
	if s.namespace == "" {
		s.namespace = "shop"
	}
	if s.first.IsZero() {
		s.first = begin
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	data := recordOf(s, c.version)
	at := slices.IndexFunc(c.secrets, func(o *decoder.Revision) bool {
		return o.Namespace == s.namespace && o.Name == s.name && o.Number == s.number
	})
	uid := fmt.Sprintf("uid-%06d", c.version)
	if at >= 0 {
		uid = c.secrets[at].Secret.UID
	}
	rev, ok := decoder.NewRevision(decoder.Secret{
		Namespace: s.namespace, Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", s.name, s.number), UID: uid, ResourceVersion: strconv.Itoa(c.version),
		Created: s.first.Add(time.Duration(s.number) * time.Minute),
		Labels:  map[string]string{"name": s.name, "version": strconv.Itoa(s.number), "status": string(s.status), "owner": "helm"},
	}, data, decoder.Limits{})
	if !ok {
		c.t.Fatal("no revision")
	}
	c.data[uid] = data
	var old *decoder.Revision
	if at >= 0 {
		old, c.secrets[at] = c.secrets[at], rev
	} else {
		c.secrets = append(c.secrets, rev)
	}
	if c.watched {
		c.keeper.Record(rev, data)
		transition, ok := decoder.Compare(old, rev)
		if !ok {
			transition = decoder.Transition{Revision: rev}
		}
		c.keeper.See(transition)
	}
	return rev
}

// remove deletes Secrets of a release, all without numbers.
func (c *cluster) remove(namespace, name string, numbers ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rev := range slices.Clone(c.secrets) {
		if rev.Namespace != namespace || rev.Name != name || len(numbers) > 0 && !slices.Contains(numbers, rev.Number) {
			continue
		}
		c.secrets = slices.DeleteFunc(c.secrets, func(o *decoder.Revision) bool { return o == rev })
		var others []*decoder.Revision
		for _, o := range c.secrets {
			if o.Namespace == namespace && o.Name == name {
				others = append(others, o)
			}
		}
		if c.watched {
			c.keeper.See(decoder.Deleted(rev, others))
		}
	}
}

// install, upgrade and uninstall do what Helm does.
func (c *cluster) install(s state) {
	s.number, s.status = 1, decoder.StatusPendingInstall
	c.write(s)
	s.status = decoder.StatusDeployed
	c.write(s)
}

func (c *cluster) upgrade(s state, historyMax int) {
	s.status = decoder.StatusPendingUpgrade
	c.write(s)
	if s.number > historyMax {
		c.remove("shop", s.name, s.number-historyMax)
	}
	before := s
	before.number, before.status = s.number-1, decoder.StatusSuperseded
	c.write(before)
	s.status = decoder.StatusDeployed
	c.write(s)
}

func (c *cluster) uninstall(s state) {
	s.status = decoder.StatusUninstalling
	c.write(s)
	c.remove("shop", s.name)
}

// running is a trail that keeps what happens in a cluster.
type running struct {
	*trail.Trail
	t       testing.TB
	folder  string
	journal *journal.Journal
	cluster *cluster
	stop    context.CancelFunc
	ended   chan error
}

// options change a trail's setup.
type options func(*trail.Setup)

// start opens the trail of a folder and watches the cluster.
func start(t testing.TB, folder string, c *cluster, more ...options) *running {
	t.Helper()
	j, err := journal.Open(t.Context(), folder, trail.GuardedStream)
	if err != nil {
		t.Fatal(err)
	}
	setup := trail.Setup{Journal: j, Folder: filepath.Join(folder, "trail"), Clusters: []string{"dev"}, Logger: slog.New(slog.DiscardHandler)}
	for _, change := range more {
		change(&setup)
	}
	opened, err := trail.Open(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Trail: opened, t: t, folder: folder, journal: j, cluster: c, ended: make(chan error, 1)}
	if _, err := opened.Watch("dev", c); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- opened.Run(ctx) }()
	c.watched = true
	c.keeper.Synced("")
	r.settle()
	return r
}

// end stops the trail as a server that is stopped does.
func (r *running) end() {
	r.t.Helper()
	r.cluster.watched = false
	r.stop()
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
	if err := r.journal.Close(); err != nil {
		r.t.Error(err)
	}
}

func release(name string) stream.ReleaseRef {
	return stream.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: name}
}

// settle waits until all that was told is stored, and what was read because of
// that.
func (r *running) settle() {
	r.t.Helper()
	r.barrier()
	r.barrier()
}

// barrier waits until something that is told now is stored.
func (r *running) barrier() {
	r.t.Helper()
	before := r.state(false).Entries
	r.cluster.keeper.Missed("barrier", begin)
	deadline := time.Now().Add(30 * time.Second)
	for {
		entries, _, err := r.Entries(r.t.Context(), stream.TrailQuery{Cluster: "dev", After: before, Namespace: "barrier"})
		if err != nil {
			r.t.Fatal(err)
		}
		if slices.ContainsFunc(entries, func(e stream.TrailEntry) bool { return e.Namespace == "barrier" }) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatal("what was told is not stored")
		}
		time.Sleep(time.Millisecond)
	}
}

func (r *running) state(verify bool) stream.TrailState {
	r.t.Helper()
	state, err := r.State(r.t.Context(), "dev", verify)
	if err != nil {
		r.t.Fatal(err)
	}
	return state
}

// lines are a release's entries in short.
func (r *running) lines(name string) []string {
	r.t.Helper()
	entries, more, err := r.Entries(r.t.Context(), stream.TrailQuery{Cluster: "dev", Namespace: "shop", Release: name})
	if err != nil || more {
		r.t.Fatal(err, more)
	}
	var lines []string
	for _, e := range entries {
		if e.Kind != stream.TrailGap {
			lines = append(lines, line(e))
		}
	}
	return lines
}

func line(e stream.TrailEntry) string {
	text := fmt.Sprintf("%s %d", e.Kind, e.Revision)
	if e.Kind == stream.TrailTransition && e.Change != decoder.ChangeStatus {
		text += " " + string(e.Change)
	} else if e.Status != "" {
		text += " " + string(e.Status)
	}
	if e.Late {
		text += " late"
	}
	return text
}

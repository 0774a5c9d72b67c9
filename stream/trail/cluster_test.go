package trail_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// cluster is a fake watch. It passes each change that a test makes to the
// keeper as a watch would, unless nobody watches.
type cluster struct {
	t          testing.TB
	namespaces sync.Map // UIDs by name
	watched    atomic.Bool

	mu      sync.Mutex
	keeper  audit.Keeper
	secrets []*decoder.Revision
	data    map[string][]byte // by UID
	version int
	wanted  int
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{t: t, data: map[string][]byte{}}
	c.namespaces.Store("shop", "uid-shop")
	return c
}

func (c *cluster) Keep(keeper audit.Keeper) { c.keeper = keeper }

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

// Want reads a record immediately.
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

func (c *cluster) Watching(string) bool                { return c.watched.Load() }
func (c *cluster) UID(context.Context) (string, error) { return "uid-cluster", nil }
func (c *cluster) NamespaceUID(_ context.Context, namespace string) (string, error) {
	return c.KnownNamespaceUID(namespace), nil
}
func (c *cluster) NamespacesKnown() bool { return true }
func (c *cluster) KnownNamespaceUID(namespace string) string {
	uid, ok := c.namespaces.Load(namespace)
	if !ok {
		return ""
	}
	return uid.(string)
}

// state is one state of a release Secret.
type state struct {
	namespace, name string
	number          int
	status          decoder.Status
	// first is when the lineage began.
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
	if c.watched.Load() {
		c.keeper.Record(rev, data)
		transition, ok := decoder.Compare(old, rev)
		if !ok {
			transition = decoder.Transition{Revision: rev}
		}
		c.keeper.See(transition)
	}
	return rev
}

// remove deletes Secrets of a release, or all of them without numbers.
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
		if c.watched.Load() {
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

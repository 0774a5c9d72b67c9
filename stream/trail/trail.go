package trail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// Setup is what a Trail works with.
type Setup struct {
	Journal *journal.Journal
	// Folder is where it is noted how far the chains have come.
	Folder string
	// Clusters are the ids of those that have a chain.
	Clusters []string
	// Sessions tells who caused what; nil for nobody.
	Sessions Sessions
	// Keep is how long the records of a revision are kept once it has gone
	// from its cluster, 0 for ever. Size is how many bytes of records are kept,
	// 0 for any number; beyond it those go first that went first.
	Keep time.Duration
	Size uint64
	// QueueBytes bounds what waits to be stored for each cluster; by default
	// DefaultQueueBytes.
	QueueBytes int
	// Logger gets what went wrong and, now and then, the heads of the chains.
	Logger *slog.Logger
}

// DefaultQueueBytes is Setup's QueueBytes when it is 0.
const DefaultQueueBytes = 64 << 20

// Cluster is what the trail needs of a cluster. The informer package provides
// it. Only UID and NamespaceUID may block.
type Cluster interface {
	// Keep has the keeper told what is learnt. It is called once, before the
	// cluster is watched.
	Keep(keeper stream.Keeper)
	// All returns all revisions in a namespace, "" for all, that the watch knows.
	All(namespace string) []*decoder.Revision
	// Want has a revision's record read, and told, when there is time.
	Want(revision *decoder.Revision)
	// Watching tells whether a namespace is being watched now.
	Watching(namespace string) bool
	// UID is that of the cluster, which is its kube-system namespace's; "" when
	// that may not be read.
	UID(ctx context.Context) (string, error)
	// NamespaceUID asks for a namespace's UID; "" when it does not exist or may
	// not be read.
	NamespaceUID(ctx context.Context, namespace string) (string, error)
	// KnownNamespaceUID is NamespaceUID from memory; "" too when it is not known
	// yet.
	KnownNamespaceUID(namespace string) string
}

// Sessions is what the trail needs of sessions; *stream.Operations provides it.
type Sessions interface {
	Running(release stream.ReleaseRef) (id string, ok bool)
	Session(ctx context.Context, release stream.ReleaseRef, id string) (stream.Session, error)
	Sessions(ctx context.Context, release stream.ReleaseRef) ([]stream.Session, error)
}

// Trail implements [stream.Trail] on the journal.
type Trail struct {
	setup    Setup
	log      *slog.Logger
	entries  *journal.Store
	records  *records
	chains   map[string]*chain
	keepers  map[string]*keeper
	verifies singleflight.Group
	erasing  sync.Mutex
}

var _ stream.Trail = (*Trail)(nil)

// Open reads the chains of the clusters and verifies them. It blocks for that,
// and starts nothing. A chain that is broken is no error; State tells.
func Open(ctx context.Context, setup Setup) (*Trail, error) {
	if setup.QueueBytes == 0 {
		setup.QueueBytes = DefaultQueueBytes
	}
	if setup.Logger == nil {
		setup.Logger = slog.Default()
	}
	t := &Trail{setup: setup, log: setup.Logger, chains: map[string]*chain{}, keepers: map[string]*keeper{}}
	var err error
	t.entries, err = setup.Journal.Store(ctx, journal.StoreOptions{
		Name: entriesStream, Description: "what releases went through, each cluster's entries chained by hash",
		Subjects: []string{entriesSubject + ".*.*"}, AppendOnly: true,
	})
	if err != nil {
		return nil, fmt.Errorf("open the trail: %w", err)
	}
	kept, err := setup.Journal.Store(ctx, journal.StoreOptions{
		Name: recordsStream, Description: "release records by their digest",
		Subjects: []string{recordsSubject + ".*.*"},
	})
	if err != nil {
		return nil, fmt.Errorf("open the trail: %w", err)
	}
	t.records = &records{store: kept, part: journal.MaxMessage}
	if err := t.load(); err != nil {
		return nil, fmt.Errorf("open the trail: %w", err)
	}
	return t, nil
}

// load reads all chains.
func (t *Trail) load() error {
	bySubject := map[string]*chain{}
	for _, cluster := range t.setup.Clusters {
		c := newChain(cluster, t.entries)
		t.chains[cluster], bySubject[clusterSubject(cluster)] = c, c
	}
	err := t.entries.ReadFiles(func(m journal.Stored) error {
		if c := bySubject[ownerOf(m.Subject)]; c != nil {
			c.load(&m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, c := range t.chains {
		noted, err := readMark(t.setup.Folder, id)
		if err != nil {
			t.log.Error("how far the trail had come is not known", "cluster", id, "error", err)
		}
		c.resume(noted.Head)
		for _, damage := range t.setup.Journal.Damage() {
			if ownerOf(damage.Subject) == clusterSubject(id) || bySubject[ownerOf(damage.Subject)] == nil {
				c.links.fail(c.links.position+1, fmt.Sprintf("a damaged entry was found when helmtrail started: %s; the file as it was: %s", damage.Problem, damage.Copy))
			}
		}
		c.checked = time.Now().UTC()
		if c.links.broken != 0 {
			t.log.Error("the trail is broken", "cluster", id, "position", c.links.broken, "problem", c.links.problem)
		}
	}
	return nil
}

// Watch makes the trail keep what the watch of a cluster learns, as soon as it
// runs. It is called before Run and before the cluster is watched.
func (t *Trail) Watch(id string, cluster Cluster) error {
	c := t.chains[id]
	if c == nil {
		return fmt.Errorf("keep the trail of cluster %q: %w", id, stream.ErrNotFound)
	}
	noted, err := readMark(t.setup.Folder, id)
	if err != nil {
		noted = mark{Cluster: id, Watched: map[string]time.Time{}} // load has logged it
	}
	k := newKeeper(t, c, cluster, noted)
	t.keepers[id] = k
	cluster.Keep(k)
	return nil
}

// Run keeps what comes until ctx ends, then stores what has come by then, and
// returns nil. It blocks and may be called once. The clusters' watches should go
// on until it has returned; what they learn meanwhile the next start finds.
func (t *Trail) Run(ctx context.Context) error {
	var group errgroup.Group
	for _, k := range t.keepers {
		group.Go(func() error { return k.run(ctx) })
	}
	group.Go(func() error { return t.housekeep(ctx) })
	err := group.Wait()
	for _, k := range t.keepers {
		err = errors.Join(err, k.note(true))
	}
	t.logHeads()
	return err
}

const (
	noteEvery    = 2 * time.Second
	headEvery    = time.Hour
	retainEvery  = 10 * time.Minute
	firstRetains = 10 * time.Second
)

// housekeep does what is to be done now and then.
func (t *Trail) housekeep(ctx context.Context) error {
	note, heads, retain := time.NewTicker(noteEvery), time.NewTicker(headEvery), time.NewTimer(firstRetains)
	defer note.Stop()
	defer heads.Stop()
	defer retain.Stop()
	for {
		select {
		case <-note.C:
			for _, k := range t.keepers {
				if err := k.note(false); err != nil {
					t.log.Warn("a gap or a cut of the trail may not be noticed", "error", err)
				}
			}
		case <-heads.C:
			t.logHeads()
		case <-retain.C:
			if err := t.Retain(ctx, time.Now()); err != nil && ctx.Err() == nil {
				t.log.Error("records that are due could not be erased", "error", err)
			}
			retain.Reset(retainEvery)
		case <-ctx.Done():
			return nil
		}
	}
}

// logHeads tells the heads of the chains, so that they are also known where
// logs are kept.
func (t *Trail) logHeads() {
	for id, c := range t.chains {
		if at := c.head(); at.Position > 0 {
			t.log.Info("trail head", "cluster", id, "position", at.Position, "hash", at.Hash)
		}
	}
}

// NotReady tells, a sentence each, what keeps the trail from being kept.
func (t *Trail) NotReady() []string {
	var all []string
	for id, k := range t.keepers {
		if problem := k.problem(); problem != "" {
			all = append(all, fmt.Sprintf("The trail of cluster %s cannot be stored: %s.", id, problem))
		}
	}
	return all
}

// Stats is how the trail of a cluster fares.
type Stats struct {
	Cluster string
	State   stream.TrailState
	// Waiting is how many bytes are not stored yet, Failing that they cannot be.
	Waiting int
	Failing bool
}

// Stats tells how the trails of the clusters fare. It comes from memory.
func (t *Trail) Stats() []Stats {
	var all []Stats
	for _, id := range t.setup.Clusters {
		s := Stats{Cluster: id, State: t.chains[id].state()}
		if k := t.keepers[id]; k != nil {
			k.mu.Lock()
			s.Waiting, s.Failing = k.bytes, k.failing != ""
			k.mu.Unlock()
		}
		all = append(all, s)
	}
	return all
}

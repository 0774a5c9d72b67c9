package trail

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/journal"
)

// Setup is what a Trail works with.
type Setup struct {
	Journal *journal.Journal
	// Folder is where it is noted how far the chains have come.
	Folder string
	// Clusters are the ids of those that will be watched, so far as is known.
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
	Keep(keeper audit.Keeper)
	// All returns all revisions in a namespace, "" for all, that the watch knows.
	All(namespace string) []*decoder.Revision
	// Want has a revision's record read, and told, when there is time.
	Want(revision *decoder.Revision)
	// Watching tells whether a namespace is being watched now.
	Watching(namespace string) bool
	// UID is that of the cluster, which is its kube-system namespace's; "" when
	// that may not be read.
	UID(ctx context.Context) (string, error)
	// NamespaceUID is the UID that a namespace has now, asked for where memory
	// may be wrong; "" when it does not exist or may not be known.
	NamespaceUID(ctx context.Context, namespace string) (string, error)
	// KnownNamespaceUID is NamespaceUID from memory; "" too when it is not known
	// yet.
	KnownNamespaceUID(namespace string) string
	// NamespacesKnown tells whether what KnownNamespaceUID does not know is not
	// there, rather than not read yet.
	NamespacesKnown() bool
}

// Sessions is what the trail needs of sessions; *stream.Operations provides it.
type Sessions interface {
	Running(release helmtrail.ReleaseRef) (id string, ok bool)
	Session(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Session, error)
	Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]helmtrail.Session, error)
}

// Trail implements [history.Trail] on the journal.
type Trail struct {
	setup    Setup
	log      *slog.Logger
	entries  *journal.Store
	records  *records
	verifies singleflight.Group
	erasing  sync.Mutex

	mu      sync.RWMutex
	chains  map[string]*chain
	keepers map[string]*keeper
	// running starts a keeper; nil unless Run runs. done means that it has run.
	running func(*keeper)
	done    bool
}

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
	if err := t.load(setup.Clusters); err != nil {
		return nil, fmt.Errorf("open the trail: %w", err)
	}
	return t, nil
}

// load reads the chains of clusters.
func (t *Trail) load(clusters []string) error {
	bySubject := map[string]*chain{}
	for _, cluster := range clusters {
		bySubject[clusterSubject(cluster)] = newChain(cluster, t.entries)
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
	for subject, c := range bySubject {
		noted, err := readMark(t.setup.Folder, c.cluster)
		if err != nil {
			t.log.Error("how far the trail had come is not known", "cluster", c.cluster, "error", err)
		}
		c.resume(noted.Head)
		for _, damage := range t.setup.Journal.Damage() {
			if owner := ownerOf(damage.Subject); damage.Stream == entriesStream && (owner == subject || bySubject[owner] == nil) {
				c.links.fail(c.links.position+1, fmt.Sprintf("a damaged entry was found when helmtrail started: %s; the file as it was: %s", damage.Problem, damage.Copy))
			}
		}
		c.checked = time.Now().UTC()
		if c.links.broken != 0 {
			t.log.Error("the trail is broken", "cluster", c.cluster, "position", c.links.broken, "problem", c.links.problem)
		}
		t.mu.Lock()
		t.chains[c.cluster] = c
		t.mu.Unlock()
	}
	return nil
}

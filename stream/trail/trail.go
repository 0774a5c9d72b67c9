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

// Setup configures a Trail.
type Setup struct {
	Journal *journal.Journal
	// Folder holds the notes of the last known heads of the chains.
	Folder string
	// Clusters lists the known ids of the clusters that will be watched.
	Clusters []string
	// Sessions looks up the session that caused an entry; nil attributes nothing.
	Sessions Sessions
	// Keep is how long the records of a revision are kept after it is deleted from
	// its cluster; 0 keeps them forever. Size is the maximum number of bytes of
	// records; 0 means no limit. Beyond Size the records of the revisions deleted
	// first are erased first.
	Keep time.Duration
	Size uint64
	// QueueBytes bounds the queue of each cluster in bytes. The default is
	// DefaultQueueBytes.
	QueueBytes int
	// Logger logs problems and, periodically, the heads of the chains.
	Logger *slog.Logger
}

// DefaultQueueBytes is used when Setup's QueueBytes is 0.
const DefaultQueueBytes = 64 << 20

// Cluster provides the trail with access to a cluster. Package informer
// implements it. Only UID and NamespaceUID may block.
type Cluster interface {
	// Keep sets the keeper that receives the results of the watch. It is called
	// once, before the cluster is watched.
	Keep(keeper audit.Keeper)
	// All returns all revisions known to the watch in a namespace, "" for all.
	All(namespace string) []*decoder.Revision
	// Want requests a revision's record, which is read and passed to the keeper
	// when there is time.
	Want(revision *decoder.Revision)
	// Watching reports whether a namespace is being watched now.
	Watching(namespace string) bool
	// UID returns the cluster's UID, which is the UID of its kube-system
	// namespace, or "" if it may not be read.
	UID(ctx context.Context) (string, error)
	// NamespaceUID returns the current UID of a namespace. It asks the cluster if
	// memory may be stale. It returns "" if the namespace does not exist or its
	// UID may not be read.
	NamespaceUID(ctx context.Context, namespace string) (string, error)
	// KnownNamespaceUID is like NamespaceUID, but reads only memory. It also
	// returns "" if the UID is not known yet.
	KnownNamespaceUID(namespace string) string
	// NamespacesKnown reports whether a namespace unknown to KnownNamespaceUID
	// does not exist, rather than has not been read yet.
	NamespacesKnown() bool
}

// Sessions provides the trail with the sessions. *stream.Operations implements
// it.
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
	// running starts a keeper. It is nil unless Run is running. done means that
	// Run has ended.
	running func(*keeper)
	done    bool
}

// Open reads and verifies the chains of the clusters. It blocks while it reads,
// and starts nothing. A broken chain is not an error; see State.
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

package history

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/internal/bounded"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// Records reads revisions from a cluster. Its methods may be called
// concurrently.
type Records interface {
	// Record fetches one revision in full from the API server. It fails with
	// helmtrail.ErrNotFound if there is none.
	Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error)
}

// Sessions reads running and ended sessions. Its methods may be called concurrently.
type Sessions interface {
	// Sessions returns the sessions of a release, newest first.
	Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]helmtrail.Session, error)
	// Session returns a session. It fails with helmtrail.ErrNotFound if the
	// release has no such session.
	Session(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Session, error)
	// Rendered returns the result of a session's dry run.
	Rendered(ctx context.Context, release helmtrail.ReleaseRef, id string) (helmtrail.Rendering, error)
}

// Trail is the permanent record of all releases. Its methods may be called
// concurrently.
type Trail interface {
	// Lineages returns the lineages of a release, newest first, or none. It reads
	// memory and does not block.
	Lineages(release helmtrail.ReleaseRef) []audit.Lineage
	// Releases returns all releases of a namespace that were ever seen, sorted;
	// "" means all namespaces. It reads memory and does not block.
	Releases(cluster, namespace string) []helmtrail.ReleaseRef
	// Record returns the bytes of the record with this digest, as Helm stored
	// them. It fails with helmtrail.ErrNotFound if the record was never stored,
	// with helmtrail.ErrErased if retention removed it, and with
	// helmtrail.ErrAltered if the bytes no longer have that digest.
	Record(ctx context.Context, digest string) ([]byte, error)
	// Entries returns entries in the order of the chain, and whether there are
	// more. To continue, set the query's After to the last entry's position.
	Entries(ctx context.Context, query audit.Query) (entries []audit.Entry, more bool, err error)
	// State returns the state of a cluster's chain. With verify, it first reads
	// every link from the disk again.
	State(ctx context.Context, cluster string, verify bool) (audit.State, error)
	// Reveal appends an entry about secrets that are about to be shown. If it
	// fails, they must not be shown.
	Reveal(ctx context.Context, reveal audit.Reveal) error
}

// Cluster is a served cluster with what the history reads from its API server.
type Cluster struct {
	*clusters.Cluster
	Records  Records
	Comparer Comparer
}

// Options configure a Server.
type Options struct {
	// Cluster returns a served cluster. It fails with helmtrail.ErrNotFound for
	// any other id.
	Cluster func(id string) (Cluster, error)
	// CallerIn identifies the request's caller in a cluster other than the
	// request's own.
	CallerIn func(c *gin.Context, cluster string) (*authz.Caller, error)
	Sessions Sessions
	// Trail may be nil.
	Trail Trail
	// MayReveal returns nil if the caller may see the secrets of a release.
	MayReveal func(ctx context.Context, caller *authz.Caller, release helmtrail.ReleaseRef) error
	// MaskKey is the key for the fingerprints of masked secrets.
	MaskKey []byte
	// Budget bounds the memory in which records are decoded and masked.
	Budget *budget.Budget
	// OpenPaced starts a response that is sent in parts.
	OpenPaced func(c *gin.Context, contentType string) *httpapi.Paced
	Logger    *slog.Logger
}

// Server serves the history routes. Its methods may be called concurrently.
type Server struct {
	Options
	// facts holds the facts of records, by the state of their Secrets.
	facts *bounded.Cache[recordFacts]
	// masked holds records with masked secrets, kept those read from the trail.
	masked, kept *bounded.Cache[*decoder.Record]
	// reads is the line of those who read a record from the trail.
	reads *budget.Line
}

// New returns a Server.
func New(o Options) *Server {
	records := bounded.Options[*decoder.Record]{Limit: maxRecords, Size: recordSize}
	return &Server{
		Options: o,
		facts:   bounded.New(bounded.Options[recordFacts]{Limit: maxFacts}),
		masked:  bounded.New(records), kept: bounded.New(records),
		reads: budget.NewLine(recordsAtOnce),
	}
}

// release returns the release in a request's path, and its cluster.
func (s *Server) release(c *gin.Context) (helmtrail.ReleaseRef, Cluster, error) {
	cluster, err := s.Cluster(c.Param("cluster"))
	if err != nil {
		return helmtrail.ReleaseRef{}, Cluster{}, err
	}
	return helmtrail.ReleaseRef{Cluster: cluster.ID, Namespace: c.Param("namespace"), Name: c.Param("name")}, cluster, nil
}

// Masker returns the Masker of a release.
func (s *Server) Masker(ref helmtrail.ReleaseRef) *mask.Masker {
	return mask.New(s.MaskKey, mask.Release{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name})
}

// ownMasker is Masker with a key of its own for a session.
func (s *Server) ownMasker(ref helmtrail.ReleaseRef, session string) *mask.Masker {
	return mask.New(mask.OwnKey(s.MaskKey, session), mask.Release{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name})
}

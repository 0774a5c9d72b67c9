package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

const (
	// maxWait bounds ?wait=, so that proxies, which cut after a minute mostly, do
	// not cut the connection first.
	maxWait = 55 * time.Second
	// answerLife is how long an answer is shared although nothing was told to
	// have changed: some of it, such as what is stuck, depends on the time.
	answerLife = time.Second
	// lookAgain is the time after which a waiter looks again although nothing
	// was told, for the same reason.
	lookAgain = 3 * time.Second
	// maxAnswers bounds the answers that are kept to be shared.
	maxAnswers = 2000
)

// answer is what a read is answered with. Many requests share one.
type answer struct {
	// etag stands for the content; it costs little to make.
	etag string
	// encode makes the body, once for all who share the answer.
	encode func() ([]byte, error)
}

// newAnswer returns an answer whose body is made when somebody needs it.
func newAnswer(t *tag, encode func() ([]byte, error)) *answer {
	return &answer{etag: t.etag(), encode: sync.OnceValues(encode)}
}

// jsonAnswer is an answer whose content is no cheaper to know than to encode.
func jsonAnswer(v any) *answer {
	body := encodeJSON(v)
	t := newTag()
	t.hash.Write(body)
	return newAnswer(t, func() ([]byte, error) { return body, nil })
}

// topic is what a poller waits for: a release, with no name all releases of a
// namespace, without a namespace all of the cluster.
type topic struct{ namespace, name string }

// changes wakes those who wait for something of a cluster to change, and keeps
// the answers that they share. Its methods may be called concurrently.
type changes struct {
	mu      sync.Mutex
	number  uint64 // counts the changes
	waiting map[topic]*waiters
	answers map[string]sharedAnswer
	reads   singleflight.Group // by key and state
}

// waiters share one notification.
type waiters struct {
	count int
	wake  chan struct{} // closed by the next change
}

// sharedAnswer is an answer as of a state.
type sharedAnswer struct {
	state  clusterVersion
	made   time.Time
	answer *answer
}

// clusterVersion changes with everything that answers about a cluster depend
// on, but for the time.
type clusterVersion struct{ number, releases uint64 }

func newChanges() *changes {
	return &changes{waiting: map[topic]*waiters{}, answers: map[string]sharedAnswer{}}
}

// told takes a transition.
func (c *changes) told(t decoder.Transition) { c.tell(t.Revision.Namespace, t.Revision.Name) }

// tell wakes those who wait for the release, its namespace or the cluster.
func (c *changes) tell(namespace, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number++
	for _, t := range []topic{{namespace, name}, {namespace, ""}, {}} {
		if w := c.waiting[t]; w != nil {
			close(w.wake)
			w.wake = make(chan struct{})
		}
	}
}

// join counts a waiter in. Leave must be called.
func (c *changes) join(t topic) (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[t]
	if w == nil {
		w = &waiters{wake: make(chan struct{})}
		c.waiting[t] = w
	}
	w.count++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.count--; w.count == 0 {
			delete(c.waiting, t)
		}
	}
}

// next is closed by the next change of what a waiter has joined.
func (c *changes) next(t topic) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting[t].wake
}

// version is where the cluster stands. It is read before what it stands for,
// which may then be newer and is only read once more than needed.
func (w *watched) version() clusterVersion {
	releases := w.Releases.Version()
	w.changes.mu.Lock()
	defer w.changes.mu.Unlock()
	return clusterVersion{w.changes.number, releases}
}

// shared returns the answer under a key as long as it is true, else what read
// makes. Without a key nothing is shared.
func (w *watched) shared(ctx context.Context, key string, read func(context.Context) (*answer, error)) (*answer, error) {
	if key == "" {
		return read(ctx)
	}
	state := w.version()
	if a := w.changes.kept(key, state); a != nil {
		return a, nil
	}
	// All who were woken at once wait for one read, which goes on when one of
	// them leaves.
	made, err, _ := w.changes.reads.Do(fmt.Sprintf("%s %d %d", key, state.number, state.releases), func() (any, error) {
		// A read may have ended since this one looked.
		if a := w.changes.kept(key, state); a != nil {
			return a, nil
		}
		made := time.Now()
		a, err := read(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		w.changes.keep(key, sharedAnswer{state, made, a})
		return a, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*answer), nil
}

// kept returns the answer that is shared under a key in a state, nil if there
// is none or it is too old.
func (c *changes) kept(key string, state clusterVersion) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	shared, ok := c.answers[key]
	if !ok || shared.state != state || time.Since(shared.made) >= answerLife {
		return nil
	}
	return shared.answer
}

// keep makes an answer one that is shared.
func (c *changes) keep(key string, a sharedAnswer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers) >= maxAnswers {
		clear(c.answers)
	}
	c.answers[key] = a
}

// poll answers a read with JSON, or with 304 when the client has it already.
// With ?wait= and If-None-Match it blocks until there is something else to tell,
// which fails when the caller's right is gone by then, the time is over or the
// server is closed.
// Requests with the same key share answers; "" is for those that depend on the
// caller.
func (s *Server) poll(c *gin.Context, cluster *watched, about topic, key string, read func(context.Context) (*answer, error)) error {
	return s.pollRevealing(c, cluster, about, key, nil, read)
}

// pollRevealing is poll for answers that hold secrets. Reveal is called right
// before a body is written, which is not when it fails; 304 reveals nothing,
// since the ETag is that of the releases' states and not of the body.
func (s *Server) pollRevealing(c *gin.Context, cluster *watched, about topic, key string, reveal func() error, read func(context.Context) (*answer, error)) error {
	wait, err := parseWait(c.Query("wait"))
	if err != nil {
		return err
	}
	known := c.GetHeader("If-None-Match")
	ctx := c.Request.Context()
	if wait == 0 || known == "" {
		a, err := cluster.shared(ctx, key, read)
		if err != nil {
			return err
		}
		return writeAnswer(c, a, known, reveal)
	}
	defer cluster.changes.join(about)()
	over, again := time.NewTimer(wait), time.NewTicker(lookAgain)
	defer over.Stop()
	defer again.Stop()
	for {
		changed := cluster.changes.next(about)
		a, err := cluster.shared(ctx, key, read)
		if err != nil {
			return err
		}
		if !matches(known, a.etag) {
			if err := grantOf(c).still(ctx); err != nil {
				return err
			}
			return writeAnswer(c, a, known, reveal)
		}
		select {
		case <-changed:
		case <-again.C:
		case <-over.C:
			return writeAnswer(c, a, known, reveal)
		case <-cluster.gone.Done():
			return writeAnswer(c, a, known, reveal)
		case <-s.closing.Done():
			return writeAnswer(c, a, known, reveal)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// parseWait reads how long a client wants to wait, 0 without a wish. More than
// the most is the most.
func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0, badRequest("wait", "wait must be a number of seconds.")
	}
	return min(time.Duration(seconds)*time.Second, maxWait), nil
}

// writeAnswer writes 200 and the body, after reveal if there is one, or 304 if
// the client has it.
func writeAnswer(c *gin.Context, a *answer, known string, reveal func() error) error {
	if matches(known, a.etag) {
		notModified(c, a.etag)
		return nil
	}
	body, err := a.encode()
	if err != nil {
		return err
	}
	h := c.Writer.Header()
	if reveal != nil {
		if err := reveal(); err != nil {
			return err
		}
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Set("ETag", a.etag)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	c.Data(http.StatusOK, string(formatJSON), body)
	return nil
}

func notModified(c *gin.Context, etag string) {
	c.Header("ETag", etag)
	if c.Writer.Header().Get("Cache-Control") == "" {
		c.Header("Cache-Control", "no-cache")
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
}

// matches tells whether an If-None-Match header holds an ETag.
func matches(header, etag string) bool {
	for known := range strings.SplitSeq(header, ",") {
		known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
		if known == etag || known == "*" {
			return true
		}
	}
	return false
}

// unchanged gives a body an ETag of its own and answers 304 if the client has
// it already. It is for reads whose content is no cheaper to know than to send.
func unchanged(c *gin.Context, body []byte) bool {
	if c.Request.Method != http.MethodGet {
		return false
	}
	t := newTag()
	t.hash.Write(body)
	return t.matched(c)
}

// watchSessions wakes those who wait for a release whenever one of its
// sessions begins or ends, until stop is called.
func (s *Server) watchSessions() (stop func()) {
	if s.options.Operations == nil {
		return func() {}
	}
	return s.options.Operations.ObserveSessions(func(release stream.ReleaseRef) {
		if cluster := s.clusters.get(release.Cluster); cluster != nil {
			cluster.changes.tell(release.Namespace, release.Name)
		}
	})
}

// answerKey names an address for all callers who may read it.
func answerKey(c *gin.Context) string {
	query := c.Request.URL.Query()
	query.Del("wait")
	return fmt.Sprintf("%s?%s", c.Request.URL.Path, query.Encode())
}

package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// record fetches one revision in full. A record that is there but cannot be
// read is another error than one that does not exist.
func (s *Server) record(c *gin.Context, cluster *watched, ref stream.ReleaseRef, revision int) (*decoder.Record, error) {
	record, err := cluster.Objects.Record(c.Request.Context(), ref.Namespace, ref.Name, revision)
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, stream.ErrNotFound):
		return nil, noRevision(ref, revision)
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return nil, unreadable(ref, revision, err)
	}
	return nil, cluster.asked(err)
}

func noRevision(ref stream.ReleaseRef, revision int) error {
	return &apiError{
		status: http.StatusNotFound, code: codeNotFound,
		message: fmt.Sprintf("There is no revision %d of release %s in namespace %s.", revision, ref.Name, ref.Namespace),
	}
}

// unreadable says that a revision is there although it cannot be shown. The
// decoder's errors quote nothing of a record.
func unreadable(ref stream.ReleaseRef, revision int, err error) error {
	return &apiError{
		status: http.StatusUnprocessableEntity, code: codeUnreadable,
		message: fmt.Sprintf("Revision %d of release %s is there, but cannot be read: %s", revision, ref.Name, err),
	}
}

// masker makes the tokens of a release's secrets.
func (s *Server) masker(ref stream.ReleaseRef) *mask.Masker {
	return mask.New(s.options.MaskKey, mask.Release{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name})
}

// reveals reports whether a request asks for secrets as they are and may have
// them. It is asked once for every release of a request, and every reveal is
// logged with what was revealed.
func (s *Server) reveals(c *gin.Context, ref stream.ReleaseRef, what string) (bool, error) {
	asked, err := queryBool(c, "reveal")
	if err != nil || !asked {
		return false, err
	}
	refused := &apiError{status: http.StatusForbidden, code: codeForbidden, message: "You may not see the secrets of namespace " + ref.Namespace + "."}
	if s.options.MayReveal == nil {
		return false, refused
	}
	if err := s.options.MayReveal(c.Request, ref); err != nil {
		return false, errors.Join(refused, err)
	}
	s.logger.Info("secrets revealed", "cluster", ref.Cluster, "namespace", ref.Namespace, "release", ref.Name, "what", what, "user", grantOf(c).name(), "client", c.Request.RemoteAddr)
	return true, nil
}

// queryBool reads a parameter that is true or false; without it, false.
func queryBool(c *gin.Context, name string) (bool, error) {
	switch c.Query(name) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, badRequest(name, name+" must be true or false.")
}

// revisionNumber reads a revision's number.
func revisionNumber(field, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, badRequest(field, field+" must be the number of a revision.")
	}
	return n, nil
}

// factsKey names one state of one release Secret.
type factsKey struct{ cluster, uid, resourceVersion string }

// facts is what the history shows of a record besides its header.
type facts struct {
	header           decoder.Header // Its description is masked.
	applyMethod      string
	digest           string
	size             int
	recordName       string
	recordNamespace  string
	recordRevision   int
	rollbackRevision int
	problem          string
}

// maxFacts bounds how many states are remembered, of some 500 bytes each.
const maxFacts = 20_000

// factsCache remembers facts. A state never changes, so nothing expires; when
// it is full it starts anew.
type factsCache struct {
	mu    sync.Mutex
	facts map[factsKey]facts
}

func (f *factsCache) get(key factsKey) (facts, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.facts[key]
	return known, ok
}

func (f *factsCache) put(key factsKey, known facts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.facts == nil || len(f.facts) >= maxFacts {
		f.facts = map[factsKey]facts{}
	}
	f.facts[key] = known
}

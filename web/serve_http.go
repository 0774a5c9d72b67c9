package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/helmtrail/helmtrail/internal/reserved"
)

const (
	// defaultBodyWithin and defaultAnswerWithin bound how long the body and the
	// answer of a request may take on the wire, including the wait of a long poll.
	// They do not bound streams, and an answer that waits for helm only once helm
	// has ended.
	defaultBodyWithin   = 2 * time.Minute
	defaultAnswerWithin = 5 * time.Minute
	// compressFrom is the size from which compression pays off, in bytes.
	compressFrom = 1 << 10
	// jitter is the most random bytes that are added to an answer, so that its
	// compressed size reveals little about secrets in it.
	jitter = 32
)

// compressed are the content types that are worth compressing. A stream is never
// compressed: its frames must be sent at once.
var compressed = []string{
	"application/json", "application/yaml", "application/x-ndjson", "text/plain", "text/html", "text/css", "text/javascript", "image/svg+xml",
}

// newHandler adds compression to the routes.
func newHandler(routes http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.ContentTypes(compressed), gzhttp.RandomJitter(jitter, 0, false))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	return wrap(routes), nil
}

// ServeHTTP answers one request. Its URL may lack the base path, as behind a
// proxy that removes it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if base := s.options.BasePath; base != "" {
		if rest, ok := strings.CutPrefix(r.URL.Path, base); ok && (rest == "" || rest[0] == '/') {
			r = withoutBasePath(r, base)
		}
	}
	// A stream sets its own deadlines as it goes. The refusal of one does not, and
	// would inherit that of the previous request on the connection.
	s.boundAnswer(w)
	if strings.HasSuffix(r.URL.Path, "/events") {
		s.engine.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodHead {
		// net/http leaves out the body of the answer.
		inner := *r
		inner.Method = http.MethodGet
		r = &inner
	}
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyWithin)) // It ends with the body.
	}
	s.handler.ServeHTTP(w, r)
}

// boundAnswer limits the time of an answer on the wire from now on. Only the
// writers of tests do not support deadlines.
func (s *Server) boundAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.answerWithin))
}

// unboundAnswer lifts the limit while an answer waits for helm. It returns what
// sets it again.
func (s *Server) unboundAnswer(w http.ResponseWriter) (bound func()) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	return func() { s.boundAnswer(w) }
}

// CheckBasePath fails when a URL below the path could also be one without it,
// since a proxy may remove the path or leave it.
func CheckBasePath(path string) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if path != "" && (first == "" || reserved.Contains(first)) {
		return fmt.Errorf("/%s is one of helmtrail's own URLs", first)
	}
	return nil
}

// withoutBasePath returns the request without the base path.
func withoutBasePath(r *http.Request, base string) *http.Request {
	address := *r.URL
	address.Path = "/" + strings.TrimPrefix(strings.TrimPrefix(address.Path, base), "/")
	if address.RawPath != "" {
		address.RawPath = "/" + strings.TrimPrefix(strings.TrimPrefix(address.RawPath, base), "/")
	}
	inner := *r
	inner.URL = &address
	return &inner
}

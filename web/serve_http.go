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
	// defaultBodyWithin and defaultAnswerWithin limit the transfer times of a
	// request's body and of its response. The latter includes the wait of a long
	// poll. Streams are not limited, and a response that waits for helm is
	// limited only after helm has ended.
	defaultBodyWithin   = 2 * time.Minute
	defaultAnswerWithin = 5 * time.Minute
	// compressFrom is the size from which compression pays off, in bytes.
	compressFrom = 1 << 10
	// jitter is the maximum number of random bytes added to a response, so that
	// its compressed size reveals little about secrets in it.
	jitter = 32
)

// compressed lists the content types that are worth compressing. Streams are
// never compressed, because their frames must be sent at once.
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

// ServeHTTP answers one request. Its URL may lack the base path, because a proxy
// may remove it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if base := s.options.BasePath; base != "" {
		if rest, ok := strings.CutPrefix(r.URL.Path, base); ok && (rest == "" || rest[0] == '/') {
			r = withoutBasePath(r, base)
		}
	}
	// A stream sets its own deadlines. An error response instead of one does not,
	// and would inherit the deadline of the previous request on the connection.
	s.boundAnswer(w)
	if strings.HasSuffix(r.URL.Path, "/events") {
		s.engine.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodHead {
		// net/http omits the body of the response.
		inner := *r
		inner.Method = http.MethodGet
		r = &inner
	}
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyWithin)) // The deadline ends with the body.
	}
	s.handler.ServeHTTP(w, r)
}

// boundAnswer limits the transfer time of a response from now on. Only the
// writers of tests do not support deadlines.
func (s *Server) boundAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.answerWithin))
}

// unboundAnswer removes the limit while a response waits for helm. It returns a
// function that sets it again.
func (s *Server) unboundAnswer(w http.ResponseWriter) (bound func()) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	return func() { s.boundAnswer(w) }
}

// CheckBasePath rejects a base path if a URL below it could also be one without
// it, because a proxy may either remove or keep the path.
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

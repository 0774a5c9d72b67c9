package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// defaultBodyWithin and defaultAnswerWithin bound a request that is no
	// stream: how long its body may take on the wire, and how long its answer,
	// a long poll's wait included. An answer that waits for helm is bounded
	// once helm is done.
	defaultBodyWithin   = 2 * time.Minute
	defaultAnswerWithin = 5 * time.Minute
	// compressFrom is the size from which compressing pays, in bytes.
	compressFrom = 1 << 10
	// jitter is how many random bytes at most an answer grows by, so that its
	// compressed size tells little about secrets in it.
	jitter = 32
)

// compressed are the types of answers that are worth compressing. A stream is
// never compressed: its frames have to leave at once.
var compressed = []string{
	"application/json", "application/yaml", "application/x-ndjson", "text/plain", "text/html", "text/css", "text/javascript", "image/svg+xml",
}

// newHandler puts compression before the routes.
func newHandler(routes http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.ContentTypes(compressed), gzhttp.RandomJitter(jitter, 0, false))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	return wrap(routes), nil
}

// ServeHTTP answers one request, with the base path or, as behind a proxy that
// removes it, without.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if base := s.options.BasePath; base != "" {
		if rest, ok := strings.CutPrefix(r.URL.Path, base); ok && (rest == "" || rest[0] == '/') {
			r = below(r, base)
		}
	}
	// A stream sets its own deadlines as it goes; what refuses one has none, and
	// would meet that of the connection's request before.
	s.boundAnswer(w)
	if strings.HasSuffix(r.URL.Path, "/events") {
		s.engine.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodHead {
		// It is GET without the body, which net/http leaves out.
		inner := *r
		inner.Method = http.MethodGet
		r = &inner
	}
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyWithin)) // it ends with the body
	}
	s.handler.ServeHTTP(w, r)
}

// boundAnswer gives an answer its time on the wire from now on. Writers that
// know no deadlines are those of tests.
func (s *Server) boundAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.answerWithin))
}

// unboundAnswer takes the bound away while an answer waits for helm.
func unboundAnswer(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// CheckBasePath fails when what stands below the path could be taken for
// something else, since a proxy may remove the path or leave it.
func CheckBasePath(path string) error {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if path != "" && reserved(first) {
		return fmt.Errorf("/%s is an address of helmtrail's own", first)
	}
	return nil
}

// below is the request without the base path.
func below(r *http.Request, base string) *http.Request {
	address := *r.URL
	address.Path = "/" + strings.TrimPrefix(strings.TrimPrefix(address.Path, base), "/")
	if address.RawPath != "" {
		address.RawPath = "/" + strings.TrimPrefix(strings.TrimPrefix(address.RawPath, base), "/")
	}
	inner := *r
	inner.URL = &address
	return &inner
}

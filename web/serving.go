package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// bodyWithin and answerWithin bound a request that is no stream: how long
	// its body and its answer may take on the wire, a long poll's wait included.
	bodyWithin   = 2 * time.Minute
	answerWithin = 5 * time.Minute
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
	if strings.HasSuffix(r.URL.Path, "/events") {
		s.engine.ServeHTTP(w, r)
		return
	}
	// Writers that know no deadlines are those of tests.
	control := http.NewResponseController(w)
	if r.ContentLength != 0 {
		_ = control.SetReadDeadline(time.Now().Add(bodyWithin))
	}
	_ = control.SetWriteDeadline(time.Now().Add(answerWithin))
	s.handler.ServeHTTP(w, r)
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

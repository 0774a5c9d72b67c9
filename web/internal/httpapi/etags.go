package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
)

// Tag gathers what an answer depends on into its ETag. It costs a small part
// of the answer itself.
type Tag struct {
	hash hash.Hash
	line []byte // reused, so that a long list allocates little
}

// NewTag returns a Tag of nothing yet.
func NewTag() *Tag { return &Tag{hash: sha256.New()} }

// TagOf returns the Tag of a whole body.
func TagOf(body []byte) *Tag {
	t := NewTag()
	t.hash.Write(body)
	return t
}

// Add adds texts, which must not hold a zero byte.
func (t *Tag) Add(parts ...string) {
	t.line = t.line[:0]
	for _, part := range parts {
		t.line = append(append(t.line, part...), 0)
	}
	t.hash.Write(t.line)
}

// AddRevision adds a revision and what else is shown of it. The version of its
// Secret stands for all that Helm wrote; the digest changes once it is read.
func (t *Tag) AddRevision(r *decoder.Revision, more ...string) {
	t.Add(r.Namespace, r.Name, r.Secret.Name, r.Secret.UID, r.Secret.ResourceVersion, r.Digest, r.Problem)
	t.Add(more...)
}

// ETag returns what was gathered as an ETag.
func (t *Tag) ETag() string {
	return `"` + base64.RawURLEncoding.EncodeToString(t.hash.Sum(nil)[:18]) + `"`
}

// Unchanged gives the answer to a GET the ETag of its body, and answers 304 and
// reports true if the client already has it. Use it where the content costs no
// less to know than to send.
func Unchanged(c *gin.Context, body []byte) bool {
	if c.Request.Method != http.MethodGet {
		return false
	}
	etag := TagOf(body).ETag()
	if MatchesETag(c.GetHeader("If-None-Match"), etag) {
		NotModified(c, etag)
		return true
	}
	c.Header("ETag", etag)
	return false
}

// NotModified answers 304.
func NotModified(c *gin.Context, etag string) {
	c.Header("ETag", etag)
	if c.Writer.Header().Get("Cache-Control") == "" {
		c.Header("Cache-Control", "no-cache")
	}
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
}

// MatchesETag reports whether an If-None-Match header holds an ETag.
func MatchesETag(header, etag string) bool {
	for known := range strings.SplitSeq(header, ",") {
		known = strings.TrimPrefix(strings.TrimSpace(known), "W/")
		if known == etag || known == "*" {
			return true
		}
	}
	return false
}

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

// Tag hashes everything that an answer depends on into an ETag. That costs far
// less than the answer itself.
type Tag struct {
	hash hash.Hash
	line []byte // reused, so that a long list allocates little
}

// NewTag returns an empty Tag.
func NewTag() *Tag { return &Tag{hash: sha256.New()} }

// TagOf returns the Tag of a whole body.
func TagOf(body []byte) *Tag {
	t := NewTag()
	t.hash.Write(body)
	return t
}

// Add adds texts, which must not contain a zero byte.
func (t *Tag) Add(parts ...string) {
	t.line = t.line[:0]
	for _, part := range parts {
		t.line = append(append(t.line, part...), 0)
	}
	t.hash.Write(t.line)
}

// AddRevision adds a revision and everything else shown with it. The version of
// its Secret represents everything that Helm wrote; the digest changes when the
// record is read.
func (t *Tag) AddRevision(r *decoder.Revision, more ...string) {
	t.Add(r.Namespace, r.Name, r.Secret.Name, r.Secret.UID, r.Secret.ResourceVersion, r.Digest, r.Problem)
	t.Add(more...)
}

// ETag returns the ETag.
func (t *Tag) ETag() string {
	return `"` + base64.RawURLEncoding.EncodeToString(t.hash.Sum(nil)[:18]) + `"`
}

// Unchanged sets the ETag of a body in the response to a GET. If the client
// already has the body, it answers 304 and returns true. Use it if the content
// costs as much to compute as to send.
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
		c.Header("Cache-Control", Revalidate)
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

package polling

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// Answer is the answer to a read. Many requests share one.
type Answer struct {
	// etag identifies the content. It is cheap to compute.
	etag string
	// encode encodes the body, once for all requests that share the answer.
	encode func() ([]byte, error)
}

// NewAnswer returns an answer whose body is encoded when it is first needed.
func NewAnswer(t *httpapi.Tag, encode func() ([]byte, error)) *Answer {
	return &Answer{etag: t.ETag(), encode: sync.OnceValues(encode)}
}

// JSON returns an answer whose content costs as much to compute as to encode.
func JSON(v any) *Answer {
	body := httpapi.EncodeJSON(v)
	return NewAnswer(httpapi.TagOf(body), func() ([]byte, error) { return body, nil })
}

// Key returns the key of an answer that is the same for all callers who may read the
// request's URL.
func Key(c *gin.Context) string {
	query := c.Request.URL.Query()
	query.Del("wait")
	return fmt.Sprintf("%s?%s", c.Request.URL.Path, query.Encode())
}

// write sends 200 and the body, or 304 if the client already has it. Before a
// body it calls reveal, if that is not nil.
func (a *Answer) write(c *gin.Context, known string, reveal func() error) error {
	if httpapi.MatchesETag(known, a.etag) {
		httpapi.NotModified(c, a.etag)
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
	}
	h.Set("Cache-Control", httpapi.Revalidate)
	h.Set("ETag", a.etag)
	c.Data(http.StatusOK, string(httpapi.JSON), body)
	return nil
}

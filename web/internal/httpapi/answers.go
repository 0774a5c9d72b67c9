package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/budget"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Revalidate is the Cache-Control of answers that only the caller's own browser may
// keep, and must ask about before each use.
const Revalidate = "private, no-cache"

// WriteError answers with an error as JSON.
func WriteError(c *gin.Context, e *Error) {
	WriteJSON(c, e.Status, errorBody{e.Code, e.Message, e.Details})
}

type errorBody struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// WriteJSON answers with v as JSON, or with 304 if the client of a GET already
// has it. It must be possible to encode v.
func WriteJSON(c *gin.Context, status int, v any) {
	body := EncodeJSON(v)
	h := c.Writer.Header()
	read := status == http.StatusOK && c.Request.Method == http.MethodGet
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
		if read {
			h.Set("Cache-Control", Revalidate)
		}
	}
	if read && Unchanged(c, body) {
		return
	}
	send(c, status, string(JSON), body)
}

// EncodeJSON encodes v and a line break. It panics if v cannot be encoded.
func EncodeJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}

// WriteText answers with text. It may hold secrets, so no cache stores it.
func WriteText(c *gin.Context, as Format, text string) {
	c.Header("Cache-Control", "no-store")
	c.Writer.Header().Add("Vary", "Accept")
	if Unchanged(c, []byte(text)) {
		return
	}
	send(c, http.StatusOK, string(as)+"; charset=utf-8", []byte(text))
}

// WriteData answers with JSON data, or with the same data as YAML. It may hold
// secrets, so no cache stores it.
func WriteData(c *gin.Context, as Format, data json.RawMessage) error {
	if as == YAML {
		root, err := tree.FromJSON(data)
		if err != nil {
			return err
		}
		text, err := tree.YAML(root)
		if err != nil {
			return err
		}
		WriteText(c, as, text)
		return nil
	}
	c.Header("Cache-Control", "no-store")
	c.Writer.Header().Add("Vary", "Accept")
	if Unchanged(c, data) {
		return nil
	}
	send(c, http.StatusOK, string(JSON), append(data[:len(data):len(data)], '\n'))
	return nil
}

// send writes an answer. Its request keeps only the answer's memory of what it
// took from the budget; when there is none for a large answer, the client gets
// the error instead.
func send(c *gin.Context, status int, contentType string, body []byte) {
	if err := budget.Keep(c.Request.Context(), len(body)); err != nil {
		if c.Request.Context().Err() != nil {
			return // The client is gone.
		}
		c.Header("Retry-After", "5")
		c.Header("Cache-Control", "no-store")
		status, contentType, body = errBusy.Status, string(JSON), EncodeJSON(errorBody{errBusy.Code, errBusy.Message, nil})
	}
	c.Data(status, contentType, body)
}

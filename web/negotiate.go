package web

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// format is a form in which an answer can be given.
type format string

const (
	formatJSON format = "application/json"
	formatYAML format = "application/yaml"
	formatText format = "text/plain"
	// formatLines is a JSON value a line.
	formatLines format = "application/x-ndjson"
)

// mediaTypes are what clients call the formats.
var mediaTypes = map[string]format{
	"application/json": formatJSON, "text/json": formatJSON,
	"application/yaml": formatYAML, "application/x-yaml": formatYAML, "text/yaml": formatYAML, "text/x-yaml": formatYAML,
	"text/plain": formatText, "text/*": formatText,
	"application/x-ndjson": formatLines, "application/ndjson": formatLines, "application/jsonl": formatLines,
}

// negotiate returns the offer that the client likes best. Without a wish, or
// with one that cannot be met, it is the first.
func negotiate(c *gin.Context, offers ...format) format {
	best, most := offers[0], 0.0
	for _, accept := range strings.Split(strings.Join(c.Request.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(accept)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, ok := parameters["q"]; ok {
			if weight, err = strconv.ParseFloat(q, 64); err != nil {
				continue
			}
		}
		wanted := mediaTypes[media]
		if media == "*/*" {
			wanted = offers[0]
		}
		for _, offer := range offers {
			if offer == wanted && weight > most {
				best, most = offer, weight
			}
		}
	}
	return best
}

// writeText answers with text. It may hold secrets, so nobody keeps it.
func writeText(c *gin.Context, as format, text string) {
	c.Header("Cache-Control", "no-store")
	c.Header("Vary", "Accept")
	if unchanged(c, []byte(text)) {
		return
	}
	c.Data(http.StatusOK, string(as)+"; charset=utf-8", []byte(text))
}

// writeData answers with JSON data, or with the same as YAML.
func writeData(c *gin.Context, as format, data json.RawMessage) error {
	if as == formatYAML {
		root, err := tree.FromJSON(data)
		if err != nil {
			return err
		}
		text, err := tree.YAML(root)
		if err != nil {
			return err
		}
		writeText(c, as, text)
		return nil
	}
	c.Header("Cache-Control", "no-store")
	c.Header("Vary", "Accept")
	if unchanged(c, data) {
		return nil
	}
	c.Data(http.StatusOK, string(formatJSON), append(data[:len(data):len(data)], '\n'))
	return nil
}

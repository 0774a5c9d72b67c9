package httpapi

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/munnerz/goautoneg"
)

// Format is the media type of an answer.
type Format string

// The formats of all answers.
const (
	JSON Format = "application/json"
	YAML Format = "application/yaml"
	Text Format = "text/plain"
	// Lines is one JSON value per line.
	Lines Format = "application/x-ndjson"
)

// mediaTypes maps requested media types to formats.
var mediaTypes = map[string]Format{
	"application/json": JSON, "text/json": JSON,
	"application/yaml": YAML, "application/x-yaml": YAML, "text/yaml": YAML, "text/x-yaml": YAML,
	"text/plain": Text, "text/*": Text,
	"application/x-ndjson": Lines, "application/ndjson": Lines, "application/jsonl": Lines,
}

// Negotiate returns the offer that the client prefers. It returns the first one if the
// client prefers none, or accepts only formats that are not offered.
func Negotiate(c *gin.Context, offers ...Format) Format {
	best, most := offers[0], 0.0
	for _, clause := range goautoneg.ParseAccept(strings.Join(c.Request.Header.Values("Accept"), ",")) {
		media := strings.ToLower(clause.Type + "/" + clause.SubType)
		wanted := mediaTypes[media]
		if media == "*/*" {
			wanted = offers[0]
		}
		if clause.Q > most && slices.Contains(offers, wanted) {
			best, most = wanted, clause.Q
		}
	}
	return best
}

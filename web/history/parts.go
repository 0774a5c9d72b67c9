package history

import (
	"errors"
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// offers are the formats of each part, by the part's name in the URL. The first
// is the default.
var offers = map[parts.Name][]httpapi.Format{
	parts.Values:   {httpapi.JSON, httpapi.YAML},
	parts.Manifest: {httpapi.Text, httpapi.YAML, httpapi.JSON},
	parts.Hooks:    {httpapi.Text, httpapi.YAML, httpapi.JSON},
	parts.Notes:    {httpapi.Text, httpapi.JSON},
	parts.Metadata: {httpapi.JSON, httpapi.YAML},
	parts.Chart:    {httpapi.JSON, httpapi.YAML},
	parts.Raw:      {httpapi.JSON, httpapi.YAML},
}

// formats maps the formats of answers to those of package parts.
var formats = map[httpapi.Format]parts.Format{httpapi.JSON: parts.JSON, httpapi.YAML: parts.YAML, httpapi.Text: parts.Text}

// GetPart answers with one part of one revision.
func (s *Server) GetPart(c *gin.Context) error {
	part := parts.Name(c.Param("part"))
	if offers[part] == nil {
		return httpapi.ErrNoRoute
	}
	ref, _, err := s.release(c)
	if err != nil {
		return err
	}
	revision, err := revisionNumber("revision", c.Param("revision"))
	if err != nil {
		return err
	}
	at := revisionOf(ref, revision)
	at.Lineage = c.Query("lineage")
	all := false
	if part == parts.Values {
		if all, err = httpapi.QueryBool(c, "all"); err != nil {
			return err
		}
	}
	ctx, caller := c.Request.Context(), authz.CallerOf(c)
	reveal, err := s.reveals(c, caller, ref)
	if err != nil {
		return err
	}
	record, err := s.record(ctx, caller, at)
	if err != nil {
		return err
	}
	if reveal {
		if err := s.Reveal(ctx, caller, at.reveal(c.Param("part"))); err != nil {
			return err
		}
		return writePart(c, record, part, all)
	}
	if record, err = s.maskedRecord(ctx, ref, record); err != nil {
		return unreadable(at, err)
	}
	return writePart(c, record, part, all)
}

// writePart answers with one part of a record. all includes the chart's default values.
func writePart(c *gin.Context, record *decoder.Record, part parts.Name, all bool) error {
	as := httpapi.Negotiate(c, offers[part]...)
	data, err := parts.Write(record, part, parts.Options{As: formats[as], All: all})
	switch {
	case errors.Is(err, parts.ErrNotYAML):
		return httpapi.Unreadable("The manifest is not valid YAML; request it as text.")
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return httpapi.Unreadable("The record's " + string(part) + " cannot be read.")
	case err != nil:
		return fmt.Errorf("write %s: %w", part, err)
	}
	if as == httpapi.JSON {
		return httpapi.WriteData(c, as, data)
	}
	httpapi.WriteText(c, as, string(data))
	return nil
}

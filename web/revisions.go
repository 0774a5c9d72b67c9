package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// offers are the parts of a revision by their names in the address, and the
// formats in which each can be had, the usual one first.
var offers = map[parts.Name][]format{
	parts.Values:   {formatJSON, formatYAML},
	parts.Manifest: {formatText, formatYAML, formatJSON},
	parts.Hooks:    {formatText, formatYAML, formatJSON},
	parts.Notes:    {formatText, formatJSON},
	parts.Metadata: {formatJSON, formatYAML},
	parts.Chart:    {formatJSON, formatYAML},
	parts.Raw:      {formatJSON, formatYAML},
}

// formats are those of the answers as package parts calls them.
var formats = map[format]parts.Format{formatJSON: parts.JSON, formatYAML: parts.YAML, formatText: parts.Text}

// getPart answers with one part of one revision.
func (s *Server) getPart(c *gin.Context) error {
	part := parts.Name(c.Param("part"))
	if offers[part] == nil {
		return errNoRoute
	}
	ref, _, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	revision, err := revisionNumber("revision", c.Param("revision"))
	if err != nil {
		return err
	}
	at := revisionRef{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Lineage: c.Query("lineage"), Revision: revision}
	all := false
	if part == parts.Values {
		if all, err = queryBool(c, "all"); err != nil {
			return err
		}
	}
	reveal, err := s.reveals(c, ref)
	if err != nil {
		return err
	}
	record, err := s.record(c, at)
	if err != nil {
		return err
	}
	if reveal {
		if err := s.reveal(c, at, c.Param("part")); err != nil {
			return err
		}
		return writePart(c, record, part, all)
	}
	if record, err = s.masked(ref, record); err != nil {
		return unreadable(at, err)
	}
	return writePart(c, record, part, all)
}

// writePart answers with one part of a record, which is masked unless it may be
// revealed; of the values with all that were merged, or the user's own.
func writePart(c *gin.Context, record *decoder.Record, part parts.Name, all bool) error {
	as := negotiate(c, offers[part]...)
	data, err := parts.Write(record, part, parts.Options{As: formats[as], All: all})
	switch {
	case errors.Is(err, parts.ErrNotYAML):
		return &apiError{status: http.StatusUnprocessableEntity, code: codeUnreadable, message: "The manifest is no valid YAML; ask for it as text."}
	case errors.Is(err, decoder.ErrNotRecord):
		return &apiError{status: http.StatusUnprocessableEntity, code: codeUnreadable, message: "The record's " + string(part) + " cannot be read."}
	case err != nil:
		return fmt.Errorf("write %s: %w", part, err)
	}
	if as == formatJSON {
		return writeData(c, as, data)
	}
	writeText(c, as, string(data))
	return nil
}

package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/compare"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/stream"
)

// renderedParts are the parts that a dry run renders.
var renderedParts = []parts.Name{parts.Manifest, parts.Hooks, parts.Notes}

// revisionRef names one revision.
type revisionRef struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Lineage is the life of the release that is meant, "" for that of today.
	Lineage string `json:"lineage,omitempty"`
	// Revision is 0 for what a session's dry run has rendered.
	Revision int    `json:"revision"`
	Session  string `json:"session,omitempty"`
}

// diffBody is how two revisions differ. A part that was not asked for is empty.
type diffBody struct {
	// From is null when there is nothing to compare with.
	From *revisionRef `json:"from"`
	To   revisionRef  `json:"to"`
	// Parts are those that were compared.
	Parts []parts.Name `json:"parts"`
	// Identical means that no part differs.
	Identical bool   `json:"identical"`
	Message   string `json:"message,omitempty"`

	compare.RecordDifference
}

// getDiff compares two revisions of a release, or one of another release with
// one of it, or one with what a dry run has rendered.
func (s *Server) getDiff(c *gin.Context) error {
	ref, cluster, err := s.releaseRef(c)
	if err != nil {
		return err
	}
	body := diffBody{RecordDifference: compare.RecordDifference{Values: []compare.Value{}, Manifest: []compare.Object{}, Hooks: []compare.Object{}, Chart: []compare.Value{}}}
	possible := compare.Parts
	if c.Query("toSession") != "" {
		possible = renderedParts
	}
	if body.Parts, err = readParts(c.QueryArray("part"), possible); err != nil {
		return err
	}
	all, err := queryBool(c, "all")
	if err != nil {
		return err
	}
	what, err := s.compared(c, cluster, ref)
	if err != nil {
		return err
	}
	from, to := what.from, what.to
	body.To = to
	if from == nil {
		if _, err := s.reveals(c, to.release()); err != nil {
			return err
		}
		body.Identical = true
		body.Message = fmt.Sprintf("Revision %d is the only one, so there is nothing to compare it with.", to.Revision)
		writeJSON(c, http.StatusOK, body)
		return nil
	}
	body.From = from
	before, after, err := s.comparedRecords(c, what)
	if err != nil {
		return err
	}
	differs, err := compare.Records(before, after, body.Parts, all)
	if err != nil {
		return &apiError{status: http.StatusUnprocessableEntity, code: codeUnreadable, message: "The revisions cannot be compared: " + err.Error()}
	}
	body.RecordDifference, body.Identical = *differs, differs.Identical()
	writeJSON(c, http.StatusOK, body)
	return nil
}

// readParts reads the parts that are asked for; without any, all that can be
// compared.
func readParts(asked []string, possible []parts.Name) ([]parts.Name, error) {
	var wanted []parts.Name
	for _, list := range asked {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(possible, parts.Name(name)) {
				return nil, badRequest("part", fmt.Sprintf("part must be one or more of %s.", joinNames(possible)))
			}
			wanted = append(wanted, parts.Name(name))
		}
	}
	if len(wanted) == 0 {
		return possible, nil
	}
	return slices.DeleteFunc(slices.Clone(possible), func(part parts.Name) bool { return !slices.Contains(wanted, part) }), nil
}

func joinNames(names []parts.Name) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ", ")
}

// compared is what a request compares.
type compared struct {
	// from is nil when the release has nothing to compare with.
	from *revisionRef
	to   revisionRef
	// fromSide is the request as it stands towards the cluster of from.
	fromSide *gin.Context
}

// compared reads what is meant. By default it is the newest revision and the one
// before it; of another release or life, its newest.
func (s *Server) compared(c *gin.Context, cluster *watched, ref stream.ReleaseRef) (*compared, error) {
	lineage := c.Query("lineage")
	to := revisionRef{
		Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Lineage: cmp.Or(c.Query("toLineage"), lineage), Session: c.Query("toSession"),
	}
	from := revisionRef{
		Cluster: cmp.Or(c.Query("fromCluster"), ref.Cluster), Namespace: cmp.Or(c.Query("fromNamespace"), ref.Namespace), Name: cmp.Or(c.Query("fromRelease"), ref.Name),
	}
	if from.release() == ref {
		from.Lineage = lineage
	}
	from.Lineage = cmp.Or(c.Query("fromLineage"), from.Lineage)
	what := &compared{to: to, fromSide: c}
	var err error
	if from.Cluster == ref.Cluster {
		if err = grantOf(c).allows(c.Request.Context(), needGet, from.Namespace); err == nil {
			err = cluster.watches(from.Namespace)
		}
	} else {
		what.fromSide, err = s.towards(c, from.Cluster, from.Namespace)
	}
	if err != nil {
		return nil, err
	}
	if to.Session != "" {
		err = refuseWithSession(c)
	} else {
		what.to.Revision, err = s.pick(c, to, "to", 0)
	}
	if err != nil {
		return nil, err
	}
	if what.to.Revision == 0 && to.Session == "" {
		return nil, noRelease(ref)
	}
	before := 0
	if from.release() == ref && from.Lineage == to.Lineage {
		before = what.to.Revision
	}
	if from.Revision, err = s.pick(what.fromSide, from, "from", before); err != nil {
		return nil, err
	}
	switch {
	case from.Revision == 0 && before == 0:
		return nil, noRelease(from.release())
	case from.Revision != 0:
		what.from = &from
	}
	return what, nil
}

// pick reads one revision's number from the query. By default it is the newest
// of the release, or the newest before another whose record is not erased; 0 if
// there is none.
func (s *Server) pick(c *gin.Context, of revisionRef, parameter string, before int) (int, error) {
	if text := c.Query(parameter); text != "" {
		return revisionNumber(parameter, text)
	}
	lives, err := s.lives(c, of.release())
	if err != nil {
		return 0, err
	}
	if of.Lineage != "" {
		if _, err := s.life(c, of.release(), of.Lineage); err != nil {
			return 0, err
		}
	}
	cluster, err := s.served(of.Cluster)
	if err != nil {
		return 0, err
	}
	h, err := cluster.history(of.release(), lives, of.Lineage)
	if err != nil {
		return 0, err
	}
	for _, r := range h.revisions {
		if before == 0 || r.Number < before && !h.kept[r].Erased {
			return r.Number, nil
		}
	}
	return 0, nil
}

// comparedRecords fetches both records and masks them unless they may be
// revealed. A secret of one is masked in the other too.
func (s *Server) comparedRecords(c *gin.Context, what *compared) (before, after *decoder.Record, err error) {
	refs, sides := [2]revisionRef{*what.from, what.to}, [2]*gin.Context{what.fromSide, c}
	var records [2]*decoder.Record
	var reveal [2]bool
	for i, at := range refs {
		if at.Session != "" {
			if records[i], err = s.renderedRecord(c, at); err != nil {
				return nil, nil, err
			}
			continue
		}
		if reveal[i], err = s.reveals(sides[i], at.release()); err != nil {
			return nil, nil, err
		}
		if records[i], err = s.record(sides[i], at); err != nil {
			return nil, nil, err
		}
	}
	for i, at := range refs {
		if !reveal[i] {
			continue
		}
		if err := s.reveal(sides[i], at, "comparison"); err != nil {
			return nil, nil, err
		}
		c.Header("Cache-Control", "no-store")
	}
	var shown [2]*decoder.Record
	var known *mask.Secrets
	for i, r := range refs {
		if shown[i] = records[i]; reveal[i] || r.Session != "" {
			continue
		}
		// Revisions of one release share what is known, so that a secret has
		// the same token in both.
		if known == nil || refs[0].release() != refs[1].release() {
			sources := []mask.Source{mask.FromRecord(records[i])}
			if refs[1-i].Session == "" { // What is masked already holds no secrets, but tokens.
				sources = append(sources, mask.FromRecord(records[1-i]))
			}
			known = s.masker(r.release()).Collect(sources...)
		}
		if shown[i], err = known.Record(records[i]); err != nil {
			return nil, nil, unreadable(r, err)
		}
	}
	return shown[0], shown[1], nil
}

// renderedRecord is what a dry run has rendered, in the form of a record. It is
// masked already.
func (s *Server) renderedRecord(c *gin.Context, at revisionRef) (*decoder.Record, error) {
	if err := s.knowsSession(c, at.release(), at.Session); err != nil {
		return nil, err
	}
	rendering, err := s.options.Operations.Rendered(c.Request.Context(), at.release(), at.Session)
	if err != nil {
		return nil, err
	}
	return &decoder.Record{SecretNamespace: at.Namespace, Manifest: rendering.Manifest, Hooks: rendering.Hooks, Notes: rendering.Notes}, nil
}

func (r revisionRef) release() stream.ReleaseRef {
	return stream.ReleaseRef{Cluster: r.Cluster, Namespace: r.Namespace, Name: r.Name}
}

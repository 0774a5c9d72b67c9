package history

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/compare"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/decoder/parts"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// renderedParts are the parts that a dry run renders.
var renderedParts = []parts.Name{parts.Manifest, parts.Hooks, parts.Notes}

// Comparison has the differences between two revisions. A part that was not
// requested is empty.
type Comparison struct {
	// From is null if there is nothing to compare with.
	From *RevisionRef `json:"from"`
	To   RevisionRef  `json:"to"`
	// Parts are the compared parts.
	Parts []parts.Name `json:"parts"`
	// Identical means that no part differs.
	Identical bool   `json:"identical"`
	Message   string `json:"message,omitempty"`

	compare.RecordDifference
}

// side is one of the two revisions that a request compares.
type side struct {
	RevisionRef
	// caller is the caller as the revision's cluster knows them.
	caller *authz.Caller
}

// GetComparison compares two revisions of a release, a revision with one of
// another release, or one with the result of a dry run.
func (s *Server) GetComparison(c *gin.Context) error {
	ref, cluster, err := s.release(c)
	if err != nil {
		return err
	}
	body := Comparison{RecordDifference: compare.RecordDifference{Values: []compare.Value{}, Manifest: []compare.Object{}, Hooks: []compare.Object{}, Chart: []compare.Value{}}}
	possible := compare.Parts
	if c.Query("toSession") != "" {
		possible = renderedParts
	}
	if body.Parts, err = readParts(c.QueryArray("part"), possible); err != nil {
		return err
	}
	all, err := httpapi.QueryBool(c, "all")
	if err != nil {
		return err
	}
	from, to, err := s.sides(c, cluster, ref)
	if err != nil {
		return err
	}
	body.To = to.RevisionRef
	if from == nil {
		if _, err := s.reveals(c, to.caller, to.release()); err != nil {
			return err
		}
		body.Identical = true
		body.Message = fmt.Sprintf("Revision %d is the only one, so there is nothing to compare it with.", to.Revision)
		httpapi.WriteJSON(c, http.StatusOK, body)
		return nil
	}
	body.From = &from.RevisionRef
	before, after, err := s.recordsOf(c, *from, *to)
	if err != nil {
		return err
	}
	differs, err := compare.Records(before, after, body.Parts, all)
	if err != nil {
		return httpapi.Unreadable("The revisions cannot be compared: " + err.Error())
	}
	body.RecordDifference, body.Identical = *differs, differs.Identical()
	httpapi.WriteJSON(c, http.StatusOK, body)
	return nil
}

// readParts returns the requested parts, or all possible ones if none are requested.
func readParts(asked []string, possible []parts.Name) ([]parts.Name, error) {
	var wanted []parts.Name
	for _, list := range asked {
		for name := range strings.SplitSeq(list, ",") {
			if !slices.Contains(possible, parts.Name(name)) {
				return nil, httpapi.BadField("part", fmt.Sprintf("part must be one or more of %s.", joinNames(possible)))
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

// sides returns the two revisions that a request compares: by default the newest
// and the one before it, or the newest of another release or lineage. from is nil
// if there is nothing to compare with.
func (s *Server) sides(c *gin.Context, cluster Cluster, ref helmtrail.ReleaseRef) (from, to *side, err error) {
	lineage := c.Query("lineage")
	to = &side{RevisionRef{
		Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name, Lineage: cmp.Or(c.Query("toLineage"), lineage), Session: c.Query("toSession"),
	}, authz.CallerOf(c)}
	from = &side{RevisionRef{
		Cluster: cmp.Or(c.Query("fromCluster"), ref.Cluster), Namespace: cmp.Or(c.Query("fromNamespace"), ref.Namespace), Name: cmp.Or(c.Query("fromRelease"), ref.Name),
	}, to.caller}
	if from.release() == ref {
		from.Lineage = lineage
	}
	from.Lineage = cmp.Or(c.Query("fromLineage"), from.Lineage)
	if from.Cluster == ref.Cluster {
		if err = to.caller.Allows(c.Request.Context(), authz.Get, from.Namespace); err == nil {
			err = cluster.CheckWatched(from.Namespace)
		}
	} else {
		from.caller, err = s.callerIn(c, from.Cluster, from.Namespace)
	}
	if err != nil {
		return nil, nil, err
	}
	if to.Session != "" {
		err = refuseWithSession(c)
	} else {
		to.Revision, err = s.pick(c, *to, "to", 0)
	}
	if err != nil {
		return nil, nil, err
	}
	if to.Revision == 0 && to.Session == "" {
		return nil, nil, httpapi.NoRelease(ref)
	}
	before := 0
	if from.release() == ref && from.Lineage == to.Lineage {
		before = to.Revision
	}
	if from.Revision, err = s.pick(c, *from, "from", before); err != nil {
		return nil, nil, err
	}
	if from.Revision == 0 {
		if before == 0 {
			return nil, nil, httpapi.NoRelease(from.release())
		}
		return nil, to, nil
	}
	return from, to, nil
}

// callerIn returns the request's caller in another cluster, if they may see the
// releases of a namespace there.
func (s *Server) callerIn(c *gin.Context, id, namespace string) (*authz.Caller, error) {
	cluster, err := s.Cluster(id)
	if err != nil {
		return nil, err
	}
	caller, err := s.CallerIn(c, id)
	if err != nil {
		return nil, err
	}
	if err := caller.Require(c.Request.Context(), authz.Get, namespace); err != nil {
		return nil, err
	}
	return caller, cluster.CheckWatched(namespace)
}

// refuseWithSession rejects parameters that do not apply to the result of a dry run.
func refuseWithSession(c *gin.Context) error {
	for _, name := range []string{"to", "toLineage", "all", "reveal"} {
		if c.Query(name) != "" && c.Query(name) != "false" {
			return httpapi.BadField(name, name+" and toSession do not go together.")
		}
	}
	return nil
}

// pick returns a revision's number from the query. The default is the release's
// newest revision or, with another revision given, the newest one before it whose
// record is not erased; 0 if there is none.
func (s *Server) pick(c *gin.Context, of side, parameter string, before int) (int, error) {
	if text := c.Query(parameter); text != "" {
		return revisionNumber(parameter, text)
	}
	ctx := c.Request.Context()
	lineages, err := s.lineagesFor(ctx, of.caller, of.release())
	if err != nil {
		return 0, err
	}
	if of.Lineage != "" {
		if _, err := s.lineage(ctx, of.caller, of.release(), of.Lineage); err != nil {
			return 0, err
		}
	}
	cluster, err := s.Cluster(of.Cluster)
	if err != nil {
		return 0, err
	}
	known, err := gather(cluster, of.release(), lineages, of.Lineage)
	if err != nil {
		return 0, err
	}
	for _, r := range known.all {
		if before == 0 || r.Number < before && !known.kept[r].Erased {
			return r.Number, nil
		}
	}
	return 0, nil
}

// recordsOf fetches both records and masks them unless they may be revealed. A
// secret of one is also masked in the other.
func (s *Server) recordsOf(c *gin.Context, from, to side) (before, after *decoder.Record, err error) {
	ctx, sides := c.Request.Context(), [2]side{from, to}
	var records [2]*decoder.Record
	var reveal [2]bool
	for i, at := range sides {
		if at.Session != "" {
			if records[i], err = s.renderedRecord(ctx, at.caller, at.RevisionRef); err != nil {
				return nil, nil, err
			}
			continue
		}
		if reveal[i], err = s.reveals(c, at.caller, at.release()); err != nil {
			return nil, nil, err
		}
		if records[i], err = s.record(ctx, at.caller, at.RevisionRef); err != nil {
			return nil, nil, err
		}
	}
	for i, at := range sides {
		if !reveal[i] {
			continue
		}
		if err := s.Reveal(ctx, at.caller, at.reveal("comparison")); err != nil {
			return nil, nil, err
		}
		c.Header("Cache-Control", "no-store")
	}
	shown, err := s.maskBoth(ctx, sides, records, reveal)
	return shown[0], shown[1], err
}

// maskBoth masks the records that are neither revealed nor already masked.
func (s *Server) maskBoth(ctx context.Context, sides [2]side, records [2]*decoder.Record, reveal [2]bool) (shown [2]*decoder.Record, err error) {
	var known *mask.Secrets
	for i, at := range sides {
		if shown[i] = records[i]; reveal[i] || at.Session != "" {
			continue
		}
		// Revisions of one release share their known secrets, so that a secret
		// has the same token in both.
		if known == nil || sides[0].release() != sides[1].release() {
			sources := []mask.Source{mask.FromRecord(records[i])}
			if sides[1-i].Session == "" { // A masked record holds tokens, not secrets.
				sources = append(sources, mask.FromRecord(records[1-i]))
			}
			known = s.Masker(at.release()).Within(ctx).Collect(sources...)
		}
		if shown[i], err = known.Record(records[i]); err != nil {
			return shown, unreadable(at.RevisionRef, err)
		}
	}
	return shown, nil
}

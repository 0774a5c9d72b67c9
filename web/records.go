package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream"
)

// record fetches one revision in full: from the cluster, and what is no longer
// there from the trail. A record that is there but cannot be read, or that
// retention removed, is another error than one that does not exist.
func (s *Server) record(c *gin.Context, at revisionRef) (*decoder.Record, error) {
	if at.Lineage == "" {
		record, err := s.clusterRecord(c, at)
		if !errors.Is(err, stream.ErrNotFound) {
			return record, err
		}
		lives, err := s.lives(c, at.release())
		if err != nil {
			return nil, err
		}
		cluster, err := s.served(at.Cluster)
		if err != nil {
			return nil, err
		}
		inCluster := len(cluster.Releases.Revisions(at.Namespace, at.Name)) > 0
		if kept, ok := keptIn(present(lives, inCluster), at.Revision); ok {
			return s.trailRecord(c, at, kept)
		}
		return nil, noRevision(at)
	}
	life, err := s.life(c, at.release(), at.Lineage)
	if err != nil {
		return nil, err
	}
	kept, ok := keptIn([]stream.Lineage{life}, at.Revision)
	if !ok {
		return nil, noRevision(at)
	}
	if kept.Gone == "" {
		// The release may have begun another life that the trail is yet to tell of.
		record, err := s.clusterRecord(c, at)
		if err != nil && !errors.Is(err, stream.ErrNotFound) || err == nil && record.FirstDeployed.Equal(life.FirstDeployed) {
			return record, err
		}
	}
	return s.trailRecord(c, at, kept)
}

// clusterRecord is record for what is in the cluster. It fails with
// stream.ErrNotFound for what is not.
func (s *Server) clusterRecord(c *gin.Context, at revisionRef) (*decoder.Record, error) {
	cluster, err := s.served(at.Cluster)
	if err != nil {
		return nil, err
	}
	record, err := cluster.Objects.Record(c.Request.Context(), at.Namespace, at.Name, at.Revision)
	switch {
	case err == nil || errors.Is(err, stream.ErrNotFound):
		return record, err
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return nil, unreadable(at, err)
	}
	return nil, cluster.asked(err)
}

// trailRecord is record for what the trail has kept.
func (s *Server) trailRecord(c *gin.Context, at revisionRef, kept keptRevision) (*decoder.Record, error) {
	record, err := s.keptRecord(c.Request.Context(), at.release(), kept.TrailRevision)
	switch {
	case err == nil:
		return record, nil
	case errors.Is(err, stream.ErrErased):
		return nil, gone(at, "was removed by retention")
	case errors.Is(err, stream.ErrNotFound):
		return nil, gone(at, "was not read before it was overwritten or deleted")
	case errors.Is(err, stream.ErrAltered) || errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		return nil, unreadable(at, err)
	}
	return nil, err
}

// keptRecord reads a record that the trail has kept. It is shared and must not
// be changed.
func (s *Server) keptRecord(ctx context.Context, ref stream.ReleaseRef, kept stream.TrailRevision) (*decoder.Record, error) {
	switch {
	case kept.Erased:
		return nil, stream.ErrErased
	case kept.Digest == "":
		return nil, stream.ErrNotFound
	}
	key := recordKey{ref, kept.Digest}
	if known := s.keptRecords.get(key); known != nil {
		return known, nil
	}
	data, err := s.options.Trail.Record(ctx, kept.Digest)
	if err != nil {
		return nil, err
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	record.SecretNamespace, record.Digest, record.Size = ref.Namespace, kept.Digest, len(data)
	s.keptRecords.put(key, record)
	return record, nil
}

func noRevision(at revisionRef) error {
	return &apiError{
		status: http.StatusNotFound, code: codeNotFound,
		message: fmt.Sprintf("There is no revision %d of release %s in namespace %s.", at.Revision, at.Name, at.Namespace),
	}
}

// gone says that a revision was there, and why its record cannot be had any more.
func gone(at revisionRef, why string) error {
	return &apiError{
		status: http.StatusGone, code: codeGone,
		message: fmt.Sprintf("The record of revision %d of release %s %s.", at.Revision, at.Name, why),
	}
}

// unreadable says that a revision is there although it cannot be shown. The
// decoder's errors quote nothing of a record.
func unreadable(at revisionRef, err error) error {
	return &apiError{
		status: http.StatusUnprocessableEntity, code: codeUnreadable,
		message: fmt.Sprintf("Revision %d of release %s is there, but cannot be read: %s", at.Revision, at.Name, err),
	}
}

// masker makes the tokens of a release's secrets.
func (s *Server) masker(ref stream.ReleaseRef) *mask.Masker {
	return mask.New(s.options.MaskKey, mask.Release{Cluster: ref.Cluster, Namespace: ref.Namespace, Name: ref.Name})
}

// reveals reports whether a request asks for secrets as they are and may have
// them. It is asked for every release of a request.
func (s *Server) reveals(c *gin.Context, ref stream.ReleaseRef) (bool, error) {
	asked, err := queryBool(c, "reveal")
	if err != nil || !asked {
		return false, err
	}
	refused := &apiError{status: http.StatusForbidden, code: codeForbidden, message: "You may not see the secrets of namespace " + ref.Namespace + "."}
	if s.options.MayReveal == nil {
		return false, refused
	}
	if err := s.options.MayReveal(c.Request, ref); err != nil {
		return false, errors.Join(refused, err)
	}
	return true, nil
}

// reveal puts on record that the caller is about to be shown secrets, which
// must not be done when it fails.
func (s *Server) reveal(c *gin.Context, at revisionRef, what string) error {
	user := grantOf(c).name()
	if s.options.Trail != nil {
		err := s.options.Trail.Reveal(c.Request.Context(), stream.Reveal{Release: at.release(), Lineage: at.Lineage, Revision: at.Revision, User: user, What: what})
		if err != nil {
			s.logger.Error("nothing was revealed, since the trail could not take it in", "cluster", at.Cluster, "namespace", at.Namespace, "release", at.Name, "error", err)
			return &apiError{
				status: http.StatusServiceUnavailable, code: codeUnavailable,
				message: "Secrets are shown only when that can be put on record, which failed; the server's log says why.",
			}
		}
	}
	s.logger.Info("secrets revealed", "cluster", at.Cluster, "namespace", at.Namespace, "release", at.Name, "revision", at.Revision,
		"lineage", at.Lineage, "what", what, "user", user, "client", c.Request.RemoteAddr)
	return nil
}

// queryBool reads a parameter that is true or false; without it, false.
func queryBool(c *gin.Context, name string) (bool, error) {
	switch c.Query(name) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, badRequest(name, name+" must be true or false.")
}

// revisionNumber reads a revision's number.
func revisionNumber(field, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, badRequest(field, field+" must be the number of a revision.")
	}
	return n, nil
}

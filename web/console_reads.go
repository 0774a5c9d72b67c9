package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// consoleReadTime bounds the reading of the records of one answer, which goes
// on for others when one of its clients leaves.
const consoleReadTime = 2 * time.Minute

// consoleReleases answers with the newest revision of every release, in full
// or, with limitInfo, what a list shows.
func (s *Server) consoleReleases(call *consoleCall) error {
	namespace, limited := call.Query("ns"), false
	if text := call.Query("limitInfo"); text != "" {
		var err error
		if limited, err = strconv.ParseBool(text); err != nil {
			return badRequest("limitInfo", "limitInfo must be true or false.")
		}
	}
	ref := call.release(namespace, "")
	if err := s.consoleSees(call, ref); err != nil {
		return err
	}
	return s.pollRevealing(call.Context, call.cluster, topic{namespace: namespace}, answerKey(call.Context), func() error {
		return s.consoleRevealing(call, ref, 0, "releases")
	}, func(ctx context.Context) (*answer, error) {
		page, _ := call.cluster.latest().page(listQuery{namespace: namespace})
		return s.consoleAnswer(ctx, call.cluster, page, limited), nil
	})
}

// consoleRelease answers with a release's newest revision.
func (s *Server) consoleRelease(call *consoleCall) error {
	return s.consoleRevisions(call, "newest revision", func(ctx context.Context, ref stream.ReleaseRef) (*answer, error) {
		newest := call.cluster.newest(ref)
		if newest == nil {
			return nil, &consoleError{http.StatusBadGateway, errConsoleNotFound.text}
		}
		t := newTag()
		t.addRevision(newest, happening{})
		ctx = context.WithoutCancel(ctx)
		return newAnswer(t, func() ([]byte, error) {
			ctx, cancel := context.WithTimeout(ctx, consoleReadTime)
			defer cancel()
			return s.consoleEncode(ctx, call.cluster, newest, false)
		}), nil
	})
}

// consoleHistory answers with all revisions of a release.
func (s *Server) consoleHistory(call *consoleCall) error {
	return s.consoleRevisions(call, "history", func(ctx context.Context, ref stream.ReleaseRef) (*answer, error) {
		revisions := slices.Clone(call.cluster.Releases.Revisions(ref.Namespace, ref.Name))
		if len(revisions) == 0 {
			return nil, errConsoleNotFound
		}
		slices.SortFunc(revisions, func(a, b *decoder.Revision) int { return a.Number - b.Number })
		return s.consoleAnswer(ctx, call.cluster, revisions, false), nil
	})
}

// consoleRevisions answers about the release that the query names.
func (s *Server) consoleRevisions(call *consoleCall, what string, read func(context.Context, stream.ReleaseRef) (*answer, error)) error {
	ref := call.release(call.Query("ns"), call.Query("name"))
	if err := s.consoleSees(call, ref); err != nil {
		return err
	}
	return s.pollRevealing(call.Context, call.cluster, topic{ref.Namespace, ref.Name}, answerKey(call.Context), func() error {
		return s.consoleRevealing(call, ref, 0, what)
	}, func(ctx context.Context) (*answer, error) {
		return read(ctx, ref)
	})
}

// consoleAnswer is an array of releases.
func (s *Server) consoleAnswer(ctx context.Context, cluster *watched, revisions []*decoder.Revision, limited bool) *answer {
	t := newTag()
	for _, r := range revisions {
		t.addRevision(r, happening{})
	}
	ctx = context.WithoutCancel(ctx)
	return newAnswer(t, func() ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, consoleReadTime)
		defer cancel()
		items := make([]json.RawMessage, len(revisions))
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(recordsAtOnce)
		for i, r := range revisions {
			group.Go(func() error {
				var err error
				items[i], err = s.consoleEncode(ctx, cluster, r, limited)
				if errors.Is(err, stream.ErrNotFound) {
					return nil // It has just been deleted.
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, cluster.asked(err)
		}
		items = slices.DeleteFunc(items, func(item json.RawMessage) bool { return item == nil })
		var body bytes.Buffer
		body.WriteByte('[')
		body.Write(bytes.Join(rawBytes(items), []byte{','}))
		body.WriteString("]\n")
		return body.Bytes(), nil
	})
}

func rawBytes(items []json.RawMessage) [][]byte {
	list := make([][]byte, len(items))
	for i, item := range items {
		list[i] = bytes.TrimSuffix(item, []byte{'\n'})
	}
	return list
}

// consoleEncode encodes one revision. One whose record cannot be read is told
// from its label.
func (s *Server) consoleEncode(ctx context.Context, cluster *watched, r *decoder.Revision, limited bool) ([]byte, error) {
	key := factsKey{cluster.ID, r.Secret.UID, r.Secret.ResourceVersion}
	if limited {
		if kept, ok := s.briefs.get(key); ok {
			return kept, nil
		}
	}
	record, err := cluster.Objects.Record(ctx, r.Namespace, r.Name, r.Number)
	var shown *consoleRelease
	if err == nil {
		shown, err = newConsoleRelease(record, r)
	}
	switch {
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		shown = unreadableRelease(r, err.Error())
	case err != nil:
		return nil, err
	}
	if !limited {
		return encodeJSON(shown), nil
	}
	brief := encodeJSON(shown.brief())
	// A record that was overwritten since belongs to another state.
	if err == nil && record.Digest == r.Digest {
		s.briefs.put(key, brief)
	}
	return brief, nil
}

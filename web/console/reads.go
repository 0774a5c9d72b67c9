package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/clusters"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
	"github.com/helmtrail/helmtrail/web/internal/polling"
)

const (
	// readTime bounds the reading of the records for one answer. The read
	// continues if one of the clients that share it leaves.
	readTime = 2 * time.Minute
	// recordsAtOnce is the number of records that one answer reads concurrently.
	recordsAtOnce = 8
	// maxAnswer bounds an answer that holds whole releases, in bytes.
	maxAnswer = 32 << 20
)

// errLargeAnswer is returned for more releases than fit into one answer.
var errLargeAnswer = &statusError{http.StatusBadGateway, "the releases are too large for one answer"}

// listReleases answers with the newest revision of every release, in full or,
// with limitInfo, without the parts that lists do not show.
func (s *Server) listReleases(call *apiCall) error {
	namespace, limited := call.Query("ns"), false
	if text := call.Query("limitInfo"); text != "" {
		var err error
		if limited, err = strconv.ParseBool(text); err != nil {
			return httpapi.BadField("limitInfo", "limitInfo must be true or false.")
		}
	}
	ref := call.release(namespace, "")
	if err := s.checkVisible(call, ref); err != nil {
		return err
	}
	return call.cluster.Poll(call.Context, polling.Poll{
		About: polling.Topic{Namespace: namespace}, Key: polling.Key(call.Context),
		Reveal: func() error { return s.reveal(call, ref, 0, "releases") },
		Read: func(ctx context.Context) (*polling.Answer, error) {
			page, _ := call.cluster.Latest().Page(clusters.Query{Namespace: namespace})
			return s.answer(ctx, call.cluster, page, limited), nil
		},
	})
}

// getRelease answers with a release's newest revision.
func (s *Server) getRelease(call *apiCall) error {
	return s.pollRevisions(call, "newest revision", func(ctx context.Context, ref helmtrail.ReleaseRef) (*polling.Answer, error) {
		newest := call.cluster.Newest(ref)
		if newest == nil {
			return nil, &statusError{http.StatusBadGateway, errNotFound.text}
		}
		t := httpapi.NewTag()
		t.AddRevision(newest)
		ctx = context.WithoutCancel(ctx)
		return polling.NewAnswer(t, func() ([]byte, error) {
			ctx, cancel := context.WithTimeout(ctx, readTime)
			defer cancel()
			return s.encode(ctx, call.cluster, newest, false)
		}), nil
	})
}

// getHistory answers with all revisions of a release.
func (s *Server) getHistory(call *apiCall) error {
	return s.pollRevisions(call, "history", func(ctx context.Context, ref helmtrail.ReleaseRef) (*polling.Answer, error) {
		revisions := slices.Clone(call.cluster.Releases.Revisions(ref.Namespace, ref.Name))
		if len(revisions) == 0 {
			return nil, errNotFound
		}
		slices.SortFunc(revisions, func(a, b *decoder.Revision) int { return a.Number - b.Number })
		return s.answer(ctx, call.cluster, revisions, false), nil
	})
}

// pollRevisions answers about the release in the query.
func (s *Server) pollRevisions(call *apiCall, what string, read func(context.Context, helmtrail.ReleaseRef) (*polling.Answer, error)) error {
	ref := call.release(call.Query("ns"), call.Query("name"))
	if err := s.checkVisible(call, ref); err != nil {
		return err
	}
	return call.cluster.Poll(call.Context, polling.Poll{
		About: polling.Topic{Namespace: ref.Namespace, Name: ref.Name}, Key: polling.Key(call.Context),
		Reveal: func() error { return s.reveal(call, ref, 0, what) },
		Read:   func(ctx context.Context) (*polling.Answer, error) { return read(ctx, ref) },
	})
}

// answer returns an answer with an array of releases.
func (s *Server) answer(ctx context.Context, cluster Cluster, revisions []*decoder.Revision, limited bool) *polling.Answer {
	t := httpapi.NewTag()
	for _, r := range revisions {
		t.AddRevision(r)
	}
	ctx = context.WithoutCancel(ctx)
	return polling.NewAnswer(t, func() ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, readTime)
		defer cancel()
		items := make([]json.RawMessage, len(revisions))
		var size atomic.Int64
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(recordsAtOnce)
		for i, r := range revisions {
			group.Go(func() error {
				var err error
				items[i], err = s.encode(ctx, cluster, r, limited)
				if errors.Is(err, helmtrail.ErrNotFound) {
					return nil // It has just been deleted.
				}
				if size.Add(int64(len(items[i]))) > maxAnswer {
					return errLargeAnswer
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, cluster.Explain(err)
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

// encode encodes one revision. If its record cannot be read, it uses the label.
func (s *Server) encode(ctx context.Context, cluster Cluster, r *decoder.Revision, limited bool) ([]byte, error) {
	key := strings.Join([]string{cluster.ID, r.Secret.UID, r.Secret.ResourceVersion}, "\x00")
	if limited {
		if kept, ok := s.briefs.Get(key); ok {
			return kept, nil
		}
	}
	ctx, end := s.Budget.Begin(ctx)
	defer end()
	record, err := cluster.Records.Record(ctx, r.Namespace, r.Name, r.Number)
	var shown *release
	if err == nil {
		shown, err = newRelease(record, r)
	}
	switch {
	case errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge):
		shown = unreadableRelease(r, err.Error())
	case err != nil:
		return nil, err
	}
	if !limited {
		return httpapi.EncodeJSON(shown), nil
	}
	brief := httpapi.EncodeJSON(shown.brief())
	// A record that has been overwritten since belongs to another state.
	if err == nil && record.Digest == r.Digest {
		s.briefs.Add(key, brief)
	}
	return brief, nil
}

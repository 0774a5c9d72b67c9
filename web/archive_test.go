package web_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/web"
)

// stored holds the release Secrets of a cluster and reads them like the real one.
type stored struct {
	mu      sync.Mutex
	records map[string][]byte
}

func storedKey(namespace, name string, revision int) string {
	return namespace + "/" + name + "/" + strconv.Itoa(revision)
}

func (s *stored) Record(_ context.Context, namespace, name string, revision int) (*decoder.Record, error) {
	s.mu.Lock()
	data, ok := s.records[storedKey(namespace, name, revision)]
	s.mu.Unlock()
	if !ok {
		return nil, helmtrail.ErrNotFound
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return nil, err
	}
	record.SecretNamespace, record.Digest, record.Size = namespace, fmt.Sprintf("%x", sha256.Sum256(data)), len(data)
	return record, nil
}

func (s *stored) Now(context.Context, *decoder.Record, helmtrail.Viewer) ([]health.Resource, error) {
	return nil, nil
}

func (s *stored) ContainerLog(context.Context, health.LogSource, helmtrail.Viewer) (string, error) {
	return "", helmtrail.ErrNotFound
}

// archive is a fixture whose cluster has records.
type archive struct {
	*fixture
	stored *stored
	logs   *bytes.Buffer
}

func newArchive(t *testing.T, adjust ...func(*web.Options)) *archive {
	a := &archive{stored: &stored{records: map[string][]byte{}}, logs: &bytes.Buffer{}}
	a.fixture = newFixture(t, func(o *web.Options, _ *stream.Setup) {
		o.Clusters[0].Objects = a.stored
		o.Logger = slog.New(slog.NewTextHandler(a.logs, nil))
		for _, f := range adjust {
			f(o)
		}
	})
	return a
}

// shop describes a revision of a release. The comments give the defaults.
type shop struct {
	name, namespace string // defaults: web, shop
	revision        int
	status          decoder.Status
	labelStatus     decoder.Status // default: status
	record          string         // more fields of the record in JSON, without braces
	data            string         // replaces the record
	uid             string         // the Secret's, if it was created again
}

// put stores a revision as the cluster would hold it. The watch sees only its
// labels. put returns the revision as read in full, and its bytes.
func (a *archive) put(t *testing.T, s shop) (read *decoder.Revision, record []byte) {
	t.Helper()
	if s.name == "" {
		s.name = "web"
	}
	if s.namespace == "" {
		s.namespace = "shop"
	}
	if s.labelStatus == "" {
		s.labelStatus = s.status
	}
	data := s.data
	if data == "" {
		fields := s.record
		if fields == "" {
			fields = `"info":{"status":"` + string(s.status) + `"}`
		}
		for key, value := range map[string]string{
			"name": `"web"`, "namespace": `"shop"`, "version": strconv.Itoa(s.revision), "chart": `{"metadata":{"name":"web","version":"1.2.3"}}`,
		} {
			if !strings.Contains(fields, `"`+key+`":`) || key == "name" && !strings.HasPrefix(fields, `"name":`) || key == "version" {
				fields += fmt.Sprintf(",%q:%s", key, value)
			}
		}
		data = base64.StdEncoding.EncodeToString([]byte("{" + fields + "}"))
	}
	a.stored.mu.Lock()
	a.stored.records[storedKey(s.namespace, s.name, s.revision)] = []byte(data)
	a.stored.mu.Unlock()
	number := strconv.Itoa(s.revision)
	secret := decoder.Secret{
		Namespace: s.namespace, Name: "sh.helm.release.v1." + s.name + ".v" + number, UID: s.namespace + s.name + number + s.uid,
		ResourceVersion: strconv.Itoa(len(data)) + string(s.status), Created: time.Unix(int64(s.revision), 0),
		Labels: map[string]string{"owner": "helm", "name": s.name, "version": number, "status": string(s.labelStatus)},
	}
	unread, ok := decoder.NewRevision(secret, nil, decoder.Limits{})
	if !ok {
		t.Fatal("the Secret has no revision")
	}
	a.releases.put(unread)
	read, _ = decoder.NewRevision(secret, []byte(data), decoder.Limits{})
	return read, []byte(data)
}

type historyAnswer struct {
	Items []struct {
		Revision         int
		Status           string
		LabelStatus      string
		Description      string
		ApplyMethod      string
		RollbackRevision int
		Live             bool
		Problem          string
		Session          *string
		User             string
		Size             int
		Digest           string
		Lineage          string
		Gone             *string
		Erased           bool
		Secret           decoder.SecretRef
		Anomalies        []struct{ Code, Message string }
	}
	Lineages []struct {
		ID                 string
		Revisions          int
		Current, InCluster bool
	}
	Continue string
}

func (a *archive) history(query string) historyAnswer {
	a.t.Helper()
	var h historyAnswer
	a.do(http.MethodGet, shopURL+"/web/history"+query, "").decode(http.StatusOK, &h)
	return h
}

// rows formats a history's revisions as "number status". A star marks the current
// one; the reason for its absence and the anomalies follow.
func (h historyAnswer) rows() []string {
	var rows []string
	for _, item := range h.Items {
		row := fmt.Sprintf("%d %s", item.Revision, item.Status)
		if item.Live {
			row += "*"
		}
		if item.Gone != nil {
			row += " " + *item.Gone
		}
		if item.Erased {
			row += " erased"
		}
		for _, odd := range item.Anomalies {
			row += " " + odd.Code
		}
		rows = append(rows, row)
	}
	return rows
}

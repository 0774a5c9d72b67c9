package decoder_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	helmtime "helm.sh/helm/v3/pkg/time"

	"github.com/helmtrail/helmtrail/decoder"
)

// FuzzDecodeHeader feeds both readers arbitrary bytes as the data of a Secret.
// Neither reader may panic. If both can read the data, their results must
// agree.
func FuzzDecodeHeader(f *testing.F) {
	f.Add(compressed(f, webRecord))
	f.Add(plainJSON(webRecord))
	f.Add(inLines(compressed(f, webRecord), 76, "\n"))
	for _, file := range []string{"helm3/web.v4", "helm4/web.v3", "helm4/kept.v2.v1"} {
		f.Add(load(f, filepath.Join("testdata", file+".yaml")).Data["release"])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, data)
	})
}

// FuzzRecordJSON feeds arbitrary JSON in both encodings and compares the result
// with encoding/json, which Helm uses.
func FuzzRecordJSON(f *testing.F) {
	f.Add(webRecord)
	f.Add(spaced(webRecord))
	f.Add(`{"info":{"status":"\ud83d\ude00\ud83dx\ud83d\ud83d\ude00\udc00\u00e9","description":"` + "\xff\xe2\x82" + `"},"hooks":[` + hookJSON + `]}`)
	f.Add(`{"Info":{"\u017ftatus":"a"},"config":{"a":-0.5e+7},"version":-0,"chart":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		record := agree(t, plainJSON(text))
		if packed := agree(t, compressed(t, text)); !cmp.Equal(record, packed) {
			t.Fatalf("plain and compressed differ (-plain +compressed):\n%s", cmp.Diff(record, packed))
		}
		want, wantErr := reference(text)
		if record == nil {
			_, err := decoder.DecodeRecord(plainJSON(text), decoder.Limits{})
			if wantErr == nil && !strings.Contains(err.Error(), "stands twice") {
				t.Fatalf("refused what encoding/json reads: %v", err)
			}
			return
		}
		if !json.Valid(record.Raw) {
			t.Fatal("accepted what encoding/json calls invalid")
		}
		if wantErr == nil {
			if diff := cmp.Diff(want, record); diff != "" {
				t.Fatalf("record (-encoding/json +decoder):\n%s", diff)
			}
		}
	})
}

// agree checks that DecodeHeader and DecodeRecord agree on data that both can
// read. It returns the record, or nil.
func agree(t *testing.T, data []byte) *decoder.Record {
	limits := decoder.Limits{Inflated: 1 << 20}
	header, headerErr := decoder.DecodeHeader(data, limits)
	record, recordErr := decoder.DecodeRecord(data, limits)
	if recordErr != nil {
		return nil
	}
	if headerErr != nil {
		t.Fatalf("the record can be read, its header cannot: %v", headerErr)
	}
	for _, text := range []*string{&record.Name, (*string)(&record.Status), &record.Chart, &record.ChartVersion, &record.AppVersion, &record.Description} {
		if len(*text) > 128 {
			return record // cut in the header
		}
	}
	if diff := cmp.Diff(record.Header, *header); diff != "" {
		t.Fatalf("header (-record +header):\n%s", diff)
	}
	return record
}

// reference reads a record with encoding/json alone.
func reference(text string) (*decoder.Record, error) {
	var in struct {
		Name string
		Info *struct {
			FirstDeployed    helmtime.Time `json:"first_deployed"`
			LastDeployed     helmtime.Time `json:"last_deployed"`
			Deleted          helmtime.Time `json:"deleted"`
			Description      string
			Status           decoder.Status
			RollbackRevision int `json:"rollback_revision"`
			Notes            string
		}
		Chart *struct {
			Metadata *chart.Metadata
			Values   json.RawMessage
		}
		Config      json.RawMessage
		Manifest    string
		Hooks       []decoder.Hook
		Version     int
		Namespace   string
		ApplyMethod string `json:"apply_method"`
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return nil, err
	}
	if in.Info == nil {
		return nil, decoder.ErrNotRecord
	}
	utc := func(t helmtime.Time) time.Time {
		if t.IsZero() {
			return time.Time{}
		}
		return t.Time.UTC()
	}
	part := func(raw json.RawMessage) json.RawMessage {
		if string(raw) == "null" {
			return nil
		}
		return raw
	}
	r := &decoder.Record{
		Header: decoder.Header{
			Name: in.Name, Status: in.Info.Status, Description: in.Info.Description,
			FirstDeployed: utc(in.Info.FirstDeployed), LastDeployed: utc(in.Info.LastDeployed), Deleted: utc(in.Info.Deleted),
			RollbackRevision: in.Info.RollbackRevision,
		},
		Namespace: in.Namespace, Version: in.Version, ApplyMethod: in.ApplyMethod, Manifest: in.Manifest,
		Notes: in.Info.Notes, Hooks: in.Hooks, Config: part(in.Config), Raw: json.RawMessage(text),
	}
	if in.Chart != nil {
		r.ChartValues, r.Metadata = part(in.Chart.Values), in.Chart.Metadata
		if m := in.Chart.Metadata; m != nil {
			r.Chart, r.ChartVersion, r.AppVersion = m.Name, m.Version, m.AppVersion
		}
	}
	return r, nil
}

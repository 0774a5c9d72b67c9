package console

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// errSubcharts is returned for a chart that cannot be rebuilt from its record.
var errSubcharts = &statusError{http.StatusBadGateway, "the record does not hold the chart's subcharts; name the chart (chart_url)"}

const chartYAML = "Chart.yaml"

// annotate returns a chart's archive with annotations added to its Chart.yaml.
// The same archive and annotations give the same bytes.
func annotate(archive []byte, annotations map[string]string) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("read the chart's archive: %w", err)
	}
	from := tar.NewReader(io.LimitReader(unzipped, maxUnpacked))
	to := newArchive()
	for {
		header, err := from.Next()
		if errors.Is(err, io.EOF) {
			return to.close()
		}
		if err != nil {
			return nil, fmt.Errorf("read the chart's archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(from)
		if err != nil {
			return nil, fmt.Errorf("read the chart's archive: %w", err)
		}
		if parts := strings.Split(header.Name, "/"); len(parts) == 2 && parts[1] == chartYAML {
			if data, err = annotated(data, annotations); err != nil {
				return nil, err
			}
		}
		if err := to.add(header.Name, data, header.ModTime); err != nil {
			return nil, err
		}
	}
}

// maxUnpacked is the maximum size of a chart's files, in bytes; helm has the same.
const maxUnpacked = 100 << 20

func annotated(chart []byte, annotations map[string]string) ([]byte, error) {
	fields := map[string]any{}
	if err := yaml.Unmarshal(chart, &fields); err != nil {
		return nil, errors.New("read Chart.yaml: it is not a YAML mapping")
	}
	all, _ := fields["annotations"].(map[string]any)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range annotations {
		all[key] = value
	}
	fields["annotations"] = all
	return yaml.Marshal(fields)
}

// rebuild returns an archive of the chart in a record. It fails with errSubcharts
// if the chart has subcharts, which records do not contain.
func rebuild(record *decoder.Record) ([]byte, error) {
	type file struct {
		Name string `json:"name"`
		Data []byte `json:"data"`
	}
	var raw struct {
		Chart struct {
			Metadata  json.RawMessage `json:"metadata"`
			Lock      json.RawMessage `json:"lock"`
			Templates []file          `json:"templates"`
			Values    json.RawMessage `json:"values"`
			Schema    []byte          `json:"schema"`
			Files     []file          `json:"files"`
		} `json:"chart"`
	}
	if json.Unmarshal(record.Raw, &raw) != nil || record.Metadata == nil {
		return nil, decoder.ErrNotRecord
	}
	if len(record.Metadata.Dependencies) > 0 {
		return nil, errSubcharts
	}
	chart := raw.Chart
	folder := record.Metadata.Name + "/"
	to := newArchive()
	for _, part := range []struct {
		name string
		data json.RawMessage
	}{{chartYAML, chart.Metadata}, {"values.yaml", chart.Values}} {
		if len(part.data) == 0 || string(part.data) == "null" {
			continue
		}
		root, err := tree.FromJSON(part.data)
		if err != nil {
			return nil, err
		}
		text, err := tree.YAML(root)
		if err != nil {
			return nil, err
		}
		if err := to.add(folder+part.name, []byte(text), time.Time{}); err != nil {
			return nil, err
		}
	}
	if len(chart.Schema) > 0 {
		if err := to.add(folder+"values.schema.json", chart.Schema, time.Time{}); err != nil {
			return nil, err
		}
	}
	for _, f := range append(chart.Templates, chart.Files...) {
		if err := to.add(folder+f.Name, f.Data, time.Time{}); err != nil {
			return nil, err
		}
	}
	return to.close()
}

// archive writes a chart like `helm package`.
type archive struct {
	buffer bytes.Buffer
	zipped *gzip.Writer
	tarred *tar.Writer
}

func newArchive() *archive {
	a := &archive{}
	a.zipped = gzip.NewWriter(&a.buffer)
	a.tarred = tar.NewWriter(a.zipped)
	return a
}

func (a *archive) add(name string, data []byte, modified time.Time) error {
	err := a.tarred.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: modified})
	if err == nil {
		_, err = a.tarred.Write(data)
	}
	if err != nil {
		return fmt.Errorf("write the chart's archive: %w", err)
	}
	return nil
}

func (a *archive) close() ([]byte, error) {
	if err := errors.Join(a.tarred.Close(), a.zipped.Close()); err != nil {
		return nil, fmt.Errorf("write the chart's archive: %w", err)
	}
	return a.buffer.Bytes(), nil
}

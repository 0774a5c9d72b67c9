package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/tree"
)

// part answers with one part of a record, which is masked unless it may be
// revealed.
type part func(c *gin.Context, record *decoder.Record) error

// parts are the parts of a revision by their names in the address. Those that
// `helm get` has too are the same as there.
var parts = map[string]part{
	"values":   writeValues,
	"manifest": writeManifest,
	"hooks":    writeHooks,
	"notes":    writeNotes,
	"metadata": writeMetadata,
	"chart":    writeChart,
	"raw":      writeRaw,
}

// getPart answers with one part of one revision.
func (s *Server) getPart(c *gin.Context) error {
	write, ok := parts[c.Param("part")]
	if !ok {
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
	at := revisionRef{ref.Cluster, ref.Namespace, ref.Name, c.Query("lineage"), revision}
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
		return write(c, record)
	}
	if record, err = s.masked(ref, record); err != nil {
		return unreadable(at, err)
	}
	return write(c, record)
}

func writeValues(c *gin.Context, record *decoder.Record) error {
	all, err := queryBool(c, "all")
	if err != nil {
		return err
	}
	values := record.Config
	if all {
		if values, err = decoder.MergedValues(record); err != nil {
			return err
		}
	}
	return writeData(c, negotiate(c, formatJSON, formatYAML), orNull(values))
}

func orNull(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage("null")
	}
	return data
}

// writeManifest answers with the manifest as text, or with its objects.
func writeManifest(c *gin.Context, record *decoder.Record) error {
	as := negotiate(c, formatText, formatYAML, formatJSON)
	if as != formatJSON {
		writeText(c, as, record.Manifest+"\n")
		return nil
	}
	objects, err := objectsOf(record.Manifest)
	if err != nil {
		return &apiError{status: http.StatusUnprocessableEntity, code: codeUnreadable, message: "The manifest is no valid YAML; ask for it as text."}
	}
	return writeData(c, as, objects)
}

// objectsOf is a manifest's documents as a JSON array.
func objectsOf(manifest string) (json.RawMessage, error) {
	documents, err := tree.FromYAML(manifest)
	if err != nil {
		return nil, err
	}
	objects := []json.RawMessage{}
	for _, document := range documents {
		object, err := tree.Object(document)
		if err != nil {
			return nil, err
		}
		if string(object) != "null" {
			objects = append(objects, object)
		}
	}
	return json.Marshal(objects)
}

// hookItem is a hook as JSON shows it.
type hookItem struct {
	Name           string                     `json:"name"`
	Kind           string                     `json:"kind"`
	Path           string                     `json:"path"`
	Events         []release.HookEvent        `json:"events"`
	Weight         int                        `json:"weight"`
	DeletePolicies []release.HookDeletePolicy `json:"deletePolicies"`
	LastRun        json.RawMessage            `json:"lastRun"`
	Manifest       string                     `json:"manifest"`
}

func writeHooks(c *gin.Context, record *decoder.Record) error {
	as := negotiate(c, formatText, formatYAML, formatJSON)
	if as != formatJSON {
		writeText(c, as, hooksText(record))
		return nil
	}
	hooks := make([]hookItem, 0, len(record.Hooks))
	for _, h := range record.Hooks {
		hooks = append(hooks, hookItem{
			Name: h.Name, Kind: h.Kind, Path: h.Path, Events: append([]release.HookEvent{}, h.Events...), Weight: h.Weight,
			DeletePolicies: append([]release.HookDeletePolicy{}, h.DeletePolicies...), LastRun: orNull(h.LastRun), Manifest: h.Manifest,
		})
	}
	return writeValue(c, as, hooks)
}

// hooksText is the hooks' manifests in the form of `helm get hooks`.
func hooksText(record *decoder.Record) string {
	var text strings.Builder
	for _, h := range record.Hooks {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	return text.String()
}

func writeNotes(c *gin.Context, record *decoder.Record) error {
	as := negotiate(c, formatText, formatJSON)
	if as == formatJSON {
		return writeValue(c, as, struct {
			Notes string `json:"notes"`
		}{record.Notes})
	}
	text := ""
	if record.Notes != "" {
		text = "NOTES:\n" + record.Notes + "\n"
	}
	writeText(c, as, text)
	return nil
}

// revisionMetadata has the fields of `helm get metadata`.
type revisionMetadata struct {
	Name         string              `json:"name"`
	Chart        string              `json:"chart"`
	Version      string              `json:"version"`
	AppVersion   string              `json:"appVersion"`
	Annotations  map[string]string   `json:"annotations,omitempty"`
	Labels       map[string]string   `json:"labels,omitempty"`
	Dependencies []*chart.Dependency `json:"dependencies,omitempty"`
	Namespace    string              `json:"namespace"`
	Revision     int                 `json:"revision"`
	Status       decoder.Status      `json:"status"`
	DeployedAt   string              `json:"deployedAt"`
	ApplyMethod  string              `json:"applyMethod,omitempty"`
}

func writeMetadata(c *gin.Context, record *decoder.Record) error {
	m := revisionMetadata{
		Name: record.Name, Chart: record.Chart, Version: record.ChartVersion, AppVersion: record.AppVersion, Labels: record.Labels,
		Namespace: record.Namespace, Revision: record.Version, Status: record.Status,
		DeployedAt: record.LastDeployed.Format(time.RFC3339), ApplyMethod: record.ApplyMethod,
	}
	if record.Metadata != nil {
		m.Annotations, m.Dependencies = record.Metadata.Annotations, record.Metadata.Dependencies
	}
	return writeValue(c, negotiate(c, formatJSON, formatYAML), m)
}

func writeChart(c *gin.Context, record *decoder.Record) error {
	chart, err := decoder.ReadChart(record)
	if err != nil {
		return &apiError{status: http.StatusUnprocessableEntity, code: codeUnreadable, message: "The record's chart cannot be read."}
	}
	return writeValue(c, negotiate(c, formatJSON, formatYAML), chart)
}

func writeRaw(c *gin.Context, record *decoder.Record) error {
	return writeData(c, negotiate(c, formatJSON, formatYAML), record.Raw)
}

// writeValue answers with v as JSON or YAML.
func writeValue(c *gin.Context, as format, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", c.Param("part"), err)
	}
	return writeData(c, as, data)
}

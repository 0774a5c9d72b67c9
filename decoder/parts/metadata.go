package parts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/helmtrail/helmtrail/decoder"
)

// Hook is the JSON form of a hook.
type Hook struct {
	Name           string                     `json:"name"`
	Kind           string                     `json:"kind"`
	Path           string                     `json:"path"`
	Events         []release.HookEvent        `json:"events"`
	Weight         int                        `json:"weight"`
	DeletePolicies []release.HookDeletePolicy `json:"deletePolicies"`
	LastRun        json.RawMessage            `json:"lastRun"`
	Manifest       string                     `json:"manifest"`
}

func hooks(record *decoder.Record) []Hook {
	all := make([]Hook, 0, len(record.Hooks))
	for _, h := range record.Hooks {
		run := h.LastRun
		if len(run) == 0 {
			run = json.RawMessage("null")
		}
		all = append(all, Hook{
			Name: h.Name, Kind: h.Kind, Path: h.Path, Events: append([]release.HookEvent{}, h.Events...), Weight: h.Weight,
			DeletePolicies: append([]release.HookDeletePolicy{}, h.DeletePolicies...), LastRun: run, Manifest: h.Manifest,
		})
	}
	return all
}

// RevisionMetadata has the fields of `helm get metadata`.
type RevisionMetadata struct {
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

func metadata(record *decoder.Record) RevisionMetadata {
	m := RevisionMetadata{
		Name: record.Name, Chart: record.Chart, Version: record.ChartVersion, AppVersion: record.AppVersion, Labels: record.Labels,
		Namespace: record.Namespace, Revision: record.Version, Status: record.Status,
		DeployedAt: deployedAt(record), ApplyMethod: record.ApplyMethod,
	}
	if record.Metadata != nil {
		m.Annotations, m.Dependencies = record.Metadata.Annotations, record.Metadata.Dependencies
	}
	return m
}

// text returns the output of Helm 4; Helm 3 omits labels and apply method.
func (m RevisionMetadata) text() []byte {
	names := make([]string, 0, len(m.Dependencies))
	for _, d := range m.Dependencies {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	var out bytes.Buffer
	for _, line := range [][2]any{
		{"NAME", m.Name}, {"CHART", m.Chart}, {"VERSION", m.Version}, {"APP_VERSION", m.AppVersion},
		{"ANNOTATIONS", pairs(m.Annotations)}, {"LABELS", pairs(m.Labels)}, {"DEPENDENCIES", strings.Join(names, ",")},
		{"NAMESPACE", m.Namespace}, {"REVISION", m.Revision}, {"STATUS", m.Status}, {"DEPLOYED_AT", m.DeployedAt},
		{"APPLY_METHOD", methodName(m.ApplyMethod)},
	} {
		fmt.Fprintf(&out, "%v: %v\n", line[0], line[1])
	}
	return out.Bytes()
}

// pairs formats labels as Kubernetes does.
func pairs(labels map[string]string) string {
	all := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, ",")
}

// methodName describes the method by which a revision was applied.
func methodName(method string) string {
	switch method {
	case "":
		return "client-side apply (defaulted)"
	case "csa":
		return "client-side apply"
	case "ssa":
		return "server-side apply"
	}
	return fmt.Sprintf("unknown (%q)", method)
}

package decoder

import (
	"encoding/json"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
)

// Record is the decoded content of a revision's Secret. The raw parts share
// memory with Raw and must not be changed.
type Record struct {
	// Header is the same as DecodeHeader gives, but with every text in full.
	Header
	// Namespace is what the record says, for show only.
	Namespace string
	// SecretNamespace is the namespace of the Secret, where the objects of the
	// manifest live that name none. Whoever fetched the Secret sets it.
	SecretNamespace string
	// Labels are the Secret's labels but those that Helm keeps for itself.
	// Digest and Size are those of the record's bytes, as in Revision. All are
	// set by whoever fetched the Secret.
	Labels map[string]string
	Digest string
	Size   int
	// Version is the revision number that the record says.
	Version int
	// ApplyMethod is "ssa" or "csa" as Helm 4 writes it; Helm 3 writes none,
	// which means client-side apply. Other words are kept verbatim.
	ApplyMethod string
	Manifest    string
	Notes       string
	Hooks       []Hook
	// Config is the user-supplied values as JSON, every digit kept; nil when
	// there are none.
	Config json.RawMessage
	// Metadata is the chart's own description, nil when the record has none.
	Metadata *chart.Metadata
	// ChartValues is the chart's default values as JSON, every digit kept; nil
	// when there are none.
	ChartValues json.RawMessage
	// Raw is the whole record as JSON, unknown fields included.
	Raw json.RawMessage
}

// Hook is one hook of a chart, as the record keeps it.
type Hook struct {
	Name              string                        `json:"name"`
	Kind              string                        `json:"kind"`
	Path              string                        `json:"path"`
	Manifest          string                        `json:"manifest"`
	Events            []release.HookEvent           `json:"events"`
	LastRun           json.RawMessage               `json:"last_run"`
	Weight            int                           `json:"weight"`
	DeletePolicies    []release.HookDeletePolicy    `json:"delete_policies"`
	OutputLogPolicies []release.HookOutputLogPolicy `json:"output_log_policies"`
}

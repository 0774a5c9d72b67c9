package decoder

import (
	"encoding/json"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
)

// Record is the decoded content of a revision's Secret. The raw parts share
// memory with Raw and must not be changed.
type Record struct {
	// Header equals the result of DecodeHeader, but with every text in full.
	Header
	// Namespace is the namespace in the record, for display only.
	Namespace string
	// SecretNamespace is the namespace of the Secret. Objects of the manifest
	// without a namespace belong to it. The code that fetches the Secret sets it.
	SecretNamespace string
	// Labels are the Secret's labels without the ones reserved by Helm. Digest and
	// Size describe the record's bytes, as in Revision. The code that fetches the
	// Secret sets all three.
	Labels map[string]string
	Digest string
	Size   int
	// Nodes is the extent's, which the code that decodes the record sets.
	Nodes int
	// Version is the revision number in the record.
	Version int
	// ApplyMethod is "ssa" or "csa" as written by Helm 4. Helm 3 writes no value,
	// which means client-side apply. Other values are kept verbatim.
	ApplyMethod string
	Manifest    string
	Notes       string
	Hooks       []Hook
	// Config holds the user-supplied values as JSON with every digit preserved;
	// nil if there are no values.
	Config json.RawMessage
	// Metadata is the chart's own metadata; nil if the record has no metadata.
	Metadata *chart.Metadata
	// ChartValues holds the chart's default values as JSON with every digit
	// preserved; nil if there are no values.
	ChartValues json.RawMessage
	// Raw is the complete record as JSON, including unknown fields.
	Raw json.RawMessage
}

// Hook is a hook of a chart, as stored in the record.
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

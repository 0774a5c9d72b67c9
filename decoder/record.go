package decoder

import (
	"encoding/json"
)

// Record is the decoded content of a revision's Secret.
type Record struct {
	Header
	// Namespace is what the record says, for show only.
	Namespace string
	// Version is the revision number that the record says.
	Version int
	// ApplyMethod is "ssa" or "csa" as Helm 4 writes it; Helm 3 writes none,
	// which means client-side apply. Other words are kept verbatim.
	ApplyMethod string
	Manifest    string
	Notes       string
	Hooks       []Hook
	// Config is the user-supplied values as JSON, every digit kept.
	Config json.RawMessage
	// Raw is the whole record as JSON, unknown fields included.
	Raw json.RawMessage
}

// Hook is one hook of a chart, as the record keeps it.
type Hook struct {
	Name           string          `json:"name"`
	Kind           string          `json:"kind"`
	Path           string          `json:"path"`
	Manifest       string          `json:"manifest"`
	Events         []string        `json:"events"`
	LastRun        json.RawMessage `json:"last_run"`
	Weight         int             `json:"weight"`
	DeletePolicies []string        `json:"delete_policies"`
}

package stream

import (
	"encoding/json"
	"errors"
)

// ErrNoChart means that a chart could not be fetched or read.
var ErrNoChart = errors.New("could not fetch the chart")

// ChartSource says where a listed chart comes from.
type ChartSource string

const (
	// ChartFromDirectory is a chart of the chart directory.
	ChartFromDirectory ChartSource = "directory"
	// ChartFromUpload is an archive that somebody has uploaded.
	ChartFromUpload ChartSource = "upload"
	// ChartFromRepository is a chart of a configured repository.
	ChartFromRepository ChartSource = "repository"
)

// ChartItem is a chart that can be installed.
type ChartItem struct {
	// Ref and Repo are what a request's chart holds to mean this one.
	Ref         string      `json:"ref"`
	Repo        string      `json:"repo,omitempty"`
	Source      ChartSource `json:"source"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Icon        string      `json:"icon,omitempty"`
	// Versions are newest first, one at least.
	Versions []ChartVersion `json:"versions"`
}

// ChartVersion is one version of a chart.
type ChartVersion struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
}

// ChartProblem says why some charts are missing from a list.
type ChartProblem struct {
	// Where is a reference in the chart directory, or a repository's name.
	Where   string `json:"where"`
	Message string `json:"message"`
}

// ChartDetails is what a person needs to fill in values.
type ChartDetails struct {
	Ref  string `json:"ref"`
	Repo string `json:"repo,omitempty"`
	// Metadata is Chart.yaml as JSON, in the fields that Helm knows.
	Metadata json.RawMessage `json:"metadata"`
	// Values is values.yaml as it was written, comments included.
	Values string `json:"values"`
	Readme string `json:"readme"`
	// Schema is values.schema.json, null when the chart has none.
	Schema json.RawMessage `json:"schema"`
}

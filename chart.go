package helmtrail

import (
	"encoding/json"
	"errors"

	"github.com/helmtrail/helmtrail/decoder"
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

// Rendering is what a dry run has made of a chart, its secrets masked.
type Rendering struct {
	Manifest string         `json:"manifest"`
	Hooks    []decoder.Hook `json:"hooks"`
	Notes    string         `json:"notes"`
}

// ChartRepository is a chart repository that a cluster's own objects name.
type ChartRepository struct {
	Name string
	// Namespace is that of a project's repository, "" for the whole cluster's.
	Namespace string
	URL       string
	// Access is what its server wants to see: the keys username, password,
	// ca.crt, tls.crt and tls.key, as far as there are any. It is a secret.
	Access map[string][]byte
	// Problem says why the repository cannot be used, "" when it can.
	Problem string
}

// Chart says which chart to use.
type Chart struct {
	// Ref is a name in the chart directory, with Repo a name in that
	// repository, an uploaded archive ("upload:" and its digest), or an oci://
	// or https:// address.
	Ref string `json:"ref"`
	// Repo is a repository's address, or the name of a configured one.
	Repo    string `json:"repo,omitempty"`
	Version string `json:"version,omitempty"`
	// CredentialsSecret names a Secret of the release's namespace whose keys
	// username, password, ca.crt, tls.crt and tls.key are used to fetch the chart.
	CredentialsSecret string `json:"credentialsSecret,omitempty"`
}

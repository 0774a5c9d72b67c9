package helmtrail

import (
	"encoding/json"
	"errors"

	"github.com/helmtrail/helmtrail/decoder"
)

// ErrNoChart is returned when a chart could not be fetched or read.
var ErrNoChart = errors.New("could not fetch the chart")

// ChartSource says where a listed chart comes from.
type ChartSource string

const (
	// ChartFromDirectory is a chart in the chart directory.
	ChartFromDirectory ChartSource = "directory"
	// ChartFromUpload is an uploaded archive.
	ChartFromUpload ChartSource = "upload"
	// ChartFromRepository is a chart in a configured repository.
	ChartFromRepository ChartSource = "repository"
)

// ChartItem is a chart that can be installed.
type ChartItem struct {
	// Ref and Repo identify this chart in a request's Chart.
	Ref         string      `json:"ref"`
	Repo        string      `json:"repo,omitempty"`
	Source      ChartSource `json:"source"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Icon        string      `json:"icon,omitempty"`
	// Versions holds at least one version, newest first.
	Versions []ChartVersion `json:"versions"`
}

// ChartVersion is one version of a chart.
type ChartVersion struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
}

// ChartIndex is a repository's index.yaml, by the names of its charts.
type ChartIndex map[string][]IndexedChart

// IndexedChart is one version of a chart in an index.
type IndexedChart struct {
	ChartVersion
	Description string
	Icon        string
	// KubeVersion is the range of Kubernetes versions that the chart supports, ""
	// for all.
	KubeVersion string
	// URL is absolute. It is "" if the index has none.
	URL string
	// Content is the whole entry as JSON, with absolute URLs.
	Content json.RawMessage
}

// ChartFetch asks for a chart that is not on the server.
type ChartFetch struct {
	Chart Chart
	// User is the caller's name. Each caller has a share of the downloads.
	User string
	// Access holds credentials under the keys that [Chart.CredentialsSecret] lists,
	// nil for none. It is a secret.
	Access map[string][]byte
	// AccessFor is the URL whose scheme, host and port Access is for, "" for the
	// chart's own.
	AccessFor string
}

// ChartProblem says why some charts are missing from a list.
type ChartProblem struct {
	// Where is a reference in the chart directory, or a repository's name.
	Where   string `json:"where"`
	Message string `json:"message"`
}

// ChartDetails holds the information that a person needs to fill in values.
type ChartDetails struct {
	Ref  string `json:"ref"`
	Repo string `json:"repo,omitempty"`
	// Metadata is Chart.yaml as JSON, limited to the fields that Helm knows.
	Metadata json.RawMessage `json:"metadata"`
	// Values is values.yaml as it was written, comments included.
	Values string `json:"values"`
	Readme string `json:"readme"`
	// Schema is values.schema.json, null when the chart has none.
	Schema json.RawMessage `json:"schema"`
}

// Rendering is the output of a dry run, with its secrets masked.
type Rendering struct {
	Manifest string         `json:"manifest"`
	Hooks    []decoder.Hook `json:"hooks"`
	Notes    string         `json:"notes"`
}

// ChartRepository is a chart repository defined by an object in a cluster.
type ChartRepository struct {
	Name string
	// Namespace is the namespace of a project's repository, or "" for a
	// cluster-wide repository.
	Namespace string
	URL       string
	// Access holds the credentials for the repository's server under the keys
	// username, password, ca.crt, tls.crt and tls.key. Any key may be absent.
	// It is a secret.
	Access map[string][]byte
	// Problem says why the repository cannot be used, or "" if it can.
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

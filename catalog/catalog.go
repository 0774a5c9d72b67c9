// Package catalog holds the types of the charts that can be installed.
package catalog

import "encoding/json"

// Source says where a listed chart comes from.
type Source string

const (
	// FromDirectory is a chart in the chart directory.
	FromDirectory Source = "directory"
	// FromUpload is an uploaded archive.
	FromUpload Source = "upload"
	// FromRepository is a chart in a configured repository.
	FromRepository Source = "repository"
)

// Scope is the namespace of a cluster that uploaded charts belong to. Without a
// namespace, and then without a cluster, it stands for the whole server: its
// charts can be used in every namespace.
type Scope struct {
	Cluster, Namespace string
}

// Item is a chart that can be installed.
type Item struct {
	// Ref and Repo identify this chart in a request's Chart.
	Ref         string `json:"ref"`
	Repo        string `json:"repo,omitempty"`
	Source      Source `json:"source"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Icon        string `json:"icon,omitempty"`
	// Versions holds at least one version, newest first.
	Versions []ItemVersion `json:"versions"`
}

// ItemVersion is one version of a chart.
type ItemVersion struct {
	Version    string `json:"version"`
	AppVersion string `json:"appVersion,omitempty"`
	Deprecated bool   `json:"deprecated,omitempty"`
}

// Index is a repository's index.yaml, by the names of its charts.
type Index map[string][]Entry

// Entry is one version of a chart in an index.
type Entry struct {
	ItemVersion
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

// Problem says why some charts are missing from a list.
type Problem struct {
	// Where is a reference in the chart directory, or a repository's name.
	Where   string `json:"where"`
	Message string `json:"message"`
}

// Details holds the information that a person needs to fill in values.
type Details struct {
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

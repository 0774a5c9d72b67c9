package helmtrail

import (
	"errors"

	"github.com/helmtrail/helmtrail/decoder"
)

// ErrNoChart is returned when a chart could not be fetched or read.
var ErrNoChart = errors.New("could not fetch the chart")

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

package stream

import "time"

// Request is what a caller asks to be done to a release. It was checked before
// it gets here; see Validate in package helmcli.
type Request struct {
	Operation Operation
	Release   ReleaseRef
	// Chart is used by install and upgrade.
	Chart Chart
	// Values is YAML, user-supplied values only. It is a secret.
	Values []byte
	// Revision is the target of a rollback.
	Revision int
	Options  Options
	// User is who asked, "" without authentication.
	User string
}

// Chart says which chart to use.
type Chart struct {
	// Ref is a name in the chart directory, or with Repo in that repository,
	// or an oci:// or https:// address.
	Ref     string `json:"ref"`
	Repo    string `json:"repo,omitempty"`
	Version string `json:"version,omitempty"`
}

// Options are Helm's own flags in lowerCamelCase. The zero value is what helm
// does without flags.
type Options struct {
	CreateNamespace      bool              `json:"createNamespace,omitempty"`
	Wait                 bool              `json:"wait,omitempty"`
	WaitForJobs          bool              `json:"waitForJobs,omitempty"`
	TimeoutSeconds       int               `json:"timeoutSeconds,omitempty"`
	DeadlineSeconds      int               `json:"deadlineSeconds,omitempty"`
	RollbackOnFailure    bool              `json:"rollbackOnFailure,omitempty"`
	CleanupOnFail        bool              `json:"cleanupOnFail,omitempty"`
	HistoryMax           *int              `json:"historyMax,omitempty"`
	NoHooks              bool              `json:"noHooks,omitempty"`
	SkipCRDs             bool              `json:"skipCRDs,omitempty"`
	KeepHistory          bool              `json:"keepHistory,omitempty"`
	ResetValues          bool              `json:"resetValues,omitempty"`
	ReuseValues          bool              `json:"reuseValues,omitempty"`
	ResetThenReuseValues bool              `json:"resetThenReuseValues,omitempty"`
	Description          string            `json:"description,omitempty"`
	Labels               map[string]string `json:"labels,omitempty"`
}

const (
	// DefaultTimeout is helm's own --timeout (helm.sh/helm/v3/cmd/helm/install.go).
	DefaultTimeout = 5 * time.Minute
	// endingTime is what helm gets beyond its timeout to write its own end.
	endingTime = 15 * time.Second
)

// Timeout is helm's --timeout, which bounds each of its waits.
func (o Options) Timeout() time.Duration {
	if o.TimeoutSeconds > 0 {
		return time.Duration(o.TimeoutSeconds) * time.Second
	}
	return DefaultTimeout
}

// Deadline bounds the whole session. By default it is the timeout, the time
// that helm needs to write its own end, and another timeout when helm may
// roll back by itself.
func (o Options) Deadline() time.Duration {
	if o.DeadlineSeconds > 0 {
		return time.Duration(o.DeadlineSeconds) * time.Second
	}
	d := o.Timeout() + endingTime
	if o.RollbackOnFailure {
		d += o.Timeout()
	}
	return d
}

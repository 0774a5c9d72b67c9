package helmtrail

import (
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// Options are Helm's own flags in lowerCamelCase. The zero value is Helm's
// behaviour without flags. docs/options.md explains each option.
type Options struct {
	CreateNamespace          bool              `json:"createNamespace,omitempty"`
	Install                  bool              `json:"install,omitempty"`
	Wait                     Choice            `json:"wait,omitempty"`
	WaitForJobs              bool              `json:"waitForJobs,omitempty"`
	TimeoutSeconds           int               `json:"timeoutSeconds,omitempty"`
	DeadlineSeconds          int               `json:"deadlineSeconds,omitempty"`
	RollbackOnFailure        bool              `json:"rollbackOnFailure,omitempty"`
	CleanupOnFail            bool              `json:"cleanupOnFail,omitempty"`
	ForceReplace             bool              `json:"forceReplace,omitempty"`
	ForceConflicts           bool              `json:"forceConflicts,omitempty"`
	ServerSide               Choice            `json:"serverSide,omitempty"`
	TakeOwnership            bool              `json:"takeOwnership,omitempty"`
	HistoryMax               *int              `json:"historyMax,omitempty"`
	NoHooks                  bool              `json:"noHooks,omitempty"`
	SkipCRDs                 bool              `json:"skipCRDs,omitempty"`
	SkipSchemaValidation     bool              `json:"skipSchemaValidation,omitempty"`
	DisableOpenAPIValidation bool              `json:"disableOpenAPIValidation,omitempty"`
	KeepHistory              bool              `json:"keepHistory,omitempty"`
	Cascade                  Choice            `json:"cascade,omitempty"`
	ResetValues              bool              `json:"resetValues,omitempty"`
	ReuseValues              bool              `json:"reuseValues,omitempty"`
	ResetThenReuseValues     bool              `json:"resetThenReuseValues,omitempty"`
	DryRun                   Choice            `json:"dryRun,omitempty"`
	Description              string            `json:"description,omitempty"`
	Labels                   map[string]string `json:"labels,omitempty"`
	// Retries is how many times helm is run again after a known race.
	Retries *int `json:"retries,omitempty"`
	// OverridePending allows a rollback or an uninstall of a release that
	// somebody else may be working on.
	OverridePending bool `json:"overridePending,omitempty"`
}

// Choice is one of a few words, or "" if none is given. If the words include
// true and false, JSON may write them with or without quotes.
type Choice string

// The words of all choices.
const (
	ChoiceTrue  Choice = "true"
	ChoiceFalse Choice = "false"
	ChoiceAuto  Choice = "auto"
	// WaitWatcher waits until kstatus reports that objects are current (Helm
	// 4).
	WaitWatcher Choice = "watcher"
	// WaitLegacy waits as Helm 3 does.
	WaitLegacy Choice = "legacy"
	// WaitHookOnly waits only for hooks, as helm does by default.
	WaitHookOnly Choice = "hookOnly"
	// DryRunClient renders without contacting the cluster.
	DryRunClient Choice = "client"
	// DryRunServer renders with information from the cluster.
	DryRunServer Choice = "server"
)

// UnmarshalJSON reads a string, true or false.
func (c *Choice) UnmarshalJSON(data []byte) error {
	var word string
	if err := json.Unmarshal(data, &word); err == nil {
		*c = Choice(word)
		return nil
	}
	var on bool
	if err := json.Unmarshal(data, &on); err != nil {
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[Choice]()}
	}
	*c = Choice(strconv.FormatBool(on))
	return nil
}

// MarshalJSON writes true and false without quotes.
func (c Choice) MarshalJSON() ([]byte, error) {
	if c == ChoiceTrue || c == ChoiceFalse {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

const (
	// DefaultTimeout is helm's own --timeout (helm.sh/helm/v3/cmd/helm/install.go).
	DefaultTimeout = 5 * time.Minute
	// endingTime is how long helm may run beyond its timeout to write its final
	// status.
	endingTime = 15 * time.Second
	// DefaultRetries is how many times helm is run again after a known race, by
	// default.
	DefaultRetries = 2
)

// Waits reports whether helm waits for the release's objects. Rolling back on
// failure implies it (helm.sh/helm/v4/pkg/action/install.go,
// helm.sh/helm/v3/pkg/action/install.go).
func (o Options) Waits() bool {
	switch o.Wait {
	case "", ChoiceFalse, WaitHookOnly:
		return o.RollbackOnFailure
	}
	return true
}

// Attempts returns the maximum number of times that helm is run, at least 1.
func (o Options) Attempts() int {
	if o.Retries == nil {
		return 1 + DefaultRetries
	}
	return 1 + *o.Retries
}

// Timeout returns helm's --timeout, which bounds each of its waits.
func (o Options) Timeout() time.Duration {
	if o.TimeoutSeconds > 0 {
		return time.Duration(o.TimeoutSeconds) * time.Second
	}
	return DefaultTimeout
}

// Deadline returns the time limit of the whole session. By default it is the
// timeout plus the time that helm needs to write its final status. If helm may
// roll back by itself, another timeout is added.
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

package drift

import (
	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// Verdict is the outcome of applying a rendered object.
type Verdict string

const (
	// VerdictCreate means that the object would be created.
	VerdictCreate Verdict = "create"
	// VerdictChange means that the object exists and would be changed.
	VerdictChange Verdict = "change"
	// VerdictUnchanged means that the object exists and would not be changed.
	VerdictUnchanged Verdict = "unchanged"
	// VerdictRefused means that the API server refuses the object.
	VerdictRefused Verdict = "refused"
	// VerdictUnknown means that the object could not be tried.
	VerdictUnknown Verdict = "unknown"
)

// ValidationQuery asks for the outcome of applying a rendered manifest.
type ValidationQuery struct {
	Release helmtrail.ReleaseRef
	// Manifest is YAML. Its masked parts are not validated.
	Manifest    string
	Credentials helmtrail.Credentials
	// Masker hides secrets in the answer. Known holds the sources that are
	// searched for secrets besides the live objects.
	Masker *mask.Masker
	Known  []mask.Source
}

// Validation is the API server's answer for a rendered manifest.
type Validation struct {
	// Valid means that no object was refused and no object is unknown.
	Valid  bool            `json:"valid"`
	Counts map[Verdict]int `json:"counts"`
	// Objects holds the refused objects first, then the unknown ones, then all
	// others. Each group is in the manifest's order.
	Objects []ValidatedObject `json:"objects"`
	// Message describes a limit on the whole answer, such as a namespace that
	// does not exist yet. Note is its translatable form.
	Message string `json:"message,omitempty"`
	Note    *Note  `json:"note,omitempty"`
}

// ValidatedObject is the outcome of applying one object.
type ValidatedObject struct {
	Verdict    Verdict `json:"verdict"`
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Namespace  string  `json:"namespace"` // "" for objects of the whole cluster
	Name       string  `json:"name"`
	// Message is the API server's reason for refusing the object, or the reason
	// why the object could not be tried. Note is its translatable form, absent
	// for a message from the API server.
	Message string `json:"message,omitempty"`
	Note    *Note  `json:"note,omitempty"`
	// Warnings holds the API server's warnings, such as one about a deprecated
	// version. It also lists the fields that Helm would not take over from
	// another manager by itself.
	Warnings []string `json:"warnings"`
	// Conflicts holds the same fields in structured form.
	Conflicts []FieldConflict `json:"conflicts,omitempty"`
	// Changes holds the fields that would change; Recorded is the chart's
	// value.
	Changes []FieldChange `json:"changes"`
}

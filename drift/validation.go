package drift

import (
	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// Verdict is what applying a rendered object would do.
type Verdict string

const (
	// VerdictCreate means that the object would be made.
	VerdictCreate Verdict = "create"
	// VerdictChange means that the object is there and would be changed.
	VerdictChange Verdict = "change"
	// VerdictUnchanged means that the object is there and would stay as it is.
	VerdictUnchanged Verdict = "unchanged"
	// VerdictRefused means that the API server does not take it.
	VerdictRefused Verdict = "refused"
	// VerdictUnknown means that it could not be tried.
	VerdictUnknown Verdict = "unknown"
)

// ValidationQuery asks what applying a rendered manifest would do.
type ValidationQuery struct {
	Release helmtrail.ReleaseRef
	// Manifest is YAML. What is masked in it is not validated.
	Manifest    string
	Credentials helmtrail.Credentials
	// Masker hides what is secret in the answer; Known is where secrets are
	// looked for besides the live objects.
	Masker *mask.Masker
	Known  []mask.Source
}

// Validation is what the API server says of a rendered manifest.
type Validation struct {
	// Valid means that nothing was refused and nothing is unknown.
	Valid  bool            `json:"valid"`
	Counts map[Verdict]int `json:"counts"`
	// Objects are in the manifest's order, but for those that are refused, which
	// come first, and those that are unknown, which come next.
	Objects []ValidatedObject `json:"objects"`
	// Message says what limits the whole answer, such as a namespace that does
	// not exist yet. Note is its translatable form.
	Message string `json:"message,omitempty"`
	Note    *Note  `json:"note,omitempty"`
}

// ValidatedObject is what applying one object would do.
type ValidatedObject struct {
	Verdict    Verdict `json:"verdict"`
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Namespace  string  `json:"namespace"` // "" for objects of the whole cluster
	Name       string  `json:"name"`
	// Message is why the API server refuses it, in its own words, or why it
	// could not be tried. Note is its translatable form, absent for a message of
	// the API server.
	Message string `json:"message,omitempty"`
	Note    *Note  `json:"note,omitempty"`
	// Warnings are the API server's, such as one of a deprecated version, and the
	// fields that Helm would not take over from somebody else by itself.
	Warnings []string `json:"warnings"`
	// Conflicts are those fields in parts.
	Conflicts []FieldConflict `json:"conflicts,omitempty"`
	// Changes are what would change; Recorded is what the chart has.
	Changes []FieldChange `json:"changes"`
}

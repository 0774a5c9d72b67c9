package stream

import (
	"encoding/json"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// DriftState says how an object compares with what the record says of it.
type DriftState string

const (
	// DriftSame means that it is as the record says. Others may have added to it.
	DriftSame DriftState = "same"
	// DriftChanged means that fields of the record have other values.
	DriftChanged DriftState = "changed"
	// DriftMissing means that the record names it and the cluster lacks it.
	DriftMissing DriftState = "missing"
	// DriftExtra means that it says it belongs to the release, whose record
	// does not name it.
	DriftExtra DriftState = "extra"
	// DriftUnknown means that it could not be compared.
	DriftUnknown DriftState = "unknown"
)

// DriftCheck says how an object was compared.
type DriftCheck string

const (
	// DriftByApply means that the API server was asked what applying the
	// record would change.
	DriftByApply DriftCheck = "apply"
	// DriftByFields means that the fields of the manifest were looked up in
	// the object, where the caller may not apply or the API server refuses to.
	DriftByFields DriftCheck = "fields"
)

// DriftQuery asks how the objects of a record are now.
type DriftQuery struct {
	// Release is whose objects carry Helm's annotations.
	Release ReleaseRef
	Record  *decoder.Record
	// Credentials are those with which everything is read and tried.
	Credentials Credentials
	// Masker hides what is secret in the answer; nil shows it.
	Masker *mask.Masker
}

// Drift is how a release's objects differ from one of its records.
type Drift struct {
	Revision int `json:"revision"`
	// Drifted means that an object is changed, missing or extra.
	Drifted bool               `json:"drifted"`
	Counts  map[DriftState]int `json:"counts"`
	Objects []DriftObject      `json:"objects"`
	// Unlisted are the kinds of which extra objects could not be looked for.
	Unlisted []string `json:"unlisted"`
}

// DriftObject is how one object differs.
type DriftObject struct {
	State      DriftState `json:"state"`
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Namespace  string     `json:"namespace"` // "" for objects of the whole cluster
	Name       string     `json:"name"`
	// Checked is empty when there was nothing to compare.
	Checked DriftCheck `json:"checked,omitempty"`
	// Message says why it is unknown, or what else there is to know. Note is its
	// translatable form, absent for a message of the API server.
	Message string        `json:"message,omitempty"`
	Note    *Note         `json:"note,omitempty"`
	Changes []FieldChange `json:"changes"`
	// Added are fields that the record does not have and that somebody else
	// than Helm has set. They are no drift.
	Added []FieldChange `json:"added"`
}

// FieldChange is a field that is not as it is recorded.
type FieldChange struct {
	// Path is where it stands, list items by their key as the API server says
	// it: spec.template.spec.containers[name="web"].image.
	Path string `json:"path"`
	// Recorded and Live are JSON; the one that does not exist is null.
	Recorded json.RawMessage `json:"recorded"`
	Live     json.RawMessage `json:"live"`
	// Manager is the field manager that has set the live value, "" when nobody
	// is known to.
	Manager string `json:"manager,omitempty"`
}

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
	Release ReleaseRef
	// Manifest is YAML. What is masked in it is not validated.
	Manifest    string
	Credentials Credentials
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

package drift

import (
	"encoding/json"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// State says how an object compares with what the record says of it.
type State string

const (
	// Same means that it is as the record says. Others may have added to it.
	Same State = "same"
	// Changed means that fields of the record have other values.
	Changed State = "changed"
	// Missing means that the record names it and the cluster lacks it.
	Missing State = "missing"
	// Extra means that it says it belongs to the release, whose record
	// does not name it.
	Extra State = "extra"
	// Unknown means that it could not be compared.
	Unknown State = "unknown"
)

// Check says how an object was compared.
type Check string

const (
	// ByApply means that the API server was asked what applying the
	// record would change.
	ByApply Check = "apply"
	// ByFields means that the fields of the manifest were looked up in
	// the object, where the caller may not apply or the API server refuses to.
	ByFields Check = "fields"
)

// Query asks how the objects of a record are now.
type Query struct {
	// Release is whose objects carry Helm's annotations.
	Release helmtrail.ReleaseRef
	Record  *decoder.Record
	// Credentials are those with which everything is read and tried.
	Credentials helmtrail.Credentials
	// Masker hides what is secret in the answer; nil shows it.
	Masker *mask.Masker
}

// Report is how a release's objects differ from one of its records.
type Report struct {
	Revision int `json:"revision"`
	// Drifted means that an object is changed, missing or extra.
	Drifted bool          `json:"drifted"`
	Counts  map[State]int `json:"counts"`
	Objects []Object      `json:"objects"`
	// Unlisted are the kinds of which extra objects could not be looked for.
	Unlisted []string `json:"unlisted"`
}

// Object is how one object differs.
type Object struct {
	State      State  `json:"state"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"` // "" for objects of the whole cluster
	Name       string `json:"name"`
	// Checked is empty when there was nothing to compare.
	Checked Check `json:"checked,omitempty"`
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

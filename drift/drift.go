package drift

import (
	"encoding/json"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

// State is the result of comparing an object with the record.
type State string

const (
	// Same means that the object matches the record. Other writers may have
	// added to it.
	Same State = "same"
	// Changed means that recorded fields have other values.
	Changed State = "changed"
	// Missing means that the record names the object but the cluster does not
	// have it.
	Missing State = "missing"
	// Extra means that the object claims to belong to the release but the
	// record does not name it.
	Extra State = "extra"
	// Unknown means that the object could not be compared.
	Unknown State = "unknown"
)

// Check says how an object was compared.
type Check string

const (
	// ByApply means that the API server reported what applying the record would
	// change.
	ByApply Check = "apply"
	// ByFields means that the fields of the manifest were looked up in the
	// object. This is used if the caller may not apply the object or the API
	// server refuses to.
	ByFields Check = "fields"
)

// Query asks for the current state of a record's objects.
type Query struct {
	// Release is the release named in the Helm annotations of the objects.
	Release helmtrail.ReleaseRef
	Record  *decoder.Record
	// Credentials are used for every read and every dry run.
	Credentials helmtrail.Credentials
	// Masker hides secrets in the answer; a nil Masker shows them.
	Masker *mask.Masker
}

// Report describes how a release's objects differ from one of its records.
type Report struct {
	Revision int `json:"revision"`
	// Drifted means that an object is changed, missing or extra.
	Drifted bool          `json:"drifted"`
	Counts  map[State]int `json:"counts"`
	Objects []Object      `json:"objects"`
	// Unlisted holds the kinds that could not be searched for extra objects.
	Unlisted []string `json:"unlisted"`
}

// Object describes how one object differs from the record.
type Object struct {
	State      State  `json:"state"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"` // "" for objects of the whole cluster
	Name       string `json:"name"`
	// Checked is empty if there was nothing to compare.
	Checked Check `json:"checked,omitempty"`
	// Message says why the object is unknown, or adds other information. Note
	// is its translatable form, absent for a message from the API server.
	Message string        `json:"message,omitempty"`
	Note    *Note         `json:"note,omitempty"`
	Changes []FieldChange `json:"changes"`
	// Added holds fields that are not in the record and were set by a manager
	// other than Helm. They do not count as drift.
	Added []FieldChange `json:"added"`
}

// FieldChange is a field whose value differs from the record.
type FieldChange struct {
	// Path is the field's path, with list items identified by key as the API
	// server does: spec.template.spec.containers[name="web"].image.
	Path string `json:"path"`
	// Recorded and Live are JSON; a value that does not exist is null.
	Recorded json.RawMessage `json:"recorded"`
	Live     json.RawMessage `json:"live"`
	// Manager is the field manager that set the live value, or "" if it is not
	// known.
	Manager string `json:"manager,omitempty"`
}

package drift

// NoteCode names the sentence of a message about an object, so that a client
// can translate it. Codes are part of the API and never change.
type NoteCode string

const (
	// NoteDeleting means that the object is being deleted.
	NoteDeleting NoteCode = "deleting"
	// NoteKept means that Helm keeps the object because of its annotation
	// helm.sh/resource-policy.
	NoteKept NoteCode = "kept"
	// NoteRecreated means that Helm deletes the existing object and creates it
	// again.
	NoteRecreated NoteCode = "recreated"
	// NoteApplyRefused means that the API server refuses to apply the object;
	// the detail is its message.
	NoteApplyRefused NoteCode = "applyRefused"
	// NoteTooMany means that the manifest has more objects than the limit for
	// examination.
	NoteTooMany NoteCode = "tooMany"
	// NoteTimeout means that the object was not examined in time.
	NoteTimeout NoteCode = "timeout"
	// NoteUnreadable means that a part of the manifest is not a Kubernetes object.
	NoteUnreadable NoteCode = "unreadable"
	// NoteGeneratedName means that the API server chose the object's name.
	NoteGeneratedName NoteCode = "generatedName"
	// NoteUnknownKind means that the cluster does not have the object's kind.
	NoteUnknownKind NoteCode = "unknownKind"
	// NoteKindOfChart is NoteUnknownKind for a kind that the chart defines; the
	// detail names the CustomResourceDefinition.
	NoteKindOfChart NoteCode = "kindOfChart"
	// NoteRemovedByTTL means that the object had ended and was removed after its
	// ttlSecondsAfterFinished, which is no drift.
	NoteRemovedByTTL NoteCode = "removedByTTL"
	// NoteOutcomeUnknown means that the object does not exist and may have been
	// removed after its ttlSecondsAfterFinished; how it ended was not seen.
	NoteOutcomeUnknown NoteCode = "outcomeUnknown"
	// NoteMissingNamespace means that the namespace does not exist yet, so
	// admission could not be checked; the detail is its name.
	NoteMissingNamespace NoteCode = "missingNamespace"
)

// NoteCodes lists all codes.
var NoteCodes = []NoteCode{
	NoteDeleting, NoteKept, NoteRecreated, NoteApplyRefused, NoteTooMany, NoteTimeout, NoteUnreadable, NoteGeneratedName,
	NoteUnknownKind, NoteKindOfChart, NoteRemovedByTTL, NoteOutcomeUnknown, NoteMissingNamespace,
}

// Note is a message about an object: a code and the variable part of its
// sentence.
type Note struct {
	Code   NoteCode `json:"code"`
	Detail string   `json:"detail,omitempty"`
}

// FieldConflict is a field that another manager owns and that Helm takes over
// only with forceConflicts.
type FieldConflict struct {
	// Field is the field's path. Detail names its owner in the API server's
	// words.
	Field  string `json:"field"`
	Detail string `json:"detail"`
	// Warning is the matching entry in the object's warnings.
	Warning string `json:"warning"`
}

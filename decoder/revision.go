package decoder

import (
	"time"
)

// SecretType is the type of the Secrets in which Helm keeps its records
// (helm.sh/helm/v3/pkg/storage/driver/secrets.go, newSecretsObject).
const SecretType = "helm.sh/release.v1"

// OwnerLabel selects Helm's Secrets on the server (driver/secrets.go).
const OwnerLabel = "owner=helm"

// SessionLabel is the label by which helmtrail knows the revisions that its
// own sessions created. Helm copies it on to later revisions, so on its own it
// proves nothing.
const SessionLabel = "helmtrail.dev/session"

// Header is the small part of a record that lists and transitions need. It is
// read without decoding templates, values or manifests.
type Header struct {
	// Name is the release's name as the record has it.
	Name string
	// Status is the record's own status, whatever the Secret's label says.
	Status Status
	// Description is Helm's sentence about the status.
	Description string
	// FirstDeployed is copied by Helm through upgrades and rollbacks.
	FirstDeployed time.Time
	// LastDeployed is when this revision was made.
	LastDeployed time.Time
	// Deleted is when it was uninstalled; zero otherwise.
	Deleted time.Time
	// RollbackRevision is the revision that a rollback went back to, 0 for
	// none. Helm 3 records do not have it.
	RollbackRevision int
	// Chart, ChartVersion and AppVersion come from the chart's metadata.
	Chart, ChartVersion, AppVersion string
}

// SecretRef names one state of one release Secret.
type SecretRef struct {
	Name            string `json:"name"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// Revision is one release Secret as far as lists and transitions need it. A
// Revision is never changed after it was handed out.
type Revision struct {
	// Namespace is the Secret's own, which is the one that access checks and
	// routes use; the record may claim another.
	Namespace string
	// Name and Number come from the labels, then the record, then the Secret's
	// name; see Identify.
	Name   string
	Number int
	Secret SecretRef
	// Created is the Secret's creation time.
	Created time.Time
	// Written is when this state was stored, as far as the API server tells: in
	// whole seconds, rounded down; zero if it does not.
	Written time.Time
	// LabelStatus is what the Secret's label says; Helm itself reads the record.
	LabelStatus Status
	// Session is the value of SessionLabel, "" if absent.
	Session string
	// Header is nil until the record's bytes have been read, or when they
	// cannot be decoded; then Problem says why.
	Header *Header
	// Problem says in words why the record could not be decoded.
	Problem string
	// Digest is the SHA-256 of the record's bytes in hex, "" until read.
	Digest string
	// Size is the length of the record's bytes as Helm stored them.
	Size int
}

// Status is the record's status, or the label's while the record is unread or
// unreadable.
func (r *Revision) Status() Status {
	if r.Header != nil {
		return r.Header.Status
	}
	return r.LabelStatus
}

// Change says what happened to a revision's Secret.
type Change string

const (
	// ChangeStatus means that the Secret appeared or its status changed.
	ChangeStatus Change = "status"
	// ChangePruned means that an older revision was deleted while newer ones stay.
	ChangePruned Change = "pruned"
	// ChangeUninstalled means that the newest revision was deleted while it was uninstalling.
	ChangeUninstalled Change = "uninstalled"
	// ChangeRemoved means that the Secret was deleted in any other way, by hand for example.
	ChangeRemoved Change = "removed"
)

// Transition is a revision's status as it was seen to change.
type Transition struct {
	// Time is when it was seen.
	Time   time.Time
	Change Change
	// Revision is the state after the change; for deletes, the last state seen.
	Revision *Revision
	// Previous is the status before; "" when the revision is new.
	Previous Status
	// Late means that the change happened while nothing was watching, or that
	// the state was overwritten before its record could be read, so that only
	// its label is known.
	Late bool
}

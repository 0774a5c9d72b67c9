package decoder

import (
	"time"
)

// SecretType is the type of the Secrets in which Helm keeps its records
// (helm.sh/helm/v3/pkg/storage/driver/secrets.go, newSecretsObject).
const SecretType = "helm.sh/release.v1"

// OwnerLabel selects Helm's Secrets on the server (driver/secrets.go).
const OwnerLabel = "owner=helm"

// SessionLabel is the label by which helmtrail recognizes the revisions that
// its own sessions created. Helm copies it to later revisions, so on its own it
// proves nothing.
const SessionLabel = "helmtrail.dev/session"

// Header is the small part of a record that lists and transitions need. It is
// read without decoding templates, values or manifests.
type Header struct {
	// Name is the release's name in the record.
	Name string
	// Status is the record's own status, which may differ from the Secret's label.
	Status Status
	// Description is Helm's sentence about the status.
	Description string
	// FirstDeployed is when the release was first deployed. Helm copies it through
	// upgrades and rollbacks.
	FirstDeployed time.Time
	// LastDeployed is when this revision was created.
	LastDeployed time.Time
	// Deleted is when the release was uninstalled; zero if it was not.
	Deleted time.Time
	// RollbackRevision is the revision that a rollback restored; 0 if absent. Helm
	// 3 records do not have it.
	RollbackRevision int
	// Chart, ChartVersion and AppVersion come from the chart's metadata.
	Chart, ChartVersion, AppVersion string
}

// SecretRef identifies one state of one release Secret.
type SecretRef struct {
	Name            string `json:"name"`
	UID             string `json:"uid"`
	ResourceVersion string `json:"resourceVersion"`
}

// Revision is the part of a release Secret that lists and transitions need. A
// Revision is immutable once it has been handed out.
type Revision struct {
	// Namespace is the namespace of the Secret, which access checks and routes
	// use. The record may name another namespace.
	Namespace string
	// Name and Number come from the labels, then the record, then the Secret's
	// name; see Identify.
	Name   string
	Number int
	Secret SecretRef
	// Created is the Secret's creation time.
	Created time.Time
	// Written is when this state was stored, according to the API server, rounded
	// down to whole seconds; zero if unknown.
	Written time.Time
	// LabelStatus is the status in the Secret's label. Helm itself uses the
	// record's status.
	LabelStatus Status
	// Session is the value of SessionLabel, "" if absent.
	Session string
	// Header is nil if the record's bytes have not been read or cannot be decoded.
	// If they cannot be decoded, Problem gives the reason.
	Header *Header
	// Problem describes why the record could not be decoded.
	Problem string
	// Digest is the SHA-256 of the record's bytes in hex; "" if they have not been
	// read.
	Digest string
	// Size is the length of the record's bytes as stored by Helm.
	Size int
}

// Status returns the record's status, or the label's status if the record is
// unread or unreadable.
func (r *Revision) Status() Status {
	if r.Header != nil {
		return r.Header.Status
	}
	return r.LabelStatus
}

// Change is the kind of a change to a revision's Secret.
type Change string

const (
	// ChangeStatus means that the Secret appeared or its status changed.
	ChangeStatus Change = "status"
	// ChangePruned means that an older revision was deleted while newer revisions
	// remain.
	ChangePruned Change = "pruned"
	// ChangeUninstalled means that the newest revision was deleted while it was uninstalling.
	ChangeUninstalled Change = "uninstalled"
	// ChangeRemoved means that the Secret was deleted in any other way, by hand for example.
	ChangeRemoved Change = "removed"
)

// Transition is an observed change of a revision's status.
type Transition struct {
	// Time is when the change was observed.
	Time   time.Time
	Change Change
	// Revision is the state after the change. For a deletion it is the last known
	// state.
	Revision *Revision
	// Previous is the status before the change; "" if the revision is new.
	Previous Status
	// Late means that the change happened while nothing was watching, or that the
	// state was overwritten before its record could be read, so that only its
	// label is known.
	Late bool
}

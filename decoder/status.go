package decoder

import "helm.sh/helm/v3/pkg/release"

// Status is Helm's own status of a revision. The set is open: a status
// introduced by a later Helm is kept verbatim and counts as neither success nor
// failure.
type Status = release.Status

const (
	// StatusUnknown means that Helm could not determine the status.
	StatusUnknown = release.StatusUnknown
	// StatusDeployed means that the last operation on the revision succeeded.
	StatusDeployed = release.StatusDeployed
	// StatusUninstalled means that the objects are gone but the record was kept.
	StatusUninstalled = release.StatusUninstalled
	// StatusSuperseded means that a later revision replaced this one.
	StatusSuperseded = release.StatusSuperseded
	// StatusFailed means that the operation ended with an error.
	StatusFailed = release.StatusFailed
	// StatusUninstalling means that an uninstall is under way, or was cut short.
	StatusUninstalling = release.StatusUninstalling
	// StatusPendingInstall means that an install is under way, or was cut short.
	StatusPendingInstall = release.StatusPendingInstall
	// StatusPendingUpgrade means that an upgrade is under way, or was cut short.
	StatusPendingUpgrade = release.StatusPendingUpgrade
	// StatusPendingRollback means that a rollback is under way, or was cut short.
	StatusPendingRollback = release.StatusPendingRollback
)

// Busy reports whether s means that an operation on the revision is or was in
// progress: one of the pending statuses, or uninstalling.
func Busy(s Status) bool { return s.IsPending() || s == StatusUninstalling }

package helmtrail

// Mark says which stuck record is to be marked failed, and by whom.
type Mark struct {
	Namespace, Name string
	// ResourceVersion is the Secret's as the caller saw it.
	ResourceVersion string
	// Note goes into the record's description.
	Note        string
	Credentials Credentials
}

// Operation is what a session does to a release.
type Operation string

const (
	// OperationInstall makes a release.
	OperationInstall Operation = "install"
	// OperationUpgrade makes a new revision of a release.
	OperationUpgrade Operation = "upgrade"
	// OperationRollback makes a new revision from an older one.
	OperationRollback Operation = "rollback"
	// OperationUninstall removes a release.
	OperationUninstall Operation = "uninstall"
	// OperationRecover brings a stuck release back to a state that helm accepts.
	OperationRecover Operation = "recover"
)

// ReleaseRef names a release in a cluster.
type ReleaseRef struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Recovery says how a stuck release is brought back. Rollback and uninstall
// are done by helm, as the request's Operation says then; markFailed edits the
// record, and the request's Operation is OperationRecover.
type Recovery struct {
	Strategy Strategy
	// ResourceVersion is the stuck revision's Secret as the caller saw it, ""
	// for whatever it is.
	ResourceVersion string
}

// Strategy is a way out of a stuck release.
type Strategy string

const (
	// StrategyRollback goes back to the last deployed revision, else to the first.
	StrategyRollback Strategy = "rollback"
	// StrategyMarkFailed writes the status failed into the stuck record, after
	// which helm accepts upgrades again.
	StrategyMarkFailed Strategy = "markFailed"
	// StrategyUninstall removes the release.
	StrategyUninstall Strategy = "uninstall"
)

package helmtrail

// Mark identifies a stuck record to be marked failed, and the caller.
type Mark struct {
	Namespace, Name string
	// ResourceVersion is the Secret's resource version that the caller saw.
	ResourceVersion string
	// Note is added to the record's description.
	Note        string
	Credentials Credentials
}

// Operation is what a session does to a release.
type Operation string

const (
	// OperationInstall creates a release.
	OperationInstall Operation = "install"
	// OperationUpgrade creates a new revision of a release.
	OperationUpgrade Operation = "upgrade"
	// OperationRollback creates a new revision from an older one.
	OperationRollback Operation = "rollback"
	// OperationUninstall removes a release.
	OperationUninstall Operation = "uninstall"
	// OperationRecover returns a stuck release to a state that helm accepts.
	OperationRecover Operation = "recover"
)

// ReleaseRef names a release in a cluster.
type ReleaseRef struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Recovery describes how to recover a stuck release. Helm performs a rollback
// or an uninstall, and the request's Operation names it. For markFailed,
// helmtrail edits the record, and the request's Operation is OperationRecover.
type Recovery struct {
	Strategy Strategy
	// ResourceVersion is the resource version of the stuck revision's Secret
	// that the caller saw, or "" to accept any.
	ResourceVersion string
}

// Strategy is a way to recover a stuck release.
type Strategy string

const (
	// StrategyRollback rolls back to the last deployed revision, or to the
	// first revision if no revision was deployed.
	StrategyRollback Strategy = "rollback"
	// StrategyMarkFailed sets the stuck record's status to failed. Helm then
	// accepts upgrades again.
	StrategyMarkFailed Strategy = "markFailed"
	// StrategyUninstall removes the release.
	StrategyUninstall Strategy = "uninstall"
)

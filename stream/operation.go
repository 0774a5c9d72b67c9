package stream

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

// Origin says who started a session.
type Origin string

const (
	// OriginHelmtrail means that it was submitted here.
	OriginHelmtrail Origin = "helmtrail"
	// OriginOutside means that it was only seen in the Secrets: helm by hand, a pipeline.
	OriginOutside Origin = "outside"
)

// ReleaseRef names a release in a cluster.
type ReleaseRef struct {
	Cluster   string `json:"cluster"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

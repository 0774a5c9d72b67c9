package helmtrail

// Request is an operation on a release that a caller asks for. It has already
// been validated; see Validate in package helmcli.
type Request struct {
	Operation Operation
	Release   ReleaseRef
	// Chart is used by install and upgrade.
	Chart Chart
	// Values is YAML and holds only user-supplied values. It is a secret.
	Values []byte
	// Revision is the target of a rollback.
	Revision int
	Options  Options
	// User is the caller, or nobody without authentication.
	User User
	// Credentials are the caller's credentials; they never leave the process's
	// memory.
	Credentials Credentials `json:"-"`
	// OwnMasks gives the masks of the session a key of its own, and no secrets of
	// the release. It is set for a dry run of a caller who may not see these: they
	// could otherwise guess a secret and compare its mask.
	OwnMasks bool
	// Recovery is set when the operation is part of a recovery.
	Recovery *Recovery
}

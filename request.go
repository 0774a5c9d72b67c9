package helmtrail

// Request is what a caller asks to be done to a release. It was checked before
// it gets here; see Validate in package helmcli.
type Request struct {
	Operation Operation
	Release   ReleaseRef
	// Chart is used by install and upgrade.
	Chart Chart
	// Values is YAML, user-supplied values only. It is a secret.
	Values []byte
	// Revision is the target of a rollback.
	Revision int
	Options  Options
	// User is who asked, nobody without authentication.
	User User
	// Credentials are the caller's; they never leave the process's memory.
	Credentials Credentials `json:"-"`
	// Recovery is set when the operation is part of a recovery.
	Recovery *Recovery
}

package stream

import "errors"

// ErrNotFound means that the release, revision or session does not exist.
var ErrNotFound = errors.New("not found")

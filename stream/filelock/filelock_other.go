//go:build !linux && !darwin

package filelock

import (
	"errors"
	"os"
)

// TryLock fails: here no lock passes to a child process.
func TryLock(*os.File) error { return errors.ErrUnsupported }

// TryShare fails as TryLock does.
func TryShare(*os.File) error { return errors.ErrUnsupported }

//go:build linux || darwin

package filelock

import (
	"os"
	"syscall"
)

// TryLock locks the file for its holder alone. It fails at once when the file
// is locked already.
func TryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// TryShare locks the file together with other sharers. It fails at once when
// the file is locked by TryLock.
func TryShare(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
}

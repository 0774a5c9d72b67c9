// Package filelock locks files between processes. A lock belongs to the open
// file: a child process that inherits the descriptor holds the lock too, and
// the kernel releases it when the last descriptor is closed, however the
// process ends.
package filelock

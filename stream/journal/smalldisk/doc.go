// Package smalldisk gives tests a disk that is soon full. It needs the mount
// namespaces of Linux.
package smalldisk

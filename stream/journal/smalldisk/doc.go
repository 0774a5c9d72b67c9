// Package smalldisk provides tests with a disk that fills up quickly. It needs
// Linux mount namespaces.
package smalldisk

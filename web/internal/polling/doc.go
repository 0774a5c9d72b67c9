// Package polling lets many clients wait for the same change. They share one
// notification, one read and one encoded answer.
package polling

// Package uploads keeps the chart archives that callers upload.
//
// An archive belongs to a namespace of a cluster and counts against the quota of
// that namespace, or it belongs to the whole server. Nobody's upload removes an
// archive of others that was used lately.
//
// The folder has the archives of the whole server, named by their SHA-256 digest,
// and below a folder per cluster one per namespace. The time at which a file was
// changed says when it was last used. A namespace that is deleted and created again
// has the archives of the old one.
package uploads

// Package health describes the objects of a release at one moment: their rows,
// and the causes that say why an object is not ready.
//
// It is pure and imports only the standard library. Package informer/resources
// fills these types from the cluster.
package health

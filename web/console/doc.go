// Package console serves the contract of the OpenShift console below /api/helm,
// so that the console's pages and `oc helm` work with helmtrail unchanged.
// docs/console.md describes each route.
package console

// Package console serves the contract of the OpenShift console below /api/helm,
// so that its pages and `oc helm` work with helmtrail as they are.
// docs/console.md describes it row by row.
package console

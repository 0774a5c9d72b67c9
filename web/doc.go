// Package web serves helmtrail over HTTP: the JSON routes, the event streams
// and the pages. docs/openapi.yaml describes every route; a test compares the
// two in both directions. Package history serves what releases are and were,
// package console the contract of the OpenShift console.
//
// Handlers read releases from memory and hand operations to package stream.
// An operation does not belong to the request that started it: it continues
// when the client leaves. A stream belongs to its request. It ends when the
// client leaves, when the client has taken nothing for thirty seconds, after the
// terminal event, or when the Server is closed. A slow reader delays neither the
// writer of the events nor any other reader.
//
// No goroutine that the package starts outlives its request.
package web

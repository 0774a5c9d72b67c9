// Package web serves helmtrail over HTTP: the JSON routes, the event streams
// and the pages. docs/openapi.yaml describes every route; a test compares the
// two both ways.
//
// Handlers read releases from memory and hand operations to package stream.
// An operation never belongs to the request that asked for it: it goes on when
// the client leaves. A stream belongs to its request alone. It ends when the
// client leaves, when the client has taken nothing for thirty seconds, when
// there is nothing more to tell, or when the Server is closed; a slow reader
// holds up neither the writer of the events nor any other reader.
//
// No goroutine that the package starts outlives its request.
package web

// Package authz identifies callers and checks what they may do, by the API server's own
// reviews.
//
// A Caller is a caller as identified by one cluster. Streams and long polls recheck it
// while they are open, so that a withdrawn permission closes them.
package authz

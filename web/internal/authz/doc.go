// Package authz identifies callers and checks what they may do, by the reviews
// of the API server that they ask for.
//
// A Caller is one caller as one cluster knows them. Streams and long polls
// recheck it for as long as they are open, so that a right that is withdrawn
// ends what it allowed.
package authz

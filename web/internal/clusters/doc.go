// Package clusters keeps what the server knows of each served cluster in
// memory: its releases as lists show them, the feed of their transitions, and
// the clients that wait for a change.
package clusters

// Package clusters keeps the state of each served cluster in memory: its releases
// as shown in lists, the feed of their transitions, and the clients that wait for
// a change.
package clusters

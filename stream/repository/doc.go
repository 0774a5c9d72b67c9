// Package repository fetches charts from chart repositories and OCI registries.
//
// helmtrail makes these requests for its callers, from a place in the network that
// they may not be able to reach. So every connection is checked, not only the
// address that a caller names:
//
//   - A request, the first one or a redirect, must go to a host that [Hosts] allow.
//   - A connection is opened only to a public IP address, unless the host is listed.
//     The check runs after the name was resolved, on the address that is connected
//     to, so a name that resolves differently the next time does not pass.
//   - Credentials are sent over https only, and never after a redirect to another
//     scheme, host or port.
//   - Every answer is bounded in bytes and in time.
//   - Errors contain nothing of an answer but its status code.
package repository

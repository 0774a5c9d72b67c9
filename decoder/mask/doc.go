// Package mask decides which parts of a release are secret, and how they are
// shown.
//
// A secret is shown as a token, «masked:<fingerprint>». The fingerprint is a short
// HMAC over the release, the path and the value. The same value at the same path
// has the same token in every revision, so that a change is visible. Equal
// passwords at two paths, or in two releases, have different tokens.
//
// [Masker.Collect] reads the sources of a release and returns its [Secrets]:
//
//   - the values of keys that name a secret (password, token, apiKey), unless they only
//     describe one (a count, a switch, the name of a Secret or of its key),
//   - random values of keys that may name a secret (routingKey, sessionCookie),
//   - the values that the chart's schema declares as a password or write-only,
//   - data and stringData of every Secret in manifests and hooks,
//   - passwords in URLs, and secrets that have a form of their own: private keys,
//     JSON Web Tokens, the keys of well-known services, registry logins.
//
// Secrets masks values, manifests and free text. A secret that was found in one
// place is masked everywhere it occurs, also in base64 and other spellings.
// [Secrets.Restore] puts the secrets back into values that were edited while they
// were masked.
//
// Content that cannot be read is not shown. A weak secret is masked only at its own
// path, because otherwise no text would be readable, and the masks would betray it. A
// secret is weak if it has fewer than six bytes, is a common word such as "postgres",
// or a public name: the release's, its chart's, an object's, an image's, a key's.
//
// A text is masked before it is cut ([Cut]).
//
// The package is pure: no I/O, no clock, no goroutine. A Masker and Secrets may
// be used concurrently. Errors quote nothing secret.
package mask

// Package mask decides what in a release is secret, and how it is shown.
//
// A secret is shown as a token, «masked:<fingerprint>». The fingerprint is a
// short HMAC over the release, the place and the value: the same value at the
// same place gives the same token in every revision, so that a change shows,
// while equal passwords at two places, or in two releases, cannot be told.
//
// [Masker.Collect] reads what is known of a release and returns its [Secrets]:
//
//   - what stands under a key that names a secret (password, token, apiKey),
//     or that the chart's schema calls a password or write-only,
//   - data and stringData of every Secret in manifests and hooks,
//   - passwords in URLs, and what can be told by its form alone: private keys,
//     JSON Web Tokens, the keys of well-known services, registry logins.
//
// Secrets masks values, manifests and free text; a secret that was found in one
// place is masked wherever it turns up again, in base64 and other spellings
// too. [Secrets.Restore] puts the secrets back into values that were edited
// while they were masked.
//
// What cannot be read is not shown. A known secret of fewer than six bytes, or
// one that is a common word such as "postgres", is masked in its own place
// only, or no text could be read any more.
//
// The package is pure: no I/O, no clock, no goroutine. A Masker and Secrets may
// be used concurrently. Errors quote nothing secret.
package mask

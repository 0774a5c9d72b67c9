package mask

import (
	"regexp"
	"slices"
	"strings"
)

// reference matches a value that is filled in from elsewhere: a variable, a value of
// Helm, a key of Argo CD's Secret, or a file or variable that Grafana reads.
var reference = regexp.MustCompile(`^(?:\$\([A-Za-z_]\w*\)|\$\{[A-Za-z_]\w*\}|\{\{-?\s*\.[\w.]+\s*-?\}\}|\$__(?:file|env)\{[^{}]*\}|\$[A-Za-z]+(?:[-_.:][A-Za-z]+)+)$`)

// isReferenceTo reports whether a value is filled in from elsewhere. It may be
// followed by the brackets of a flow in YAML or JSON.
func isReferenceTo(value string) bool {
	return strings.HasPrefix(value, "$") && reference.MatchString(strings.TrimRight(value, "}]")) || reference.MatchString(value)
}

// switches are texts that switch something on or off.
var switches = []string{"true", "false", "yes", "no", "on", "off", "enabled", "disabled"}

// describes reports whether the value of a key that names a secret cannot be the
// secret itself, but only describes it: a switch, a number of something, or the
// name of a Secret or of one of its keys. refers means that the value's mapping
// refers to a Secret.
func describes(key, value string, refers bool) bool {
	switch {
	case slices.Contains(switches, strings.ToLower(value)), isReferenceTo(value), keyFile.MatchString(value):
		return true
	case len(value) < minDigits && number.MatchString(value):
		return counts(key)
	case quantity.MatchString(value):
		return counts(key) || !endsInSecret(key)
	}
	return namesKey(key, value, refers) || namesObject(key, value, refers)
}

// counts reports whether the number of a key below or with the name of a secret counts
// something, as in "contextTokens". A password may be a number too.
func counts(key string) bool {
	plain := letters(key)
	return describing(key, plain) || namesSecret(key) && (!endsInSecret(key) || strings.HasSuffix(plain, "s") && !strings.HasSuffix(plain, "pass"))
}

// number and quantity match numbers without and with units; keyFile matches the name of
// a file in which a key is.
var (
	number   = regexp.MustCompile(`^[-+]?\d+(\.\d+)?$`)
	quantity = regexp.MustCompile(`^(\d{1,9}(\.\d+)?([smhdwy]|ms|[KMGTkm]i?B?|%))+$`)
	keyFile  = regexp.MustCompile(`^[\w.-]+\.(key|pem|crt|cer|der|p12|pfx|jks)$`)
)

// dataKey matches the keys that a Secret may have, and objectName the name of one
// (k8s.io/apimachinery/pkg/util/validation).
var (
	dataKey    = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// kept are parts of "passwordKey" and others, which name a key of a Secret.
var kept = []string{"password", "passwd", "passphrase", "passcode", "token", "credential", "user"}

// namesKey reports whether the value is the name of a key in a Secret:
// "adminPasswordKey: admin-password". Since "secretKey" may have a secret as well, its
// value must stand beside the Secret's name, or repeat the words of its key.
func namesKey(key, value string, refers bool) bool {
	list := words(key)
	last := len(list) - 1
	if list[last] != "key" && list[last] != "keys" || !dataKey.MatchString(value) || looksRandom(value) {
		return false
	}
	if refers {
		return true
	}
	whole := strings.Join(list[:last], "")
	list = slices.DeleteFunc(list[:last], func(word string) bool { return word == "secret" })
	if len(list) == 0 {
		return false
	}
	inner := strings.Join(list, "")
	if words(key)[0] == "secret" && !namesSecret(inner+"key") && strings.Contains(fold(value), inner) {
		return true
	}
	return containsAny(inner, kept) || namesSecret(whole) && strings.Contains(fold(value), whole) || namesSecret(inner) && strings.Contains(fold(value), inner)
}

// stored are the words before "Secret" in a key that names the Secret in which they
// are stored.
var stored = []string{
	"credential", "credentials", "password", "passwords", "tls", "ssl", "cert", "certs", "certificate", "certificates", "user", "users", "ca", "config", "env", "vars", "from",
	"pull", "kubeconfig", "license", "keystore", "truststore", "key", "keys",
}

// namesObject reports whether the value is the name of a Secret: "tlsSecret: web-tls".
func namesObject(key, value string, refers bool) bool {
	list := words(key)
	last := len(list) - 1
	if list[last] != "secret" || !objectName.MatchString(value) || looksRandom(value) {
		return false
	}
	return refers || last > 0 && slices.Contains(stored, list[last-1])
}

// namesListed reports whether an item of the list of a key is the name of a Secret:
// "secrets: [web-tls]".
func namesListed(key, value string) bool {
	return strings.HasSuffix(letters(key), "secrets") && strings.Contains(value, "-") && objectName.MatchString(value) && !looksRandom(value)
}

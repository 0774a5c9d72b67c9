package mask

import (
	"slices"
	"strings"
	"unicode"
)

// secretParts make a key secret wherever they occur in it.
var secretParts = []string{
	"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "accesskey", "privatekey",
	"signingkey", "encryptionkey", "sharedkey", "authkey", "masterkey", "licensekey", "accountkey", "sessionkey",
	"sshkey", "deploykey", "hmackey", "cookiekey", "tlskey", "connectionstring", "dockerconfig", "htpasswd", "pgpass", "bearer",
}

// secretWords make a key secret only as whole words, since they are part of others.
var secretWords = []string{"pass", "pwd", "pw", "psk", "otp", "jwt", "cred", "creds", "dsn", "salt", "authorization"}

// plainEnds are the ends of keys that describe a secret without containing it.
var plainEnds = []string{
	"name", "names", "ref", "refs", "namespace", "path", "file", "files", "dir", "mount", "mounts", "volume", "enabled", "create", "created",
	"annotations", "labels", "type", "length", "size", "policy", "ttl", "expiry", "expiration", "seconds", "minutes", "hours", "days",
	"rotation", "endpoint", "issuer", "audience", "algorithm", "version", "required", "format", "count", "limit", "mode", "class",
	"provider", "store", "backend", "driver", "header", "prefix", "suffix",
}

// plainStarts are such first words.
var plainStarts = []string{"max", "min", "num", "use", "enable", "disable", "is", "has", "existing", "automount", "create"}

// plainKeys describe or name secrets, in Kubernetes and in many charts.
var plainKeys = []string{"imagepullsecret", "imagepullsecrets", "pullsecret", "pullsecrets", "serviceaccounttoken", "tokenrequests", "tokenreview"}

// plainInside are keys that are shown even below a secret key.
var plainInside = []string{
	"name", "namespace", "enabled", "create", "annotations", "labels", "type", "kind", "apiVersion", "mountPath", "optional", "defaultMode",
}

// namesSecret reports whether the value of a key is secret.
func namesSecret(key string) bool {
	const longest = 256 // Nobody chose a longer one as a name.
	if len(key) > longest {
		return false
	}
	plain := strings.ReplaceAll(letters(key), "tokeniz", "")
	if !containsAny(plain, secretParts) && !(containsAny(plain, secretWords) && slices.ContainsFunc(words(key), func(word string) bool {
		return slices.Contains(secretWords, word)
	})) {
		return false
	}
	return !slices.Contains(plainStarts, words(key)[0]) && !slices.Contains(plainKeys, plain) && !strings.HasPrefix(plain, "existingsecret") &&
		!slices.ContainsFunc(plainEnds, func(end string) bool { return strings.HasSuffix(plain, end) })
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// proseParts mark a word in a sentence or a log line as the name of a secret. The
// list is short, because "secret: web-tls" is not secret there.
var proseParts = []string{"password", "passwd", "passphrase", "pwd", "apikey", "accesskey", "secretkey", "privatekey", "clientsecret", "authtoken", "accesstoken", "apitoken"}

// announcesSecret is namesSecret for text for people.
func announcesSecret(key string) bool {
	plain := letters(key)
	return namesSecret(key) && slices.ContainsFunc(proseParts, func(part string) bool { return strings.HasSuffix(plain, part) })
}

// letters returns a key in lower case without the separators of its words.
func letters(key string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
}

// words returns a key's words in lower case, whether they are separated or in
// camel case. There is at least one, which may be empty.
func words(key string) []string {
	var split strings.Builder
	before := ' '
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			split.WriteByte(' ')
		}
		split.WriteRune(unicode.ToLower(r))
		before = r
	}
	if list := strings.Fields(split.String()); len(list) > 0 {
		return list
	}
	return []string{""}
}

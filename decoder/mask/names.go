package mask

import (
	"slices"
	"strings"
	"unicode"
)

// grade is what the name of a key says about its value.
type grade int

const (
	// ordinary means that the name says nothing: the value is not secret as a whole.
	ordinary grade = iota
	// likely means that the value is secret if it looks random, as in "routingKey".
	likely
	// named means that the name is that of a secret, as in "password".
	named
)

// secretParts make a key secret wherever they occur in it.
var secretParts = newParts(

	"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "appkey", "accesskey", "privatekey", "fernetkey",
	"signingkey", "encryptionkey", "encryptkey", "sharedkey", "authkey", "masterkey", "licensekey", "accountkey", "sessionkey", "servicekey",
	"sshkey", "deploykey", "hmackey", "cookiekey", "tlskey", "storagekey", "ingestkey", "integrationkey", "replicasetkey", "unsealkey",
	"recoverykey", "xsrfkey", "csrfkey", "keybase", "erlangcookie", "connectionstring", "dockerconfig", "htpasswd", "pgpass",
	"secretkey", "presharedkey", "sseckey", "ssecustomerkey", "mnemonic", "seedphrase", "passcode", "bindpw", "rootpw",
	"dbpass", "userpass", "adminpass", "rootpass", "smtppass", "mailpass", "ldappass", "bindpass", "keypass", "storepass",
)

// secretWords make a key secret only as whole words, since they are part of others.
var secretWords = []string{"pass", "pwd", "pw", "psk", "otp", "jwt", "cred", "creds", "dsn", "salt", "pepper", "authorization", "bearer", "skey"}

// likelyEnds are the ends of keys whose values are secret if they look random.
var likelyEnds = []string{"key", "cookie", "seed", "auth", "webhook", "webhookurl", "license", "licence", "signature", "nonce", "pat", "pin", "psk", "pass", "pwd", "jwt"}

// publicKeys are ends of keys that hold random values for everybody.
var publicKeys = []string{
	"publickey", "pubkey", "sitekey", "publishablekey", "gpgkey", "topologykey", "partitionkey", "sortkey", "primarykey", "cachekey", "knownhosts",
}

// plainEnds are the ends of keys that describe a secret without containing it.
var plainEnds = []string{
	"name", "names", "ref", "refs", "namespace", "path", "file", "files", "dir", "mount", "mounts", "volume", "enabled", "create", "created",
	"annotations", "labels", "type", "length", "size", "policy", "ttl", "expiry", "expiration", "seconds", "minutes", "hours", "days",
	"rotation", "endpoint", "issuer", "audience", "algorithm", "version", "required", "format", "count", "limit", "mode", "class",
	"provider", "store", "backend", "driver", "header", "prefix", "suffix", "url", "uri", "host", "port", "domain", "rounds", "schedule",
	"expires", "expiresin", "lifetime", "lifespan", "validity", "duration", "timeout", "interval", "period", "age", "retention",
	"encryption", "connector", "alg", "mtime", "timestamp", "date", "modified",
}

// plainStarts are such first words.
var plainStarts = []string{"max", "min", "num", "use", "enable", "disable", "is", "has", "existing", "automount", "create"}

// plainWhole describe or name secrets, in Kubernetes and in many charts.
var plainWhole = []string{
	"imagepullsecret", "imagepullsecrets", "pullsecret", "pullsecrets", "serviceaccounttoken", "tokenrequests", "tokenreview", "tokenizer",
	"securitycontext",
}

// plainParts name or refer to a Secret wherever they occur in a key.
var plainParts = []string{"existingsecret", "secretkeyref", "secretname"}

// plainInside are last words of keys that are shown even below a secret key.
var plainInside = []string{
	"name", "username", "user", "namespace", "enabled", "create", "annotations", "labels", "type", "kind", "version", "path", "optional", "mode",
	"host", "hostname", "port", "database", "dbname", "bucket", "region", "email", "endpoint", "url", "image", "repository", "registry", "tag",
	"policy", "algorithm", "encoding", "size", "id",
}

// wrappers are last words of keys that name a secret before them, as in
// "secretEnv" and "passwordBase64".
var wrappers = []string{
	"data", "content", "contents", "env", "envs", "vars", "variables", "environment", "value", "values", "string", "strings", "text", "plain",
	"base64", "b64", "hash", "config", "settings", "parameters", "params", "properties", "map", "list", "prod", "dev", "test",
}

// gradeOf returns the grade of a key's name. It does not depend on case and
// separators.
func gradeOf(key string) grade {
	const longest = 256 // Nobody chose a longer one as a name.
	if len(key) > longest {
		return ordinary
	}
	plain := letters(key)
	switch trimmed := strings.ReplaceAll(plain, "tokeniz", ""); {
	case secretParts.in(trimmed), containsAny(trimmed, secretWords) && (plain == "skey" || slices.ContainsFunc(words(key), isSecretWord)):
		if describing(key, plain) {
			return ordinary
		}
		return named
	case hasAnySuffix(strings.TrimSuffix(plain, "s"), likelyEnds) && !hasAnySuffix(plain, publicKeys):
		return likely
	}
	return ordinary
}

// describing reports whether a key, which is plain in lower case without
// separators, describes something, as "passwordLength" does.
func describing(key, plain string) bool {
	if slices.Contains(plainWhole, plain) || containsAny(plain, plainParts) || hasAnySuffix(plain, plainEnds) {
		return true
	}
	list := words(key)
	return slices.Contains(plainStarts, list[0]) || slices.Contains(list, "per")
}

// namesSecret reports whether a key names a secret, whatever its value.
func namesSecret(key string) bool { return gradeOf(key) == named }

// assignsSecret reports whether the value that a text assigns to a key is secret.
func assignsSecret(key, value string) bool {
	switch gradeOf(key) {
	case named:
		return !describes(key, value, false)
	case likely:
		return looksRandom(value)
	case ordinary:
	}
	return false
}

func isSecretWord(word string) bool { return slices.Contains(secretWords, word) }

// configWords are secret words that often name a mapping of settings.
var configWords = []string{"jwt", "otp", "salt", "authorization", "bearer"}

// holdsSecrets reports whether all that a mapping below a key contains is secret:
// below "credentials" and "secretEnv", but not below "passwordUpdateJob".
func holdsSecrets(key string) bool {
	list := words(key)
	return endsInSecret(key) && !slices.Contains(configWords, list[len(list)-1])
}

// endsInSecret reports whether a key ends with the name of a secret.
func endsInSecret(key string) bool {
	list := words(strings.TrimRight(key, "0123456789_-"))
	for len(list) > 1 && slices.Contains(wrappers, list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	last := list[len(list)-1]
	return isSecretWord(last) || secretParts.end(strings.TrimSuffix(strings.Join(list, ""), "s"))
}

// parts is a list of texts by their first bytes, so that all are searched for at once.
type parts [1 << 8][]string

func newParts(list ...string) *parts {
	var p parts
	for _, part := range list {
		p[part[0]] = append(p[part[0]], part)
	}
	return &p
}

// in reports whether a text contains one of the parts.
func (p *parts) in(text string) bool {
	for i := range len(text) {
		if p.begin(text[i:]) {
			return true
		}
	}
	return false
}

// end reports whether a text ends with one of the parts.
func (p *parts) end(text string) bool {
	for i := range len(text) {
		for _, part := range p[text[i]] {
			if text[i:] == part {
				return true
			}
		}
	}
	return false
}

func (p *parts) begin(text string) bool {
	for _, part := range p[text[0]] {
		if strings.HasPrefix(text, part) {
			return true
		}
	}
	return false
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

func hasAnySuffix(text string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(text, end) })
}

// proseParts mark a word in a sentence or a log line as the name of a secret. The
// list is short, because "secret: web-tls" is not secret there.
var proseParts = []string{
	"password", "passwd", "passphrase", "pwd", "apikey", "appkey", "accesskey", "secretkey", "privatekey", "fernetkey", "encryptionkey",
	"clientsecret", "authtoken", "accesstoken", "apitoken", "erlangcookie",
}

// announcesSecret is assignsSecret for text for people.
func announcesSecret(key, value string) bool {
	return hasAnySuffix(letters(key), proseParts) && assignsSecret(key, value)
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

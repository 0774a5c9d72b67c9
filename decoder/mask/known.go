package mask

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	// minKnown is the least length, in bytes, of a secret that is looked for
	// in other texts.
	minKnown = 6
	// minLine is the same for a line of a secret of several lines.
	minLine = 16
	// minDigits is the same for a number.
	minDigits = 8
)

// commonWords would make every text unreadable if they were masked in it.
var commonWords = []string{
	"password", "passwd", "secret", "default", "localhost", "username", "postgres", "postgresql", "production", "staging", "kubernetes",
	"string", "number", "boolean", "enabled", "disabled", "release", "namespace", "service", "cluster", "system", "latest", "stable",
}

// known finds a set of strings in texts. It is built once and then only read.
type known struct {
	// tokens has the token of every string.
	tokens map[string]string
	// starts has, for each first minKnown bytes of a string, the lengths of the
	// strings that begin so, longest first. Strings are looked up by length, so
	// that many that begin alike cost no more than a few.
	starts map[string][]int
	// pairs has a bit for the first two bytes of every string, so that most
	// positions of a text cost no look-up.
	pairs [1 << 16 / 64]uint64
}

func newKnown() *known { return &known{tokens: map[string]string{}, starts: map[string][]int{}} }

// add makes a secret known in every spelling in which it may turn up.
func (k *known) add(secret, token string) {
	k.addSpellings(secret, token)
	if lines := strings.Split(secret, "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= minLine {
				k.addSpellings(line, token)
			}
		}
	}
}

func (k *known) addSpellings(secret, token string) {
	trimmed := strings.TrimSpace(secret)
	if !distinct(trimmed) {
		return
	}
	k.put(trimmed, token)
	for _, spelling := range []string{url.QueryEscape(trimmed), url.PathEscape(trimmed), quoted(trimmed, true), quoted(trimmed, false)} {
		k.put(spelling, token)
	}
	for _, whole := range []string{secret, trimmed} {
		k.put(base64.StdEncoding.EncodeToString([]byte(whole)), token)
		k.put(base64.URLEncoding.EncodeToString([]byte(whole)), token)
	}
	k.addInsideBase64(trimmed, token)
}

// addInsideBase64 adds what base64 of a longer text shows of a secret at each
// of the three offsets at which it may begin.
func (k *known) addInsideBase64(secret, token string) {
	const least = 9 // Shorter ones leave too few characters to be sure.
	if len(secret) < least {
		return
	}
	for skip := range 3 {
		// The bytes of the groups of three that lie in the secret alone.
		inner := secret[skip:]
		inner = inner[:len(inner)/3*3]
		k.put(base64.StdEncoding.EncodeToString([]byte(inner)), token)
	}
}

// quoted is text as JSON and most logs write it, without the quotes.
func quoted(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if encoder.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

// distinct reports whether a secret can be looked for in other texts without
// hiding what is not secret.
func distinct(secret string) bool {
	if len(secret) < minKnown || slices.Contains(commonWords, strings.ToLower(secret)) {
		return false
	}
	return len(secret) >= minDigits || strings.Trim(secret, "0123456789.,:-") != ""
}

// maxLengths bounds the different lengths of strings that begin alike, so that
// nobody can make the search slow with a Secret made for it. Helm's records hold
// hardly more than a handful.
const maxLengths = 256

// put adds one string. The first token that it is given stays.
func (k *known) put(text, token string) {
	if len(text) < minKnown || k.tokens[text] != "" {
		return
	}
	start := text[:minKnown]
	lengths := k.starts[start]
	at, known := slices.BinarySearchFunc(lengths, len(text), func(a, b int) int { return cmp.Compare(b, a) })
	if !known {
		if len(lengths) >= maxLengths {
			return
		}
		k.starts[start] = slices.Insert(lengths, at, len(text))
	}
	k.tokens[text] = token
	pair := uint(text[0])<<8 | uint(text[1])
	k.pairs[pair/64] |= 1 << (pair % 64)
}

// find returns where the longest known string stands at each place, those that
// overlap too.
func (k *known) find(text string) []span {
	if len(k.tokens) == 0 {
		return nil
	}
	var found []span
	for i := 0; i+minKnown <= len(text); i++ {
		pair := uint(text[i])<<8 | uint(text[i+1])
		if k.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, length := range k.starts[text[i:i+minKnown]] {
			if length <= len(text)-i && k.tokens[text[i:i+length]] != "" {
				found = append(found, span{i, i + length})
				break
			}
		}
	}
	return found
}

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
	// minKnown is the minimum length, in bytes, of a secret that is searched for
	// in other texts.
	minKnown = 6
	// minLine is the minimum for a line of a secret of several lines.
	minLine = 16
	// minDigits is the minimum for a number.
	minDigits = 8
	// maxSpelled is the maximum length of a secret that is searched for in all its
	// spellings. A longer one is searched for as it is, in pieces, and in base64.
	maxSpelled = 16 << 10
	// pieceLength is the length of the pieces by which a longer one is searched for.
	pieceLength = 512
)

// commonWords are not masked everywhere: that would make every text unreadable.
var commonWords = []string{
	"password", "passwd", "secret", "default", "localhost", "username", "postgres", "postgresql", "production", "staging", "kubernetes",
	"string", "number", "boolean", "enabled", "disabled", "release", "namespace", "service", "cluster", "system", "latest", "stable",
}

// known finds a set of strings in texts. It is built once and then only read.
type known struct {
	// tokens has the token of every string.
	tokens map[string]string
	// starts has, for each prefix of minKnown bytes, the lengths of the strings
	// with that prefix, longest first. Strings are looked up by length, so that
	// many strings with the same prefix cost hardly more than a few.
	starts map[string][]int
	// pairs has a bit for the first two bytes of every string, so that most
	// positions of a text cost no look-up.
	pairs [1 << 16 / 64]uint64
	// traces finds what is left of the strings when they are changed.
	traces traces
	// public has the names that are not searched for; it may be nil.
	public *public
	// size is the approximate memory of the strings. full means that they exceeded the
	// limit.
	size int
	full bool
}

func newKnown() *known {
	return &known{tokens: map[string]string{}, starts: map[string][]int{}, traces: traces{places: map[uint64][]tracePlace{}}}
}

// add makes a secret known in every spelling that may occur.
func (k *known) add(secret, token string) {
	if k.full {
		return
	}
	k.addSpellings(secret, token)
	if trimmed := strings.TrimSpace(secret); k.searched(trimmed) {
		k.grow(k.traces.addSecret(trimmed, token, k.public))
	}
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
	if !k.searched(trimmed) {
		return
	}
	k.put(trimmed, token)
	if len(trimmed) > maxSpelled {
		k.put(base64.StdEncoding.EncodeToString([]byte(trimmed)), token)
		// A line that was cut off has only the beginning.
		for piece := range slices.Chunk([]byte(trimmed), pieceLength) {
			k.put(string(piece), token)
		}
		return
	}
	for _, spelling := range []string{url.QueryEscape(trimmed), url.PathEscape(trimmed), quoted(trimmed, true), quoted(trimmed, false), strings.ToUpper(trimmed), strings.ToLower(trimmed)} {
		k.put(spelling, token)
	}
	for _, whole := range []string{secret, trimmed} {
		k.put(base64.StdEncoding.EncodeToString([]byte(whole)), token)
		k.put(base64.URLEncoding.EncodeToString([]byte(whole)), token)
	}
	k.addInsideBase64(trimmed, token)
}

// addInsideBase64 adds the characters that represent a secret within the base64 of a
// longer text, for each of the three offsets at which it may start.
func (k *known) addInsideBase64(secret, token string) {
	const least = 9 // Shorter secrets leave too few characters to be sure.
	if len(secret) < least {
		return
	}
	for skip := range 3 {
		// These bytes are in groups of three that lie entirely in the secret.
		inner := secret[skip:]
		inner = inner[:len(inner)/3*3]
		k.put(base64.StdEncoding.EncodeToString([]byte(inner)), token)
	}
}

// quoted returns text as JSON and most logs write it, but without the quotes.
func quoted(text string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	if encoder.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

// distinct reports whether a secret can be searched for in other texts without
// hiding text that is not secret.
func distinct(secret string) bool {
	if len(secret) < minKnown || slices.Contains(commonWords, strings.ToLower(secret)) {
		return false
	}
	return len(secret) >= minDigits || strings.Trim(secret, "0123456789.,:-") != ""
}

// searched reports whether a secret is searched for in other texts. Any other secret
// is weak: it is short, a common word or a public name.
func (k *known) searched(secret string) bool {
	return distinct(secret) && (k.public == nil || !k.public.has(secret))
}

// maxLengths bounds the number of different lengths of strings with the same prefix, so
// that a specially made Secret cannot make the search slow. Helm's records have only a
// few.
const maxLengths = 256

// put adds one string. Its first token stays.
func (k *known) put(text, token string) {
	if len(text) < minKnown || k.tokens[text] != "" {
		return
	}
	const entry = 160 // the maps' part of a string
	if k.grow(len(text) + entry); k.full {
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

// grow adds to the memory of the strings.
func (k *known) grow(size int) {
	k.size += size
	k.full = k.full || k.size > maxKnown
}

// find returns the known strings and their traces in a text without a structure,
// or the whole text if finding them takes too long. Parts of public names are left out.
func (k *known) find(text string) []part {
	return append(k.exact(text), k.secretOnly(text, k.traces.find(text))...)
}

// secretOnly returns the parts of a text that are not parts of public names.
func (k *known) secretOnly(text string, found []part) []part {
	if k.public == nil {
		return found
	}
	return slices.DeleteFunc(found, func(p part) bool { return k.public.covers(text, p.span) })
}

// exact returns the longest known string at each offset, overlapping ones
// included, or the whole text if finding them takes too long.
func (k *known) exact(text string) []part {
	if len(k.tokens) == 0 {
		return nil
	}
	var found []part
	work := leastWork + workPerByte*len(text)
	for i := 0; i+minKnown <= len(text); i++ {
		pair := uint(text[i])<<8 | uint(text[i+1])
		if k.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, length := range k.starts[text[i:i+minKnown]] {
			if length > len(text)-i {
				continue
			}
			if work -= length; work < 0 || len(found) > maxParts {
				return whole(text)
			}
			if token := k.tokens[text[i:i+length]]; token != "" {
				found = append(found, part{span{i, i + length}, token})
				break
			}
		}
	}
	return k.secretOnly(text, found)
}

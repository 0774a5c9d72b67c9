package mask

import (
	"regexp"
	"strings"
)

const (
	// leastRandom is the minimum length of a random value.
	leastRandom = 12
	// randomShare is the share of the characters of a random value that are of
	// another kind than the one before: capital, small letter or digit. Words and
	// names have less, since a capital that begins a word does not count twice.
	randomShare = 0.22
)

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// looksRandom reports whether a value contains a run of letters and digits that nobody
// chose: a key, a hash, a UUID. Words, names, paths and numbers do not look random.
func looksRandom(value string) bool {
	if len(value) < leastRandom {
		return false
	}
	if uuid.MatchString(value) {
		return true
	}
	joiners := "-_+/" // base64 has them between its letters
	if strings.ContainsAny(value, ".:") || value[0] == '/' {
		joiners = "-_+"
	}
	var r run
	for i := range len(value) {
		switch kind := kindOf(value[i]); {
		case kind != 0:
			r.add(kind)
		case strings.IndexByte(joiners, value[i]) < 0:
			if r.random() {
				return true
			}
			r = run{}
		}
	}
	return r.random()
}

// run is a run of letters and digits.
type run struct {
	length, changes, letters int
	// last and before are the kinds of the last characters.
	last, before byte
}

func (r *run) add(kind byte) {
	if begins := kind == 'a' && r.last == 'A' && r.before != 'A'; r.length > 0 && kind != r.last && !begins {
		r.changes++
	}
	if kind != '0' {
		r.letters++
	}
	r.length++
	r.before, r.last = r.last, kind
}

func (r *run) random() bool {
	return r.length >= leastRandom && r.letters > 0 && float64(r.changes) >= randomShare*float64(r.length)
}

// kindOf returns 'a', 'A' or '0' for a letter or a digit, 0 for any other byte.
func kindOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

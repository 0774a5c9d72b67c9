package mask

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// gram is the number of letters by which a trace is looked up, and the least
	// that a trace has.
	gram = 8
	// maxTraced is the maximum length of a secret whose traces are searched for, in
	// bytes.
	maxTraced = 512
	// leastDigits is the minimum for a secret of digits only: dates have eight.
	leastDigits = 16
	// maxPlaces bounds the places of one gram, so that specially made secrets cannot
	// make the search slow.
	maxPlaces = 64
)

// traces finds parts of secrets in texts: at least half of a secret's letters and
// digits, in either case, whatever else is between them, and at least half of those
// that are not part of a public name. It is built once and then only read.
type traces struct {
	places map[uint64][]tracePlace
	// pairs has a bit for the last two letters of every gram, so that most positions
	// of a text cost no look-up.
	pairs [1 << 16 / 64]uint64
}

// tracePlace is a place of a gram in a secret.
type tracePlace struct {
	secret *traced
	at     int
}

type traced struct {
	letters string // folded
	token   string
	least   int
	// public are the parts that are public names, and own is the number of the
	// other letters.
	public []part
	own    int
}

// ownIn returns the number of letters from start to end that are not part of a public
// name.
func (t *traced) ownIn(start, end int) int {
	own, last := end-start, start
	for _, p := range t.public {
		from, to := max(p.start, last), min(p.end, end)
		if to > from {
			own -= to - from
			last = to
		}
	}
	return own
}

// folded has for each byte the letter or digit in lower case that it stands for, and
// 0 for the bytes that are skipped. Bytes of longer characters stand for themselves.
var folded = func() (table [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'A' && c <= 'Z':
			table[c] = byte(c - 'A' + 'a')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= utf8.RuneSelf:
			table[c] = byte(c)
		}
	}
	return table
}()

// fold returns the letters and digits of a text in lower case.
func fold(text string) string {
	letters := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := folded[text[i]]; c != 0 {
			letters = append(letters, c)
		}
	}
	return string(letters)
}

// addSecret makes the traces of a secret and of its encodings known, and returns
// the memory that they take. It ignores texts of several words, and URLs, whose
// parts also occur where they are not secret; their encodings do not.
func (t *traces) addSecret(secret, token string, names *public) (size int) {
	if len(secret) > maxTraced {
		return 0
	}
	if !strings.ContainsAny(secret, " \t\r\n") && !strings.Contains(secret, "://") {
		letters := fold(secret)
		var parts []part
		if names != nil {
			parts = names.parts(letters)
		}
		size += t.add(letters, token, parts)
	}
	plain := []byte(secret)
	for _, encoded := range []string{hex.EncodeToString(plain), base32.StdEncoding.EncodeToString(plain), base64.StdEncoding.EncodeToString(plain)} {
		size += t.add(fold(encoded), token, nil)
	}
	return size
}

func (t *traces) add(letters, token string, public []part) (size int) {
	if len(letters) < gram || len(letters) < leastDigits && strings.Trim(letters, "0123456789") == "" {
		return 0
	}
	one := &traced{letters: letters, token: token, least: max(gram, (len(letters)+1)/2), public: public}
	if one.own = one.ownIn(0, len(letters)); one.own == 0 {
		return 0
	}
	const entry = 100 // the memory of a place
	// Whatever has the least number of letters contains one of these grams.
	for at := 0; at+gram <= len(letters); at += one.least - gram + 1 {
		key := uint64(0)
		for _, c := range []byte(letters[at : at+gram]) {
			key = key<<8 | uint64(c)
		}
		if len(t.places[key]) < maxPlaces {
			t.places[key] = append(t.places[key], tracePlace{one, at})
			pair := key & 0xffff
			t.pairs[pair/64] |= 1 << (pair % 64)
			size += entry
		}
	}
	return size + len(letters)
}

// find returns the traces in a text, or the whole text if finding them takes too
// long.
func (t *traces) find(text string) []part {
	if len(t.places) == 0 {
		return nil
	}
	var found []part
	key, letters, work := uint64(0), 0, leastWork+workPerByte*len(text)
	for i := range len(text) {
		c := folded[text[i]]
		if c == 0 {
			continue
		}
		key = key<<8 | uint64(c)
		letters++
		pair := key & 0xffff
		if letters < gram || t.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		var longest span
		var secret *traced
		most := 0
		for _, p := range t.places[key] {
			one, first, end, read := p.extend(text, i)
			if work -= read; work < 0 || len(found) > maxParts {
				return whole(text)
			}
			own := p.secret.ownIn(first, end)
			if end-first >= p.secret.least && end-first > most && own > 0 && 2*own >= p.secret.own {
				longest, secret, most = one, p.secret, end-first
			}
		}
		// The grams of one trace find it again; overlapping traces are all found.
		if secret == nil || len(found) > 0 && found[len(found)-1].end >= longest.end || slices.Contains(commonWords, fold(text[longest.start:longest.end])) {
			continue
		}
		found = append(found, part{wholeRunes(text, longest), secret.token})
	}
	return found
}

// extend returns the longest part of a text that contains the gram whose last letter is
// at last, and agrees with the secret. It also returns the part's range in the secret's
// letters, and the number of bytes that were read.
func (p tracePlace) extend(text string, last int) (one span, first, end, read int) {
	secret := p.secret.letters
	one = span{last, last + 1}
	first, end = p.at+gram, p.at+gram
	left, right := last, last+1
	for ; left >= 0 && first > 0; left-- {
		c := folded[text[left]]
		if c == 0 {
			continue
		}
		if c != secret[first-1] {
			break
		}
		first--
		one.start = left
	}
	for ; right < len(text) && end < len(secret); right++ {
		c := folded[text[right]]
		if c == 0 {
			continue
		}
		if c != secret[end] {
			break
		}
		end++
		one.end = right + 1
	}
	return one, first, end, right - left
}

// wholeRunes extends a span to whole characters.
func wholeRunes(text string, s span) span {
	for s.start > 0 && !utf8.RuneStart(text[s.start]) {
		s.start--
	}
	for s.end < len(text) && !utf8.RuneStart(text[s.end]) {
		s.end++
	}
	return s
}

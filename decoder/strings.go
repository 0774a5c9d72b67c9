package decoder

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const ellipsis = "…"

// str appends a string's text to dst. It cuts a longer text to limit bytes and
// appends an ellipsis. A limit of 0 keeps nothing. what names the value in
// errors.
func (s *scanner) str(dst []byte, limit int, what string) []byte {
	if s.peek() != '"' {
		s.malformed(what + " is not a string")
		return dst
	}
	s.pos++
	start, room := len(dst), limit
	if limit > 0 {
		// One extra character shows that the text must be cut, and keeps the last
		// character within the limit whole.
		room += utf8.UTFMax
	}
	// high is the first half of a surrogate pair whose second half may follow.
	var high rune
	for s.fill() {
		run := s.buf[s.pos:s.end]
		run = run[:plain(run)]
		s.pos += len(run)
		if high != 0 && len(run) > 0 {
			dst, high = utf8.AppendRune(dst, high), 0
		}
		left := max(room-(len(dst)-start), 0)
		dst = append(dst, run[:min(len(run), left)]...)
		if s.pos == s.end {
			continue
		}
		switch c := s.take(); {
		case c == '"':
			if limit == 0 {
				return dst
			}
			if high != 0 {
				dst = utf8.AppendRune(dst, high)
			}
			dst = validUTF8(dst, start)
			if len(dst)-start > limit {
				dst = cut(dst, start, limit)
			}
			return dst
		case c == '\\':
			r := s.escape()
			if left == 0 {
				continue
			}
			if high != 0 {
				if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
					dst, high = utf8.AppendRune(dst, pair), 0
					continue
				}
				dst, high = utf8.AppendRune(dst, high), 0
			}
			if 0xd800 <= r && r < 0xdc00 {
				high = r
				continue
			}
			// An unpaired half becomes U+FFFD here.
			dst = utf8.AppendRune(dst, r)
		default:
			s.malformed("control character in a string")
		}
	}
	return dst
}

// escape reads the rest of an escape sequence after the backslash. It returns a
// surrogate half unchanged.
func (s *scanner) escape() rune {
	switch c := s.take(); c {
	case '"', '\\', '/':
		return rune(c)
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'u':
		var r rune
		for range 4 {
			c := s.take()
			switch {
			case '0' <= c && c <= '9':
				c -= '0'
			case 'a' <= c|0x20 && c|0x20 <= 'f':
				c = c | 0x20 - 'a' + 10
			default:
				s.malformed("invalid escape in a string")
				return 0
			}
			r = r<<4 | rune(c)
		}
		return r
	}
	s.malformed("invalid escape in a string")
	return 0
}

// plain returns how many bytes at the start of b represent themselves in a
// string: no quote, backslash or control character. It checks eight bytes at a
// time.
func plain(b []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		w := binary.LittleEndian.Uint64(b[n:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		// A byte's highest bit is set if the byte is zero or, in the last term, below
		// 0x20. A borrow can only affect bytes above the first hit.
		hit := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
		if hit != 0 {
			return n + bits.TrailingZeros64(hit)/8
		}
	}
	for ; n < len(b); n++ {
		if c := b[n]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
	}
	return n
}

// validUTF8 replaces every invalid UTF-8 byte after start, as encoding/json
// does.
func validUTF8(dst []byte, start int) []byte {
	if utf8.Valid(dst[start:]) {
		return dst
	}
	return append(dst[:start], string([]rune(string(dst[start:])))...)
}

// cut shortens the text after start to at most limit bytes of whole characters,
// and appends an ellipsis.
func cut(dst []byte, start, limit int) []byte {
	end := start + limit
	for end > start && !utf8.RuneStart(dst[end]) {
		end--
	}
	return append(dst[:end], ellipsis...)
}

// foldKey converts a key to the form used for comparison. Helm reads its
// records with encoding/json, which ignores case and treats the two letters
// that fold to ASCII as equal to their ASCII letters.
func foldKey(key []byte) []byte {
	ascii := true
	for i, c := range key {
		if 'A' <= c && c <= 'Z' {
			key[i] = c | 0x20
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return key
	}
	key = bytes.ReplaceAll(key, []byte("\u017f"), []byte("s"))
	return bytes.ReplaceAll(key, []byte("\u212a"), []byte("k"))
}

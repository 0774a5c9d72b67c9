package decoder

import (
	"fmt"
	"io"
)

// scanner scans JSON that may still be arriving. It accepts exactly the input
// that encoding/json accepts, and keeps only the requested values. It remembers
// the first error. After an error every method returns its zero value, so that
// callers check err once at the end.
type scanner struct {
	src io.Reader // nil when buf already holds everything
	buf []byte
	pos int // the next byte to look at
	end int // the end of what buf holds
	// passed counts the bytes that have left buf.
	passed int
	// room is how many more bytes src may deliver.
	room  int
	depth int // how many more levels may be entered
	nodes int // how many more keys and values may be skipped
	key   []byte
	err   error
}

// keyLimit is longer than every key that the package looks for.
const keyLimit = 32

// keepAll is a limit for str and number that keeps the whole text.
const keepAll = int(^uint(0) >> 2)

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.pos, s.end, s.src = 0, 0, nil
}

// malformed records an error with a sentence and the position, never with
// content.
func (s *scanner) malformed(what string) {
	s.fail(fmt.Errorf("%w: %s at byte %d", ErrNotRecord, what, s.passed+s.pos))
}

// fill reports whether there is a byte at pos. It reads from src if necessary.
func (s *scanner) fill() bool { return s.pos < s.end || s.refill() }

func (s *scanner) refill() bool {
	if s.err != nil {
		return false
	}
	if s.src == nil {
		s.malformed("unexpected end")
		return false
	}
	if s.room == 0 {
		s.fail(fmt.Errorf("%w: more than %d bytes of JSON", ErrTooLarge, s.passed+s.end))
		return false
	}
	s.passed += s.end
	s.pos, s.end = 0, 0
	for s.end == 0 {
		n, err := s.src.Read(s.buf[:min(len(s.buf), s.room)])
		s.end = n
		s.room -= n
		if n > 0 {
			break
		}
		if err == io.EOF {
			s.malformed("unexpected end")
			return false
		}
		if err != nil {
			s.fail(fmt.Errorf("%w: broken compression after %d bytes of JSON", ErrNotRecord, s.passed))
			return false
		}
	}
	return true
}

// take returns the next byte and moves past it.
func (s *scanner) take() byte {
	if !s.fill() {
		return 0
	}
	c := s.buf[s.pos]
	s.pos++
	return c
}

// peek skips white space and returns the next byte without moving past it.
func (s *scanner) peek() byte {
	for s.fill() {
		switch c := s.buf[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// literal moves past one of true, false and null.
func (s *scanner) literal(word string) {
	for i := range len(word) {
		if s.take() != word[i] {
			s.malformed("invalid literal")
			return
		}
	}
}

// null moves past the next value if it is null, and reports whether it was.
func (s *scanner) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.literal("null")
	return true
}

// enter begins an object and moves to the value of its first member. It stores
// the member's key in s.key. next moves to each further member. Both return
// false at the end of the object. A null counts as an object without members.
func (s *scanner) enter(what string) bool {
	if s.null() {
		return false
	}
	if s.peek() != '{' {
		s.malformed(what + " is not an object")
		return false
	}
	s.pos++
	return s.descend() && s.member(s.peek() == '}')
}

func (s *scanner) next() bool {
	switch s.peek() {
	case '}':
		return s.member(true)
	case ',':
		s.pos++
		return s.member(false)
	}
	s.malformed("no comma in an object")
	return false
}

// member leaves the object if it is over. Otherwise it reads the key of the
// next member.
func (s *scanner) member(over bool) bool {
	if s.err != nil {
		return false
	}
	if over {
		s.pos++
		s.depth++
		return false
	}
	s.key = foldKey(s.str(s.key[:0], keyLimit, "a key"))
	s.colon()
	return s.err == nil
}

func (s *scanner) colon() {
	if s.peek() != ':' {
		s.malformed("no colon after a key")
		return
	}
	s.pos++
}

func (s *scanner) descend() bool {
	if s.depth == 0 {
		s.fail(fmt.Errorf("%w: nested too deep at byte %d", ErrTooLarge, s.passed+s.pos))
		return false
	}
	s.depth--
	return true
}

// count subtracts one key or value from the number that may still be skipped.
func (s *scanner) count() {
	if s.nodes--; s.nodes < 0 {
		s.fail(fmt.Errorf("%w: too many keys and values at byte %d", ErrTooLarge, s.passed+s.pos))
	}
}

// skip moves past one value of any kind.
func (s *scanner) skip() {
	s.count()
	switch s.peek() {
	case '"':
		s.str(nil, 0, "")
	case '{':
		s.pos++
		s.skipMembers('}')
	case '[':
		s.pos++
		s.skipMembers(']')
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number(nil, 0, "value")
	}
}

// skipMembers moves past the rest of an object or array.
func (s *scanner) skipMembers(closing byte) {
	if !s.descend() {
		return
	}
	if s.peek() == closing {
		s.pos++
		s.depth++
		return
	}
	for s.err == nil {
		if closing == '}' {
			s.count()
			s.str(nil, 0, "a key")
			s.colon()
		}
		s.skip()
		switch s.peek() {
		case closing:
			s.pos++
			s.depth++
			return
		case ',':
			s.pos++
		default:
			s.malformed("no comma between values")
		}
	}
}

// number appends a number's text to dst, up to limit bytes.
func (s *scanner) number(dst []byte, limit int, what string) []byte {
	start := len(dst)
	keep := func(c byte) {
		if len(dst)-start < limit {
			dst = append(dst, c)
		}
		s.pos++
	}
	// Every record is an object, and inside an object a number is never last.
	// Input that ends within a number is an error.
	digits := func() (n int) {
		for s.fill() && '0' <= s.buf[s.pos] && s.buf[s.pos] <= '9' {
			keep(s.buf[s.pos])
			n++
		}
		return n
	}
	if s.peek() == '-' {
		keep('-')
	}
	if s.fill() && s.buf[s.pos] == '0' {
		keep('0')
	} else if digits() == 0 {
		s.malformed(what + " is not a number")
	}
	if s.fill() && s.buf[s.pos] == '.' {
		keep('.')
		if digits() == 0 {
			s.malformed("invalid number")
		}
	}
	if s.fill() && s.buf[s.pos]|0x20 == 'e' {
		keep('e')
		if s.fill() && (s.buf[s.pos] == '+' || s.buf[s.pos] == '-') {
			keep(s.buf[s.pos])
		}
		if digits() == 0 {
			s.malformed("invalid number")
		}
	}
	return dst
}

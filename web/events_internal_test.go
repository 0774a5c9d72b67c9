package web

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzEventID feeds parseEventID arbitrary ids, as clients may send them.
func FuzzEventID(f *testing.F) {
	for _, seed := range []string{
		"", "7", "007", "-1", "+1", "1 ", "abc", ".", ".1", "1.", "0b1f.12", "a.b.3", "a..3", "a.-3", "a.1e3", "a.0x1", "a.1_0",
		"18446744073709551615", "a.18446744073709551616", "a.\x00", "«a».4", "a.٣",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		session, seq, ok := parseEventID(text)
		digits := text[strings.LastIndexByte(text, '.')+1:]
		plain := digits != "" && strings.Trim(digits, "0123456789") == ""
		if ok && !plain {
			t.Fatalf("%q is taken for event %d of %q", text, seq, session)
		}
		if !ok {
			return
		}
		again := strconv.FormatUint(seq, 10)
		if session != "" {
			again = session + "." + again
		}
		if s, n, ok := parseEventID(again); !ok || s != session || n != seq {
			t.Fatalf("%q is event %d of %q, but %q is %d of %q, %v", text, seq, session, again, n, s, ok)
		}
		if strings.Contains(text, ".") && !strings.HasPrefix(text, session+".") {
			t.Fatalf("%q is of session %q", text, session)
		}
	})
}

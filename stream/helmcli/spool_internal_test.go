package helmcli

import (
	"os"
	"testing"

	"github.com/helmtrail/helmtrail/stream/backend"
)

// Reading a spool of arbitrary bytes ends. It returns only whole lines, and offsets
// that increase and stay within the file.
func FuzzSpool(f *testing.F) {
	good, err := appendRecord(nil, record{Text: "a line", Truncated: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(append(good, good[:len(good)/2]...))
	f.Add([]byte("{}\n\n"))
	f.Add([]byte("no JSON\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		place := folder(t.TempDir())
		if err := os.WriteFile(place.path(spoolFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		spool, err := openSpool(place, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer spool.close()
		last := int64(0)
		err = spool.read(func(l backend.Line) error {
			if l.Offset <= last || l.Offset > int64(len(data)) || data[l.Offset-1] != '\n' {
				t.Errorf("offset %d after %d in %d bytes", l.Offset, last, len(data))
			}
			last = l.Offset
			return nil
		})
		if err == nil && last < int64(len(data)) && data[len(data)-1] == '\n' {
			t.Errorf("read to %d of %d bytes without an error", last, len(data))
		}
	})
}

// Lines come out whole, however their bytes are split when read.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree"), 2)
	f.Add([]byte("\n\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		if piece < 1 {
			return
		}
		split := func(piece int) (lines []string) {
			var s splitter
			add := func(line string, _ bool) {
				if len(line) > 4*maxLine {
					t.Errorf("a line of %d bytes", len(line))
				}
				lines = append(lines, line)
			}
			for rest := data; len(rest) > 0; {
				n := min(piece, len(rest))
				s.write(rest[:n], add)
				rest = rest[n:]
			}
			if s.rest() {
				s.flush(add)
			}
			return lines
		}
		whole, pieces := split(max(1, len(data))), split(piece)
		if len(whole) != len(pieces) {
			t.Fatalf("%d lines in one piece, %d in pieces of %d", len(whole), len(pieces), piece)
		}
		for i := range whole {
			if whole[i] != pieces[i] {
				t.Errorf("line %d is %q in one piece and %q in pieces of %d", i, whole[i], pieces[i], piece)
			}
		}
	})
}

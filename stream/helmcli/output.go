package helmcli

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// maxLine bounds a line of LOG, in bytes. The rest of a longer line is dropped.
	maxLine = 16 << 10
	// maxHeld bounds the part of a line that is masked, in bytes. It is more than
	// maxLine, so that a secret at the cut is recognised as a whole.
	maxHeld = 2 * maxLine
	// maxMessage bounds helm's error text, in bytes.
	maxMessage = 8 << 10
)

// splitter splits helm's output into lines, which end with LF or CR LF. A line
// longer than maxHeld is cut, and never held in memory as a whole.
type splitter struct {
	line []byte
	cut  bool
}

// write calls f with every line that ends within data.
func (s *splitter) write(data []byte, f func(line string, truncated bool)) {
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		part := data
		if end >= 0 {
			part = data[:end]
		}
		if room := maxHeld - len(s.line); len(part) > room {
			part, s.cut = part[:room], true
		}
		s.line = append(s.line, part...)
		if end < 0 {
			return
		}
		s.flush(f)
		data = data[end+1:]
	}
}

// flush calls f with the rest, a line that has no end.
func (s *splitter) flush(f func(line string, truncated bool)) {
	line := s.line
	if !s.cut {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	f(strings.ToValidUTF8(string(line), string(utf8.RuneError)), s.cut)
	s.line, s.cut = s.line[:0], false
}

// rest reports whether there is a line without an end.
func (s *splitter) rest() bool { return len(s.line) > 0 || s.cut }

// sieve decides which of helm's lines are shown, and extracts helm's error text.
// With --debug helm 4 prints the chart's whole values schema in
// one line (pkg/chart/common/util/jsonschema.go), helm 3 prints a Go stack trace after an error
// (cmd/helm/helm.go, warning and debug), and both Helms print values, hooks
// and manifest after a success (cmd/helm/status.go, statusPrinter).
type sieve struct {
	dumping bool
	tracing bool
	inError bool
	message strings.Builder
}

// schemaDump is the prefix of the line in which helm 4 prints a values schema.
const schemaDump = `level=DEBUG msg="unmarshalled JSON schema"`

// dumpStart is the first line of helm's output after a success.
const dumpStart = "USER-SUPPLIED VALUES:"

var (
	traceStart = regexp.MustCompile(`^helm\.go:\d+: .*\[debug\] `)
	traceFrame = regexp.MustCompile(`^\t\S+:\d+$`)
	traceFunc  = regexp.MustCompile(`^[\w.\-/]+(\(\*?\w+\)\.)?[\w.()*]*$`)
)

// show reports whether the line is shown.
func (s *sieve) show(line string) bool {
	if s.dumping || strings.HasPrefix(line, schemaDump) {
		return false
	}
	if line == dumpStart {
		s.dumping = true
		return false
	}
	switch {
	case traceStart.MatchString(line):
		// It repeats the error of the previous line.
		s.tracing, s.inError = true, false
		return false
	case s.tracing:
		return !(traceFrame.MatchString(line) || traceFunc.MatchString(line) || s.has(line))
	}
	if text, ok := strings.CutPrefix(line, "Error: "); ok {
		s.inError = true
		s.message.Reset()
		line = text
	}
	if s.inError && s.message.Len()+len(line) < maxMessage {
		if s.message.Len() > 0 {
			s.message.WriteByte('\n')
		}
		s.message.WriteString(line)
	}
	return true
}

// has reports whether the error text has the line already.
func (s *sieve) has(line string) bool {
	return line != "" && strings.Contains(s.message.String(), line)
}

// error returns helm's error text, "" if it printed none.
func (s *sieve) error() string { return strings.TrimSpace(s.message.String()) }

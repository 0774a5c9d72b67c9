package helmcli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/helmtrail/helmtrail/decoder/mask"
)

// maxSpool bounds the spool, in bytes. Further output is dropped.
const maxSpool = 256 << 20

// lineWriter copies helm's output to the spool, line by line.
type lineWriter struct {
	spool    io.Writer
	secrets  *mask.Secrets
	paths    []shownPath
	size     int
	splitter splitter
	sieve    sieve
	batch    []byte
}

func newLineWriter(spool io.Writer, secrets *mask.Secrets, paths []shownPath) *lineWriter {
	return &lineWriter{spool: spool, secrets: secrets, paths: paths}
}

// copy reads helm's output until EOF or the read deadline and writes each line
// at once. After a failed write it continues to read, so that helm does not block
// on a full pipe.
func (w *lineWriter) copy(output io.Reader) error {
	var failed error
	buffer := make([]byte, 64<<10)
	for {
		n, err := output.Read(buffer)
		w.splitter.write(buffer[:n], w.add)
		if err != nil && w.splitter.rest() {
			w.splitter.flush(w.add)
		}
		if failed == nil {
			failed = w.flush()
		}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			return failed
		}
		if err != nil {
			return errors.Join(failed, fmt.Errorf("read helm's output: %w", err))
		}
	}
}

func (w *lineWriter) add(line string, truncated bool) {
	line = hidePaths(w.secrets.Line(line), w.paths)
	if truncated {
		// A secret may have been cut at the end of the line, so it is not shown.
		line = mask.Cut(line, max(0, len(line)-(maxHeld-maxLine)))
	}
	if len(line) > maxLine {
		line, truncated = mask.Cut(line, maxLine), true
	}
	if !w.sieve.show(line) || w.size > maxSpool {
		return
	}
	before := len(w.batch)
	r := record{Time: time.Now(), Text: line, Truncated: truncated}
	if w.size+len(line) > maxSpool {
		r = record{Time: r.Time, Text: "helm's output exceeds the limit; the rest is dropped", Truncated: true}
		w.size = maxSpool
	}
	if batch, err := appendRecord(w.batch, r); err == nil {
		w.batch = batch
	}
	w.size += len(w.batch) - before
}

func (w *lineWriter) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	batch := w.batch
	w.batch = w.batch[:0]
	_, err := w.spool.Write(batch)
	if err != nil {
		return fmt.Errorf("write helm's output: %w", err)
	}
	return nil
}

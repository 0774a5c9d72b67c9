package stream

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
)

const (
	// logLines and logLineBytes bound the part of a container's log that is shown:
	// its last lines, and the beginning of each.
	logLines     = 5
	logLineBytes = 400
	// logTimeout bounds one request for a log: a node may not answer.
	logTimeout = 3 * time.Second
	// logAttempts is the number of attempts to read a container's log.
	logAttempts = 3
	// maxLogs bounds the logs that one session reads.
	maxLogs = 50
)

// lastLines returns the part of a log that is shown. It masks the whole log before
// it cuts it, because a secret that was cut would not be recognized.
func lastLines(log string, hide func(string) string) string {
	log = strings.TrimRight(strings.ReplaceAll(hide(log), "\r\n", "\n"), "\n")
	lines := strings.Split(log, "\n")
	lines = lines[max(0, len(lines)-logLines):]
	for i, line := range lines {
		line = strings.ToValidUTF8(line, "\uFFFD")
		lines[i] = shorten(line, logLineBytes)
	}
	return strings.Join(lines, "\n")
}

// shorten cuts a masked text to limit bytes, and says so.
func shorten(text string, limit int) string {
	if len(text) > limit {
		text = mask.Cut(text, limit) + " ..."
	}
	return text
}

// LogReader is a [Cluster]'s ContainerLog for one viewer.
type LogReader func(ctx context.Context, source health.LogSource) (string, error)

// AddLogs adds the last lines of their containers' logs to causes, masked. It
// blocks until they are read, for at most three seconds. Logs that cannot be read
// are left out.
func AddLogs(ctx context.Context, causes []health.Cause, read LogReader, mask func(string) string) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	var reading errgroup.Group
	for i := range causes {
		if causes[i].Source.Pod == "" {
			continue
		}
		reading.Go(func() error {
			if log, err := read(ctx, causes[i].Source); err == nil {
				causes[i].Log = lastLines(log, mask)
			}
			return nil
		})
	}
	_ = reading.Wait() // none fails
}

// keptLog is the part of a container's log that the session has read.
type keptLog struct {
	text     string
	reading  bool
	attempts int
}

// readLogs reads the logs for causes without one, in the background. It is called
// under w.mu and does not block.
func (w *objectWatch) readLogs(causes []health.Cause) {
	for _, cause := range causes {
		source := cause.Source
		kept := w.logs[anyRun(source)]
		if source.Pod == "" || kept.text != "" || kept.reading || kept.attempts >= logAttempts || len(w.logs) >= maxLogs {
			continue
		}
		kept.reading = true
		kept.attempts++
		w.logs[anyRun(source)] = kept
		w.reading.Go(func() { w.readLog(source) })
	}
}

// anyRun returns the same value for all runs of a container: the first run seen
// to fail is as useful as the next.
func anyRun(source health.LogSource) health.LogSource {
	source.Previous = false
	return source
}

// stopReading stops the goroutines started by readLogs and waits for them. It is
// called when no revision is followed any more.
func (w *objectWatch) stopReading() {
	w.endReads()
	w.reading.Wait()
}

func (w *objectWatch) readLog(source health.LogSource) {
	ctx, cancel := context.WithTimeout(w.reads, logTimeout)
	defer cancel()
	log, err := w.cluster.ContainerLog(ctx, source, w.viewer)
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.logs[anyRun(source)]
	kept.reading = false
	if err == nil {
		// What a container wrote may arrive later than its end, so an empty log is
		// read again.
		kept.text = lastLines(log, w.maskText)
	}
	w.logs[anyRun(source)] = kept
	if kept.text != "" && w.rows != nil {
		w.publish()
	}
}

// withLogs adds the logs that were read to the causes. It is called under w.mu.
func (w *objectWatch) withLogs(causes []health.Cause) []health.Cause {
	for i, cause := range causes {
		if kept := w.logs[anyRun(cause.Source)]; kept.text != "" {
			causes[i].Log = kept.text
		}
	}
	return causes
}

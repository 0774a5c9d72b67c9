package stream

import (
	"context"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// logLines and logLineBytes bound what is shown of a container's log, by
	// its end and by each line's beginning.
	logLines     = 5
	logLineBytes = 400
	// logTimeout bounds one question for a log: a node may not answer.
	logTimeout = 3 * time.Second
	// logAttempts is how often a container's log is asked for when that fails.
	logAttempts = 3
	// maxLogs bounds the logs that one session asks for.
	maxLogs = 50
)

// LogSource names a container that has ended, and whose log may say why.
type LogSource struct {
	Namespace, Pod, Container string
	// Previous means that the container was started again since.
	Previous bool
}

// lastLines is as much of a log as is shown. The whole is masked before it is
// cut, since a secret that is cut is not recognized.
func lastLines(log string, mask func(string) string) string {
	log = strings.TrimRight(strings.ReplaceAll(mask(log), "\r\n", "\n"), "\n")
	lines := strings.Split(log, "\n")
	lines = lines[max(0, len(lines)-logLines):]
	for i, line := range lines {
		line = strings.ToValidUTF8(line, "\uFFFD")
		if len(line) > logLineBytes {
			line = strings.ToValidUTF8(line[:logLineBytes], "") + " ..."
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// LogReader is a [Cluster]'s ContainerLog for one viewer.
type LogReader func(ctx context.Context, source LogSource) (string, error)

// AddLogs completes causes with what their containers wrote last, masked. It
// blocks until that is read, for three seconds at most; what cannot be read
// stays away.
func AddLogs(ctx context.Context, causes []Cause, read LogReader, mask func(string) string) {
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

// keptLog is what a session knows of one container's log.
type keptLog struct {
	text     string
	reading  bool
	attempts int
}

// readLogs has the logs read that the causes call for and that are not known
// yet, each of them once, in the background. It is called under w.mu and does
// not block.
func (w *objectWatch) readLogs(causes []Cause) {
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

// anyRun returns the same value for all runs of a container: the first run that
// is seen to fail says as much as the next.
func anyRun(source LogSource) LogSource {
	source.Previous = false
	return source
}

// stopReading ends what readLogs has begun. It is called once nothing is
// followed any more.
func (w *objectWatch) stopReading() {
	w.endReads()
	w.reading.Wait()
}

func (w *objectWatch) readLog(source LogSource) {
	ctx, cancel := context.WithTimeout(w.reads, logTimeout)
	defer cancel()
	log, err := w.run.cluster.ContainerLog(ctx, source, w.viewer)
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.logs[anyRun(source)]
	kept.reading = false
	if err == nil {
		kept.text = lastLines(log, w.maskText)
		kept.attempts = logAttempts
	}
	w.logs[anyRun(source)] = kept
	if kept.text != "" && w.rows != nil {
		w.publish()
	}
}

// withLogs returns the causes with the logs that are known. It is called under
// w.mu.
func (w *objectWatch) withLogs(causes []Cause) []Cause {
	for i, cause := range causes {
		if kept := w.logs[anyRun(cause.Source)]; kept.text != "" {
			causes[i].Log = kept.text
		}
	}
	return causes
}

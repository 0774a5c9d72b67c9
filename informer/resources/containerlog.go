package resources

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
)

const (
	// logTail and logLimit bound the part of a log that is read, in lines and in
	// bytes. It is more than is ever shown, so that a secret of several lines can
	// be recognized before the rest is dropped.
	logTail  = 50
	logLimit = 256 << 10
	// logLife is how long a log is cached for other readers.
	logLife = 10 * time.Second
	// logsLimit bounds the cached logs, in bytes.
	logsLimit = 8 << 20
)

// ContainerLog returns the last lines of a container's log. It blocks while it
// asks the API server, which asks the node. It fails with
// [*helmtrail.ForbiddenError] if the viewer may not read logs there.
func (t *Tracker) ContainerLog(ctx context.Context, source health.LogSource, viewer helmtrail.Viewer) (string, error) {
	if viewer != nil {
		if err := viewer(ctx, helmtrail.Right{Verb: "get", Resource: helmtrail.LogsResource, Namespace: source.Namespace}); err != nil {
			return "", err
		}
	}
	key := fmt.Sprintf("%s/%s/%s/%t", source.Namespace, source.Pod, source.Container, source.Previous)
	if log, ok := t.logs.Get(key); ok {
		return log, nil
	}
	lines, limit := int64(logTail), int64(logLimit)
	data, err := t.clients.Core.Pods(source.Namespace).GetLogs(source.Pod, &corev1.PodLogOptions{
		Container: source.Container, Previous: source.Previous, TailLines: &lines, LimitBytes: &limit,
	}).DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("read the log of container %s of pod %s/%s: %w", source.Container, source.Namespace, source.Pod, err)
	}
	if len(data) >= logLimit {
		// The last line is incomplete, and may have an incomplete secret.
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	t.logs.Add(key, string(data))
	return string(data), nil
}

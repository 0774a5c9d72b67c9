package stream

import (
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
)

// secrets returns the secrets in a record of the session's release.
func (r *run) secrets(record *decoder.Record) *mask.Secrets {
	release := mask.Release{Cluster: r.ref.Release.Cluster, Namespace: r.ref.Release.Namespace, Name: r.ref.Release.Name}
	return mask.New(r.ops.setup.MaskKey, release).Collect(mask.FromRecord(record))
}

// mask returns the rows with the secrets in their texts masked. It is called under
// w.mu.
func (w *objectWatch) mask(rows []health.Resource) []health.Resource {
	masked, texts := make([]health.Resource, len(rows)), make(map[string]string, len(w.masked))
	for i, row := range rows {
		masked[i] = MaskRow(row, func(text string) string {
			hidden, known := texts[text]
			if !known {
				hidden, known = w.masked[text]
			}
			if !known {
				hidden = w.maskText(text)
			}
			texts[text] = hidden
			return hidden
		})
	}
	w.masked = texts
	return masked
}

// maxMessage bounds a message of the cluster, in bytes. A container may end with one of
// 4 KB, and an event holds the messages of many.
const maxMessage = 1200

// MaskRow returns a row with its texts masked by hide, and shortened after that.
func MaskRow(row health.Resource, hide func(string) string) health.Resource {
	return row.Masked(func(text string) string { return shorten(hide(text), maxMessage) })
}

// maskText masks the known secrets in a text. The record's are masked first: it has
// those that Helm got too, and a part of a secret must not be masked before the
// whole. It is called under w.mu.
func (w *objectWatch) maskText(text string) string { return w.run.mask(w.secrets.Text(text)) }

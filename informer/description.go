package informer

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

const (
	// maxDescription bounds the description in a header, in bytes.
	maxDescription = 1024
	// undescribed replaces a description whose record cannot be read, so that
	// the secrets it may quote are unknown.
	undescribed = "The description cannot be shown, since the record cannot be read."
	// tooLargeToDescribe replaces a description whose record is larger than
	// describable.
	tooLargeToDescribe = "The description cannot be shown here, since the record is large. The revision's history shows it."
)

// describable is how large a record may be for its description to be masked
// while the watch waits. Masking needs all of the record, and takes some
// milliseconds for usual records of this size, 120 ms for the worst.
var describable = decoder.Limits{Inflated: 512 << 10, Nodes: 10_000}

// describer masks the secrets that the descriptions of a cluster's revisions
// quote: Helm puts the API server's errors there. Everything that shows a
// header relies on it.
type describer struct {
	key     []byte
	cluster string
}

// read is readSecret with a masked description.
func (d describer) read(full *corev1.Secret) *secret {
	s := readSecret(full)
	if h := s.revision.Header; h != nil && !mask.Plain(h.Description) {
		h.Description = d.describe(s.revision, full.Data[recordKey])
	}
	return s
}

// describe returns the masked description of the record in data, or a fixed
// sentence if the record is large or cannot be read. It is called in the watch's
// goroutine, so its time and memory are bounded.
func (d describer) describe(r *decoder.Revision, data []byte) string {
	record, err := decoder.DecodeRecord(data, describable)
	if errors.Is(err, decoder.ErrTooLarge) {
		return tooLargeToDescribe
	}
	if err != nil {
		return undescribed
	}
	text := mask.New(d.key, mask.Release{Cluster: d.cluster, Namespace: r.Namespace, Name: r.Name}).Description(record)
	if len(text) <= maxDescription {
		return text
	}
	return strings.Clone(mask.Cut(text, maxDescription)) + "…"
}

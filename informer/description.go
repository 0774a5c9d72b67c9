package informer

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

const (
	// maxDescription is how much of a description a header keeps, in bytes.
	maxDescription = 1024
	// undescribed stands for a description that may quote secrets nobody knows.
	undescribed = "The description cannot be shown, since the record cannot be read."
)

// describer masks the secrets that the descriptions of a cluster's revisions
// quote: Helm puts the API server's errors there. Everything that shows a
// header relies on it.
type describer struct {
	key     []byte
	cluster string
}

// read is readSecret with a description that may be shown.
func (d describer) read(full *corev1.Secret) *secret {
	s := readSecret(full)
	if h := s.revision.Header; h != nil && !mask.Plain(h.Description) {
		h.Description = d.describe(s.revision, full.Data[recordKey])
	}
	return s
}

// describe is the description of the record in data. All of it has to be read
// for that, which is why it is done for few.
func (d describer) describe(r *decoder.Revision, data []byte) string {
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		return undescribed
	}
	text := mask.New(d.key, mask.Release{Cluster: d.cluster, Namespace: r.Namespace, Name: r.Name}).Description(record)
	if len(text) <= maxDescription {
		return text
	}
	end := maxDescription
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end]) + "…"
}

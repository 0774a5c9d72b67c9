package informer

import (
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

const (
	// maxDescription bounds the description in a header, in bytes.
	maxDescription = 1024
	// undescribed replaces a description that may quote unknown secrets.
	undescribed = "The description cannot be shown, since the record cannot be read."
)

// describer masks secrets in the descriptions of a cluster's revisions: Helm
// stores the API server's errors there, which may quote them. All code that shows
// a header relies on it.
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

// describe returns the masked description of the record in data. It decodes the
// whole record, so it is called for few.
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

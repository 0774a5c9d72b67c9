package informer

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
)

// recordKey is the key of a release Secret's data that holds the record.
const recordKey = "release"

// secret is the part of one state of a release Secret that is kept in memory. Its
// metadata identifies it to the informer.
type secret struct {
	metav1.ObjectMeta
	revision *decoder.Revision
	// read means that the record's bytes were decoded; a Secret from a list has
	// none.
	read bool
	// foreign means that the Secret holds no record, or that the record's release
	// is unknown.
	foreign bool
}

// key names a Secret in a cluster.
type key struct{ namespace, secret string }

func (s *secret) key() key { return key{s.Namespace, s.Name} }

func newSecret(meta *metav1.ObjectMeta, data []byte) *secret {
	s := &secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: meta.Namespace, Name: meta.Name, UID: meta.UID, ResourceVersion: meta.ResourceVersion,
	}}
	revision, ok := decoder.NewRevision(decoder.Secret{
		Namespace: meta.Namespace, Name: meta.Name, UID: string(meta.UID), ResourceVersion: meta.ResourceVersion,
		Created: meta.CreationTimestamp.Time, Labels: meta.Labels,
	}, data, decoder.Limits{})
	if !ok {
		// Without a name it is not listed. Once read, the record may have one.
		revision = &decoder.Revision{Namespace: meta.Namespace, Secret: decoder.SecretRef{
			Name: meta.Name, UID: string(meta.UID), ResourceVersion: meta.ResourceVersion,
		}}
		s.foreign = data != nil
	}
	revision.Written = written(meta)
	s.revision = revision
	return s
}

// written returns when an object was last written, according to its managed
// fields.
func written(meta *metav1.ObjectMeta) (newest time.Time) {
	for _, entry := range meta.ManagedFields {
		if entry.Time != nil && entry.Time.After(newest) {
			newest = entry.Time.Time
		}
	}
	return newest
}

// readSecret reduces a full Secret.
func readSecret(full *corev1.Secret) *secret {
	data, ok := full.Data[recordKey]
	s := newSecret(&full.ObjectMeta, data)
	s.read = true
	s.foreign = s.foreign || !ok
	return s
}

// reduce is the informer's transform. It gets metadata from LIST, full Secrets from
// WATCH, and now and then its own result.
func (w *Watcher) reduce(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Secret:
		return w.read(o), nil
	case *metav1.PartialObjectMetadata:
		return newSecret(&o.ObjectMeta, nil), nil
	}
	return object, nil
}

// read reduces a full Secret. All records' bytes pass here, once for each state: the
// keeper takes them here, and may block.
func (w *Watcher) read(full *corev1.Secret) *secret {
	s := w.describer.read(full)
	if keeper := w.keeper; keeper != nil && !s.foreign && s.revision.Digest != "" {
		keeper.Record(s.revision, full.Data[recordKey])
	}
	return s
}

package informer

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
)

// recordKey is the key of a release Secret's data that holds the record.
const recordKey = "release"

// secret is what remains in memory of one state of a release Secret. Its
// metadata is only what the informer needs to keep it apart from others.
type secret struct {
	metav1.ObjectMeta
	revision *decoder.Revision
	// read means that the record's bytes were there to be decoded; a Secret
	// that came from a list has none.
	read bool
	// foreign means that the Secret holds no record, or one of no known release.
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
		// Without a name it is no row; while unread, the record may yet tell one.
		revision = &decoder.Revision{Namespace: meta.Namespace, Secret: decoder.SecretRef{
			Name: meta.Name, UID: string(meta.UID), ResourceVersion: meta.ResourceVersion,
		}}
		s.foreign = data != nil
	}
	revision.Written = written(meta)
	s.revision = revision
	return s
}

// written is when an object was written last, going by who manages its fields.
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

// reduce is the informer's transform. It gets what LIST gave (metadata), what
// WATCH gave (full Secrets), and now and then its own result.
func (w *Watcher) reduce(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Secret:
		return w.read(o), nil
	case *metav1.PartialObjectMetadata:
		return newSecret(&o.ObjectMeta, nil), nil
	}
	return object, nil
}

// read reduces what the watcher reads. It is the only place where the
// bytes of its records pass, once for each state: the keeper takes them here,
// and may let wait.
func (w *Watcher) read(full *corev1.Secret) *secret {
	s := w.describer.read(full)
	if keeper := w.keeper; keeper != nil && !s.foreign && s.revision.Digest != "" {
		keeper.Record(s.revision, full.Data[recordKey])
	}
	return s
}

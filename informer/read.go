package informer

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// readAttempts is how often Read tries when the newest revision is deleted
// meanwhile.
const readAttempts = 3

// readsAtOnce is how many records are fetched at the same time. Each takes some
// megabytes until its size is known.
const readsAtOnce = 16

// Read implements the engine's Cluster.
func (c *Cluster) Read(ctx context.Context, namespace, name string) ([]*decoder.Revision, error) {
	var err error
	for range readAttempts {
		var revisions []*decoder.Revision
		revisions, err = c.readOnce(ctx, namespace, name)
		if err == nil {
			return revisions, nil
		}
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	return nil, fmt.Errorf("read release %s/%s: %w", namespace, name, err)
}

// List returns all revisions of a release, lowest first, with what their Secrets'
// names and labels say. Unlike Read it includes revisions that Helm does not find
// because a restored backup has lost every label but the owner's.
func (c *Cluster) List(ctx context.Context, namespace, name string) ([]*decoder.Revision, error) {
	listed, err := c.list(ctx, namespace, decoder.OwnerLabel)
	if err != nil {
		return nil, fmt.Errorf("list the revisions of release %s/%s: %w", namespace, name, err)
	}
	return slices.DeleteFunc(listed, func(r *decoder.Revision) bool { return r.Name != name }), nil
}

func (c *Cluster) readOnce(ctx context.Context, namespace, name string) ([]*decoder.Revision, error) {
	listed, err := c.listRelease(ctx, namespace, labels.Set{"name": name})
	if err != nil {
		return nil, err
	}
	for len(listed) > 0 {
		newest := len(listed) - 1
		full, err := c.secrets.Secrets(namespace).Get(ctx, listed[newest].Secret.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if s := c.describer.read(full); !s.foreign {
			listed[newest] = s.revision
			return listed, nil
		}
		listed = listed[:newest]
	}
	return nil, nil
}

// listRelease is list for the release Secrets with these labels.
func (c *Cluster) listRelease(ctx context.Context, namespace string, set labels.Set) ([]*decoder.Revision, error) {
	selector, err := set.AsValidatedSelector()
	if err != nil {
		// A name that is not a valid label value is not a release's.
		return nil, nil
	}
	return c.list(ctx, namespace, decoder.OwnerLabel+","+selector.String())
}

// list reads the metadata of the release Secrets that match a selector, lowest
// revision first.
func (c *Cluster) list(ctx context.Context, namespace, selector string) ([]*decoder.Revision, error) {
	list, err := c.metadata.Resource(secretsResource).Namespace(namespace).List(ctx, metav1.ListOptions{
		LabelSelector: selector, FieldSelector: typeSelector,
	})
	if err != nil {
		return nil, err
	}
	revisions := make([]*decoder.Revision, 0, len(list.Items))
	for i := range list.Items {
		if s := newSecret(&list.Items[i].ObjectMeta, nil); s.revision.Name != "" {
			revisions = append(revisions, s.revision)
		}
	}
	slices.SortFunc(revisions, func(a, b *decoder.Revision) int { return a.Number - b.Number })
	return revisions, nil
}

// Record implements the engine's Cluster. It reads the bytes from the API server each
// time, since a record is overwritten while its operation runs; the decoded record
// is cached. It is shared and must not be changed.
func (c *Cluster) Record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error) {
	record, err := c.record(ctx, namespace, name, revision)
	if err != nil {
		return nil, fmt.Errorf("read revision %d of release %s/%s: %w", revision, namespace, name, err)
	}
	return record, nil
}

func (c *Cluster) record(ctx context.Context, namespace, name string, revision int) (*decoder.Record, error) {
	if len(validation.IsValidLabelValue(name)) > 0 {
		return nil, helmtrail.ErrNotFound
	}
	full, s, err := c.fetchRevision(ctx, namespace, c.secretName(namespace, name, revision), name, revision)
	if apierrors.IsNotFound(err) {
		// The Secret may have a name that Helm would not give it.
		var listed []*decoder.Revision
		listed, err = c.listRelease(ctx, namespace, labels.Set{"name": name, "version": strconv.Itoa(revision)})
		if err == nil && len(listed) > 0 {
			full, s, err = c.fetchRevision(ctx, namespace, listed[0].Secret.Name, name, revision)
		} else if err == nil {
			err = helmtrail.ErrNotFound
		}
	}
	if apierrors.IsNotFound(err) {
		err = helmtrail.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	record, err := c.records.decode(ctx, s.revision.Digest, full.Data[recordKey])
	if err != nil {
		return nil, err
	}
	placed := *record
	placed.SecretNamespace = namespace
	placed.Labels = decoder.CustomLabels(full.Labels)
	placed.Digest, placed.Size = s.revision.Digest, s.revision.Size
	return &placed, nil
}

// secretName returns the name of a revision's Secret: the one in the index, else
// the one that Helm would give it.
func (c *Cluster) secretName(namespace, name string, revision int) string {
	for _, r := range c.Revisions(namespace, name) {
		if r.Number == revision {
			return r.Secret.Name
		}
	}
	return decoder.SecretName(name, revision)
}

// fetchRevision reads one Secret and checks that it holds the revision. It reports
// any other Secret as not found, so that a well-chosen name reveals nothing.
func (c *Cluster) fetchRevision(ctx context.Context, namespace, secretName, name string, revision int) (*corev1.Secret, *secret, error) {
	leave, err := c.reads.Enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	full, err := c.secrets.Secrets(namespace).Get(ctx, secretName, metav1.GetOptions{})
	leave()
	if err != nil {
		return nil, nil, err
	}
	s := readSecret(full)
	if full.Type != decoder.SecretType || s.foreign || s.revision.Name != name || s.revision.Number != revision {
		return nil, nil, apierrors.NewNotFound(secretsResource.GroupResource(), secretName)
	}
	return full, s, nil
}

// SecretData implements the engine's Cluster.
func (c *Cluster) SecretData(ctx context.Context, credentials helmtrail.Credentials, namespace, name string) (map[string][]byte, error) {
	secrets, done, err := c.secretsFor(credentials)
	if err != nil {
		return nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	}
	defer done()
	secret, err := secrets.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		err = helmtrail.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s/%s: %w", namespace, name, err)
	}
	return secret.Data, nil
}

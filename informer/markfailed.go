package informer

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// MarkFailed implements the engine's Cluster. Record and label are written in one
// update, which the API server refuses when somebody else was faster.
func (c *Cluster) MarkFailed(ctx context.Context, mark helmtrail.Mark) (int, error) {
	revision, err := c.markFailed(ctx, mark)
	if err != nil {
		return revision, fmt.Errorf("mark release %s/%s failed: %w", mark.Namespace, mark.Name, err)
	}
	return revision, nil
}

func (c *Cluster) markFailed(ctx context.Context, mark helmtrail.Mark) (int, error) {
	namespace, name := mark.Namespace, mark.Name
	revisions, err := c.Read(ctx, namespace, name)
	if err != nil {
		return 0, err
	}
	if len(revisions) == 0 {
		return 0, helmtrail.ErrNotFound
	}
	newest := revisions[len(revisions)-1]
	full, s, err := c.fetchRevision(ctx, namespace, newest.Secret.Name, name, newest.Number)
	if err != nil {
		return newest.Number, err
	}
	if full.ResourceVersion != mark.ResourceVersion {
		return newest.Number, helmtrail.ErrChanged
	}
	marked, err := decoder.MarkFailed(full.Data[recordKey], fmt.Sprintf("%s; it was %s", mark.Note, s.revision.Status()), decoder.Limits{})
	if err != nil {
		return newest.Number, err
	}
	changed := full.DeepCopy()
	changed.Data[recordKey] = marked
	changed.Labels = maps.Clone(changed.Labels)
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	changed.Labels["status"] = string(decoder.StatusFailed)
	secrets, done, err := c.secretsFor(mark.Credentials)
	if err != nil {
		return newest.Number, err
	}
	defer done()
	_, err = secrets.Secrets(namespace).Update(ctx, changed, metav1.UpdateOptions{FieldManager: "helmtrail"})
	if apierrors.IsConflict(err) {
		err = helmtrail.ErrChanged
	}
	return newest.Number, err
}

package drift

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/helmtrail/helmtrail/drift"
)

// apply applies an object as a dry run. With conflicts it records the fields of
// other owners that Helm takes over only if it is forced to.
func (x *examination) apply(ctx context.Context, client dynamic.ResourceInterface, e *examined, conflicts bool) error {
	x.mu.Lock()
	e.refusal = x.refused[e.place]
	x.mu.Unlock()
	if e.refusal != nil {
		return nil
	}
	manager, applies := defaultManager, false
	if e.live != nil {
		manager, applies = ownersOf(e.live).applier()
	}
	wanted := &unstructured.Unstructured{Object: e.wanted}
	if e.probe != "" {
		wanted = wanted.DeepCopy()
		wanted.SetName(e.probe)
	}
	ctx, warnings := collectWarnings(ctx)
	options := metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: manager, Force: !conflicts || !applies}
	applied, err := client.Apply(ctx, wanted.GetName(), wanted, options)
	e.conflicts = nil
	if apierrors.IsConflict(err) && !options.Force {
		e.conflicts = conflictsOf(err)
		options.Force = true
		applied, err = client.Apply(ctx, wanted.GetName(), wanted, options)
	}
	e.warnings = warnings.all()
	if err == nil {
		e.applied = applied.Object
		return nil
	}
	if !answered(err) {
		return err
	}
	e.refusal = err
	if lacksRight(err) {
		x.mu.Lock()
		x.refused[e.place] = err
		x.mu.Unlock()
	}
	return nil
}

// conflictsOf returns the fields that others own.
func conflictsOf(err error) []drift.FieldConflict {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var all []drift.FieldConflict
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			all = append(all, drift.FieldConflict{
				Field: cause.Field, Detail: cause.Message,
				Warning: fmt.Sprintf("%s at %s: helm takes it over only with forceConflicts", cause.Message, cause.Field),
			})
		}
	}
	return all
}

// lacksRight reports whether the caller may not apply any object of the place. An
// admission plugin also forbids, but only one object.
func lacksRight(err error) bool {
	return apierrors.IsForbidden(err) && missingRight.MatchString(err.Error())
}

// missingRight matches the refusals of RBAC
// (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go).
var missingRight = regexp.MustCompile(`User "[^"]*" cannot patch resource`)

// answered reports whether an error is an answer of the API server.
func answered(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

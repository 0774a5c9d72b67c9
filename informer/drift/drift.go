package drift

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// Drift compares the objects that a record's manifest names with the live ones.
// Hooks are not compared, since they come and go. Drift blocks for a minute at most,
// and fails if the API server does not answer or ctx ends.
func (c *Comparer) Drift(ctx context.Context, query drift.Query) (*drift.Report, error) {
	record := query.Record
	x, err := c.examine(ctx, query.Release, resources.Read(record.Manifest, query.Release.Namespace), false)
	if err != nil {
		return nil, err
	}
	secrets, err := x.secrets(query.Masker, mask.FromRecord(record))
	if err != nil {
		return nil, err
	}
	answer := &drift.Report{Revision: record.Version, Counts: map[drift.State]int{}, Objects: []drift.Object{}, Unlisted: []string{}}
	limited, cancel := context.WithDeadline(ctx, x.until)
	defer cancel()
	scaled := &scalers{comparer: c}
	for _, e := range x.objects {
		if e.problem == "" && e.live == nil && e.Expires {
			answer.Objects = append(answer.Objects, e.expired(c.EndOf(e.place.namespace, e.Name, record.LastDeployed)))
			continue
		}
		object, err := e.drift(limited, secrets, scaled)
		if err != nil {
			return nil, err
		}
		answer.Objects = append(answer.Objects, object)
	}
	if err := x.addExtra(limited, record, answer); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, object := range answer.Objects {
		answer.Counts[object.State]++
	}
	answer.Drifted = answer.Counts[drift.Changed]+answer.Counts[drift.Missing]+answer.Counts[drift.Extra] > 0
	return answer, nil
}

// expired returns the result for an object that does not exist and may have been
// removed by its ttlSecondsAfterFinished.
func (e *examined) expired(end resources.End) drift.Object {
	object := e.same()
	switch end {
	case resources.EndCompleted, resources.EndFailed:
		object.Message, object.Note = "it had ended, and was removed after its ttlSecondsAfterFinished", noteOf(drift.NoteRemovedByTTL)
	case resources.EndDeleted:
		object.State = drift.Missing
	default:
		object.State, object.Note = drift.Unknown, noteOf(drift.NoteOutcomeUnknown)
		object.Message = "it does not exist; its ttlSecondsAfterFinished may have removed it, but its end was not seen"
	}
	return object
}

// same returns the result for an object that matches the record.
func (e *examined) same() drift.Object {
	object := drift.Object{
		State: drift.Same, APIVersion: e.GroupVersion().String(), Kind: e.Kind, Namespace: e.Namespace, Name: e.Name,
		Changes: []drift.FieldChange{}, Added: []drift.FieldChange{},
	}
	if e.place.resource.Resource != "" {
		object.Namespace = e.place.namespace
	}
	return object
}

// drift compares one object.
func (e *examined) drift(ctx context.Context, secrets *mask.Secrets, scaled *scalers) (drift.Object, error) {
	object := e.same()
	switch {
	case e.problem != "":
		object.State, object.Message, object.Note = drift.Unknown, text(secrets, e.problem), noteOf(e.note)
		return object, nil
	case e.live == nil:
		object.State = drift.Missing
		return object, nil
	}
	object.Checked = drift.ByApply
	if e.applied == nil {
		object.Checked = drift.ByFields
		if e.refusal != nil && !lacksRight(e.refusal) {
			refusal := text(secrets, e.refusal.Error())
			object.Message = "the API server refuses to apply it: " + refusal
			object.Note = &drift.Note{Code: drift.NoteApplyRefused, Detail: refusal}
		}
	}
	if e.live.GetDeletionTimestamp() != nil {
		object.Message, object.Note = "it is being deleted", noteOf(drift.NoteDeleting)
	}
	if err := e.compare(ctx, &object, secrets, scaled); err != nil {
		return object, fmt.Errorf("compare %s %s: %w", e.Kind, e.Name, err)
	}
	if len(object.Changes) > 0 {
		object.State = drift.Changed
	}
	return object, nil
}

// noteOf returns the note of a code, nil for none.
func noteOf(code drift.NoteCode) *drift.Note {
	if code == "" {
		return nil
	}
	return &drift.Note{Code: code}
}

// compare fills in the fields that differ.
func (e *examined) compare(ctx context.Context, object *drift.Object, secrets *mask.Secrets, scaled *scalers) error {
	recorded, live := plain(canonical(e.wanted, e.GroupVersionKind)), plain(e.live.Object)
	owned := ownersOf(e.live)
	byFields := differences(recorded, live)
	changes, from := byFields, recorded
	if e.applied != nil {
		from = plain(e.applied)
		changes = differences(from, live)
	}
	shownFrom, err := shown(secrets, e.named(from))
	if err != nil {
		return err
	}
	shownLive, err := shown(secrets, e.named(live))
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, d := range byFields {
		named[d.path] = true
	}
	changed := map[string]bool{}
	for _, d := range changes {
		// A field that the manifest does not name is a default, which is filled in
		// together with a missing field, or does not concern the release.
		if d.onlyTo && e.applied == nil || d.onlyFrom && !named[d.path] {
			continue
		}
		setter, _ := owned.of(d.to)
		if d.path == "spec.replicas" && scaled.scales(ctx, e, setter) {
			continue
		}
		changed[d.path] = true
		object.Changes = append(object.Changes, drift.FieldChange{
			Path: text(secrets, d.path), Recorded: d.from.follow(shownFrom), Live: d.to.follow(shownLive), Manager: setter.manager,
		})
	}
	for _, d := range byFields {
		adder := ""
		if d.onlyTo && !changed[d.path] {
			adder = owned.adder(d.to)
		}
		if adder != "" {
			object.Added = append(object.Added, drift.FieldChange{
				Path: text(secrets, d.path), Recorded: steps{}.follow(nil), Live: d.to.follow(shownLive), Manager: adder,
			})
		}
	}
	return nil
}

// named adds the fields by which masking recognizes a kind.
func (e *examined) named(object map[string]any) map[string]any {
	named := map[string]any{"apiVersion": e.GroupVersion().String(), "kind": e.Kind}
	for key, value := range object {
		named[key] = value
	}
	return named
}

// scalers knows which objects an autoscaler scales.
type scalers struct {
	comparer *Comparer
	// targets holds the scaled kinds and names of each namespace.
	targets map[string][]string
}

var autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}

// scales reports whether an autoscaler sets the replicas of an object.
func (s *scalers) scales(ctx context.Context, e *examined, setter owner) bool {
	if setter.manager == autoscaler && setter.subresource == "scale" {
		return true
	}
	namespace := e.place.namespace
	targets, known := s.targets[namespace]
	if !known {
		// Without the right to list autoscalers only the field manager counts.
		list, err := s.comparer.Dynamic.Resource(autoscalers).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err == nil {
			for _, one := range list.Items {
				kind, _, _ := unstructured.NestedString(one.Object, "spec", "scaleTargetRef", "kind")
				name, _, _ := unstructured.NestedString(one.Object, "spec", "scaleTargetRef", "name")
				targets = append(targets, kind+"/"+name)
			}
		}
		if s.targets == nil {
			s.targets = map[string][]string{}
		}
		s.targets[namespace] = targets
	}
	return slices.Contains(targets, e.Kind+"/"+e.Name)
}

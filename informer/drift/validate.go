package drift

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// Validate reports what applying each object of a rendered manifest would do. It
// blocks for a minute at most, and fails if the API server does not answer or ctx
// ends.
func (c *Comparer) Validate(ctx context.Context, query drift.ValidationQuery) (*drift.Validation, error) {
	named := resources.Read(query.Manifest, query.Release.Namespace)
	masked := map[int]resources.Named{}
	for i, n := range named {
		if content, changed := placeholders(n); changed {
			masked[i] = n
			named[i].Content = content
		}
	}
	x, err := c.examine(ctx, query.Release, named, true)
	if err != nil {
		return nil, err
	}
	secrets, err := x.secrets(query.Masker, query.Known...)
	if err != nil {
		return nil, err
	}
	answer := &drift.Validation{Counts: map[drift.Verdict]int{}, Objects: []drift.ValidatedObject{}}
	own := definitions(x.objects)
	for i, e := range x.objects {
		object := drift.ValidatedObject{
			APIVersion: e.GroupVersion().String(), Kind: e.Kind, Namespace: e.Namespace, Name: e.Name,
			Warnings: []string{}, Changes: []drift.FieldChange{},
		}
		if e.place.resource.Resource != "" {
			object.Namespace = e.place.namespace
		}
		for _, warning := range e.warnings {
			object.Warnings = append(object.Warnings, text(secrets, warning))
		}
		for _, c := range e.conflicts {
			c.Detail, c.Warning = text(secrets, c.Detail), text(secrets, c.Warning)
			object.Warnings = append(object.Warnings, c.Warning)
			object.Conflicts = append(object.Conflicts, c)
		}
		rendered := e.Content
		if n, ok := masked[i]; ok {
			rendered = n.Content
		}
		if err := e.validate(&object, secrets, rendered, own, answer); err != nil {
			return nil, fmt.Errorf("compare %s %s: %w", e.Kind, e.Name, err)
		}
		answer.Counts[object.Verdict]++
		answer.Objects = append(answer.Objects, object)
	}
	slices.SortStableFunc(answer.Objects, func(a, b drift.ValidatedObject) int { return cmp.Compare(urgency(a.Verdict), urgency(b.Verdict)) })
	answer.Valid = answer.Counts[drift.VerdictRefused]+answer.Counts[drift.VerdictUnknown] == 0
	return answer, nil
}

// urgency sorts objects that make an operation fail first, then those that may.
func urgency(v drift.Verdict) int {
	switch v {
	case drift.VerdictRefused:
		return 0
	case drift.VerdictUnknown:
		return 1
	}
	return 2
}

// validate fills in the outcome of applying one object.
func (e *examined) validate(object *drift.ValidatedObject, secrets *mask.Secrets, rendered []byte, own map[schema.GroupKind]string, answer *drift.Validation) error {
	switch {
	case e.noKind && own[e.GroupKind()] != "":
		object.Verdict = drift.VerdictUnknown
		object.Note = &drift.Note{Code: drift.NoteKindOfChart, Detail: own[e.GroupKind()]}
		object.Message = e.problem + "; it comes with " + own[e.GroupKind()] + " of the same chart and can be tried once that is installed"
	case e.noKind:
		object.Verdict, object.Note = drift.VerdictUnknown, noteOf(e.note)
		object.Message = e.problem + "; should it come with a CustomResourceDefinition of the chart, it can be tried once that is installed"
	case e.problem != "":
		object.Verdict, object.Message, object.Note = drift.VerdictUnknown, text(secrets, e.problem), noteOf(e.note)
	case e.refusal != nil && lacksNamespace(e.refusal, e.place.namespace):
		object.Verdict = drift.VerdictCreate
		answer.Note = &drift.Note{Code: drift.NoteMissingNamespace, Detail: e.place.namespace}
		answer.Message = "Namespace " + e.place.namespace + " does not exist yet, so the API server could check the form of the objects in it, but not whether it admits them."
	case e.refusal != nil:
		object.Verdict, object.Message = drift.VerdictRefused, text(secrets, e.refusal.Error())
		if e.probe != "" {
			object.Message = strings.ReplaceAll(object.Message, e.probe, e.Name)
		}
	case e.probe != "":
		object.Verdict, object.Message, object.Note = drift.VerdictCreate, "helm deletes the one that is there and makes it anew", noteOf(drift.NoteRecreated)
	case e.live == nil:
		object.Verdict = drift.VerdictCreate
	default:
		return e.validateChange(object, secrets, rendered)
	}
	return nil
}

// validateChange fills in the changes of an existing object. Both sides are masked
// before they are compared, since the rendered one already is.
func (e *examined) validateChange(object *drift.ValidatedObject, secrets *mask.Secrets, rendered []byte) error {
	live := plain(e.live.Object)
	after := plain(e.applied)
	if err := restoreTokens(after, rendered); err != nil {
		return err
	}
	from, err := shown(secrets, e.named(after))
	if err != nil {
		return err
	}
	to, err := shown(secrets, e.named(live))
	if err != nil {
		return err
	}
	owned := ownersOf(e.live)
	object.Verdict = drift.VerdictUnchanged
	for _, d := range differences(from.(map[string]any), to.(map[string]any)) {
		setter, _ := owned.of(d.to)
		object.Verdict = drift.VerdictChange
		object.Changes = append(object.Changes, drift.FieldChange{
			Path: d.path, Recorded: d.from.follow(from), Live: d.to.follow(to), Manager: setter.manager,
		})
	}
	return nil
}

// madeAnew reports whether Helm deletes an existing object before it creates it.
// It does so with hooks, unless they have another policy
// (helm.sh/helm/v3/pkg/action/hooks.go, execHook).
func madeAnew(object map[string]any) bool {
	annotations, _, _ := unstructured.NestedStringMap(object, "metadata", "annotations")
	if annotations["helm.sh/hook"] == "" {
		return false
	}
	policies := annotations["helm.sh/hook-delete-policy"]
	return policies == "" || strings.Contains(policies, "before-hook-creation")
}

// lacksNamespace reports whether an object was refused only because its namespace
// does not exist yet.
func lacksNamespace(err error, namespace string) bool {
	if !apierrors.IsNotFound(err) || namespace == "" {
		return false
	}
	return strings.Contains(err.Error(), fmt.Sprintf("namespaces %q not found", namespace))
}

// definitions returns the kinds that the manifest itself defines, with the objects
// that define them.
func definitions(objects []*examined) map[schema.GroupKind]string {
	found := map[schema.GroupKind]string{}
	for _, e := range objects {
		if e.Kind != "CustomResourceDefinition" {
			continue
		}
		var content map[string]any
		if utiljson.Unmarshal(e.Content, &content) != nil {
			continue
		}
		group, _, _ := unstructured.NestedString(content, "spec", "group")
		kind, _, _ := unstructured.NestedString(content, "spec", "names", "kind")
		found[schema.GroupKind{Group: group, Kind: kind}] = e.Kind + " " + e.Name
	}
	return found
}

// placeholder stands in for a masked value of a Secret: base64 of an empty
// object, which is valid for every type of Secret.
var placeholder = base64.StdEncoding.EncodeToString([]byte("{}"))

// placeholders replaces the masked values of a Secret, which are not base64, by valid
// ones. It reports whether there were any.
func placeholders(n resources.Named) ([]byte, bool) {
	if n.GroupKind() != secretKind || !mask.Masked(string(n.Content)) {
		return n.Content, false
	}
	var content map[string]any
	if utiljson.Unmarshal(n.Content, &content) != nil {
		return n.Content, false
	}
	for _, one := range []struct{ field, value string }{{"data", placeholder}, {"stringData", "{}"}} {
		values, _ := content[one.field].(map[string]any)
		for key, value := range values {
			if text, ok := value.(string); ok && mask.Masked(text) {
				values[key] = one.value
			}
		}
	}
	data, err := json.Marshal(content)
	return data, err == nil
}

// restoreTokens replaces the placeholders in a Secret by the masked values again.
func restoreTokens(applied map[string]any, rendered []byte) error {
	var content map[string]any
	if err := utiljson.Unmarshal(rendered, &content); err != nil {
		return err
	}
	data, _ := applied["data"].(map[string]any)
	for _, field := range []string{"data", "stringData"} {
		values, _ := content[field].(map[string]any)
		for key, value := range values {
			if text, ok := value.(string); ok && mask.Masked(text) && data[key] != nil && content["kind"] == secretKind.Kind {
				data[key] = text
			}
		}
	}
	return nil
}

package drift

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/resources"
)

// pageSize bounds one page of a list.
const pageSize = 500

// identity identifies an object.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// addExtra adds the objects that have the release's annotations and are not in the
// record. It lists the kinds and namespaces that the record names. Kinds that cannot
// be listed before ctx ends are unlisted.
func (x *examination) addExtra(ctx context.Context, record *decoder.Record, answer *drift.Report) error {
	known := map[identity]bool{}
	places := map[place]schema.GroupVersionKind{}
	for _, e := range x.objects {
		if e.place.resource.Resource == "" {
			continue
		}
		known[identity{e.GroupKind(), e.place.namespace, e.Name}] = true
		places[e.place] = e.GroupVersionKind
	}
	for _, hook := range record.Hooks {
		for _, n := range resources.Read(hook.Manifest, x.release.Namespace) {
			known[identity{n.GroupKind(), n.Namespace, n.Name}] = true
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(places), place.compare) {
		kind := places[p]
		found, err := x.owned(ctx, p)
		if err != nil && !answered(err) && ctx.Err() == nil {
			return err
		}
		if err != nil {
			answer.Unlisted = append(answer.Unlisted, kind.GroupKind().String())
			continue
		}
		for _, o := range found {
			if known[identity{kind.GroupKind(), o.Namespace, o.Name}] {
				continue
			}
			extra := drift.Object{
				State: drift.Extra, APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: o.Namespace, Name: o.Name,
				Changes: []drift.FieldChange{}, Added: []drift.FieldChange{},
			}
			if o.Annotations["helm.sh/resource-policy"] == "keep" {
				extra.Message, extra.Note = "helm keeps it, because of its helm.sh/resource-policy", noteOf(drift.NoteKept)
			}
			answer.Objects = append(answer.Objects, extra)
		}
	}
	slices.Sort(answer.Unlisted)
	answer.Unlisted = slices.Compact(answer.Unlisted)
	return nil
}

// owned returns the objects of a place whose annotations name the release, except
// those that a controller owns.
func (x *examination) owned(ctx context.Context, p place) ([]metav1.ObjectMeta, error) {
	var found []metav1.ObjectMeta
	options := metav1.ListOptions{LabelSelector: managedBy + "=Helm", Limit: pageSize}
	for {
		list, err := x.Metadata.Resource(p.resource).Namespace(p.namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			if item.Annotations[releaseName] == x.release.Name && item.Annotations[releaseNamespace] == x.release.Namespace && metav1.GetControllerOf(&item) == nil {
				found = append(found, item.ObjectMeta)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return found, nil
		}
	}
}

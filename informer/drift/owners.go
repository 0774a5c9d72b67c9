package drift

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	releaseName      = "meta.helm.sh/release-name"
	releaseNamespace = "meta.helm.sh/release-namespace"
	managedBy        = "app.kubernetes.io/managed-by"
	lastApplied      = "kubectl.kubernetes.io/last-applied-configuration"
	// defaultManager is the field manager of both Helms.
	defaultManager = "helm"
	// autoscaler is the field manager of Kubernetes' autoscaler.
	autoscaler = "kube-controller-manager"
)

// controlPlane lists the field managers of Kubernetes itself.
var controlPlane = []string{autoscaler, "kube-scheduler", "kube-apiserver", "kubelet", "cloud-controller-manager"}

// owner is one field manager with the fields that it has set in an object.
type owner struct {
	manager, subresource string
	applies              bool
	time                 time.Time
	fields               map[string]any
}

// owners holds the field managers of an object, without those of its status.
type owners struct {
	object map[string]any
	all    []owner
	// helm lists the managers that have written Helm's annotations.
	helm []string
}

func ownersOf(object *unstructured.Unstructured) *owners {
	o := &owners{object: object.Object}
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "status" || entry.FieldsV1 == nil {
			continue
		}
		one := owner{manager: entry.Manager, subresource: entry.Subresource, applies: entry.Operation == metav1.ManagedFieldsOperationApply}
		if entry.Time != nil {
			one.time = entry.Time.Time
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &one.fields) != nil {
			continue
		}
		o.all = append(o.all, one)
		if o.claim(one, steps{"metadata", "annotations", releaseName}) == claimsField {
			o.helm = append(o.helm, one.manager)
		}
	}
	if len(o.helm) == 0 {
		o.helm = []string{defaultManager}
	}
	return o
}

// applier returns the manager with which Helm applies the object, and whether it has
// applied it.
func (o *owners) applier() (name string, applies bool) {
	for _, one := range o.all {
		if one.applies && slices.Contains(o.helm, one.manager) {
			return one.manager, true
		}
	}
	return defaultManager, false
}

// of returns who has set the field, or a field below it. Managers other than Helm
// come first; of several, the latest does.
func (o *owners) of(field steps) (found owner, known bool) {
	best := 0
	for _, one := range o.all {
		claim := o.claim(one, field)
		if claim == 0 {
			continue
		}
		// Owning the field itself counts more than owning one above it.
		rank := 2 * claim
		if !slices.Contains(o.helm, one.manager) {
			rank++
		}
		if !known || rank > best || rank == best && one.time.After(found.time) {
			found, known, best = one, true, rank
		}
	}
	return found, known
}

// adder returns who has added a field that Helm has not set, "" if that is nobody or
// Kubernetes itself.
func (o *owners) adder(field steps) string {
	one, known := o.of(field)
	if !known || slices.Contains(controlPlane, one.manager) {
		return ""
	}
	for _, other := range o.all {
		if slices.Contains(o.helm, other.manager) && o.claim(other, field) >= o.claim(one, field) {
			return ""
		}
	}
	return one.manager
}

const (
	// claimsAbove means that the owner has set a field above it, which may be an
	// empty mapping that others have filled.
	claimsAbove = 1
	// claimsField means that the owner has set the field or one below it.
	claimsField = 2
)

// claim returns how an owner has set the field, 0 if it has not.
func (o *owners) claim(one owner, field steps) int {
	set, value := one.fields, any(o.object)
	for _, step := range field {
		if len(set) == 0 {
			return claimsAbove
		}
		var inner any
		switch key := step.(type) {
		case string:
			inner = set["f:"+key]
			mapping, _ := value.(map[string]any)
			value = mapping[key]
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return 0
			}
			value = list[key]
			inner = itemOf(set, value, key)
		}
		next, ok := inner.(map[string]any)
		if !ok {
			return 0
		}
		set = next
	}
	return claimsField
}

// itemOf returns the entry of a list's item in a field set, by the item's key, value
// or position
// (sigs.k8s.io/structured-merge-diff/fieldpath/serialize-pe.go).
func itemOf(set map[string]any, item any, position int) any {
	if found, ok := set["i:"+strconv.Itoa(position)]; ok {
		return found
	}
	for name, fields := range set {
		kind, text, _ := strings.Cut(name, ":")
		var wanted any
		if kind != "k" && kind != "v" || json.Unmarshal([]byte(text), &wanted) != nil {
			continue
		}
		if matches(wanted, item) {
			return fields
		}
	}
	return nil
}

// matches reports whether an item has the values of a key.
func matches(wanted, item any) bool {
	keys, isKey := wanted.(map[string]any)
	object, isObject := item.(map[string]any)
	if !isKey || !isObject {
		return fmt.Sprint(wanted) == fmt.Sprint(item)
	}
	for key, value := range keys {
		if fmt.Sprint(number(object[key])) != fmt.Sprint(value) {
			return false
		}
	}
	return true
}

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// Object is one difference of manifests.
type Object struct {
	Change     Kind   `json:"change"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Diff is a unified diff of the object's YAML, with sorted keys.
	Diff string `json:"diff"`
}

// Manifest is YAML documents, and the namespace of objects that do not name one.
type Manifest struct {
	Text, Namespace string
}

// Objects compares two manifests object by object. A changed API version, or
// another place in the manifest, does not make it another object; comments, order
// of keys and formatting are ignored. A document that is not an object is
// compared by its position. Differences are sorted by kind, namespace and name.
func Objects(from, to Manifest) ([]Object, error) {
	first, second := tree.Documents(from.Text), tree.Documents(to.Text)
	if from.Namespace == to.Namespace {
		first, second = blankCommon(first, second)
	}
	before, err := read(first, from.Namespace)
	if err != nil {
		return nil, fmt.Errorf("compare manifests: first: %w", err)
	}
	after, err := read(second, to.Namespace)
	if err != nil {
		return nil, fmt.Errorf("compare manifests: second: %w", err)
	}
	found := []Object{}
	for id, old := range before {
		now, exists := after[id]
		switch {
		case !exists:
			old.Change = Removed
		case old.text != now.text:
			now.Change = Changed
		default:
			continue
		}
		if exists {
			now.Diff = Text(old.text, now.text)
			found = append(found, now.Object)
		} else {
			old.Diff = Text(old.text, "")
			found = append(found, old.Object)
		}
	}
	for id, now := range after {
		if _, exists := before[id]; !exists {
			now.Change, now.Diff = Added, Text("", now.text)
			found = append(found, now.Object)
		}
	}
	slices.SortFunc(found, func(a, b Object) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Change, b.Change))
	})
	return found, nil
}

// identity identifies an object in both manifests. number distinguishes objects
// that a manifest names more than once.
type identity struct {
	group, kind, namespace, name string
	number                       int
}

// objectSize is the approximate memory of an object besides its text.
const objectSize = 512

type object struct {
	Object
	// text is its canonical YAML.
	text string
}

// blankCommon empties the documents that are byte for byte in both manifests:
// most of a large release does not change from one revision to the next, and
// parsing takes nearly all the time.
func blankCommon(first, second []string) ([]string, []string) {
	first, second = slices.Clone(first), slices.Clone(second)
	places := map[string][]int{}
	for i, document := range first {
		places[document] = append(places[document], i)
	}
	for i, document := range second {
		if same := places[document]; len(same) > 0 {
			first[same[0]], second[i] = "", ""
			places[document] = same[1:]
		}
	}
	return first, second
}

func read(documents []string, namespace string) (map[identity]object, error) {
	r := reading{objects: map[identity]object{}, room: tree.MaxText}
	for n, text := range documents {
		roots, err := tree.FromYAML(text)
		if err != nil {
			return nil, tooLarge(err)
		}
		for _, root := range roots {
			if root.Kind == yaml.DocumentNode && len(root.Content) > 0 {
				root = root.Content[0]
			}
			if root.Tag == tree.Null {
				continue
			}
			if err := r.add(root, namespace, n+1); err != nil {
				return nil, tooLarge(err)
			}
		}
	}
	return r.objects, nil
}

// reading collects the objects of a manifest.
type reading struct {
	objects map[identity]object
	// room is the number of bytes that the texts of further objects may have.
	// Aliases and indentation can make them far longer than the manifest.
	room int
}

// add adds one object, or those of a list.
func (r *reading) add(root *yaml.Node, namespace string, document int) error {
	kind, metadata := scalar(root, "kind"), tree.Get(root, "metadata")
	if items := tree.Get(root, "items"); items != nil && strings.HasSuffix(kind, "List") && items.Kind == yaml.SequenceNode {
		for _, one := range items.Content {
			if err := r.add(one, namespace, document); err != nil {
				return err
			}
		}
		return nil
	}
	o := object{Object: Object{
		APIVersion: scalar(root, "apiVersion"), Kind: kind,
		Namespace: cmp.Or(scalar(metadata, "namespace"), namespace), Name: cmp.Or(scalar(metadata, "name"), scalar(metadata, "generateName")),
	}}
	if o.Kind == "" && o.Name == "" {
		o.Name = fmt.Sprintf("document %d", document)
	}
	canonical, err := tree.Canonical(root)
	if err != nil {
		return err
	}
	if o.text, err = tree.YAML(canonical); err != nil {
		return err
	}
	if r.room -= len(o.text) + objectSize; r.room < 0 {
		return tree.ErrTooLarge
	}
	group, _, versioned := strings.Cut(o.APIVersion, "/")
	if !versioned {
		group = ""
	}
	id := identity{group: group, kind: o.Kind, namespace: o.Namespace, name: o.Name}
	for {
		if _, taken := r.objects[id]; !taken {
			r.objects[id] = o
			return nil
		}
		id.number++
	}
}

func scalar(mapping *yaml.Node, key string) string {
	if node := tree.Get(mapping, key); node != nil && node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

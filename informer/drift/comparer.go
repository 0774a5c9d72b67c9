package drift

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/resources"
)

const (
	// atATime bounds the concurrent requests for one answer.
	atATime = 8
	// maxObjects bounds the objects that are examined for one answer.
	maxObjects = 2000
	// lookAttempts is how often an object that changes meanwhile is examined.
	lookAttempts = 3
	// maxProbe bounds the part of an object's name in the name of its probe.
	maxProbe = 50
	// maxTime bounds the time for one answer. After it, the remaining objects are
	// unknown and the remaining kinds unlisted.
	maxTime = time.Minute
)

// Comparer asks the API server with the credentials of its clients.
type Comparer struct {
	Dynamic  dynamic.Interface
	Metadata metadata.Interface
	// Find returns the resource of a kind. Its error satisfies [meta.IsNoMatchError]
	// if the API server does not have the kind.
	Find func(context.Context, schema.GroupVersionKind) (*meta.RESTMapping, error)
	// EndOf returns how an object has ended that has a ttlSecondsAfterFinished and
	// does not exist, from what was seen of it after since.
	EndOf func(namespace, name string, since time.Time) resources.End
	// Get returns the API server's answer to a GET of a path.
	Get func(ctx context.Context, path string) ([]byte, error)

	within time.Duration // for tests; 0 means maxTime
}

// place is a kind, in a namespace or in the whole cluster.
type place struct {
	resource  schema.GroupVersionResource
	namespace string
}

// compare sorts places.
func (p place) compare(other place) int {
	return cmp.Or(cmp.Compare(p.resource.String(), other.resource.String()), cmp.Compare(p.namespace, other.namespace))
}

// examined is one object of a manifest with the API server's answers about it.
type examined struct {
	resources.Named
	place place
	// wanted is the manifest's object with Helm's label and annotations.
	wanted map[string]any
	// live is nil if the object does not exist.
	live *unstructured.Unstructured
	// applied is the result of the dry run; nil if it was refused, for the reason
	// refusal, or not tried.
	applied map[string]any
	refusal error
	// probe is the name for the dry run of an object that Helm would delete and
	// create again, as it does with hooks; live is nil then.
	probe string
	// problem says why the object is unknown; note is its code, "" for a message of
	// the API server.
	problem  string
	note     drift.NoteCode
	noKind   bool
	warnings []string
	// conflicts are the fields that others own.
	conflicts []drift.FieldConflict
}

// examination examines the objects of one manifest.
type examination struct {
	*Comparer
	release helmtrail.ReleaseRef
	objects []*examined
	// until is the deadline of the answer.
	until   time.Time
	schemas openAPI

	mu sync.Mutex
	// refused holds the places where the caller may not apply, so that each is
	// tried once.
	refused map[place]error
}

// examine examines every object that the manifest names. It fails if the API server
// does not answer or ctx ends.
func (c *Comparer) examine(ctx context.Context, release helmtrail.ReleaseRef, named []resources.Named, tryMissing bool) (*examination, error) {
	x := &examination{Comparer: c, release: release, until: time.Now().Add(cmp.Or(c.within, maxTime)), schemas: openAPI{get: c.Get}, refused: map[place]error{}}
	limited, cancel := context.WithDeadline(ctx, x.until)
	defer cancel()
	var looking errgroup.Group
	looking.SetLimit(atATime)
	for i, n := range named {
		e := &examined{Named: n, problem: n.Problem, note: n.Code}
		x.objects = append(x.objects, e)
		if e.problem != "" {
			continue
		}
		if i >= maxObjects {
			e.problem, e.note = "there are too many objects to look at them all", drift.NoteTooMany
			continue
		}
		looking.Go(func() error {
			err := x.look(limited, e, tryMissing)
			if err != nil && ctx.Err() == nil && limited.Err() != nil {
				e.problem, e.note, err = "it was not looked at in time", drift.NoteTimeout, nil
			}
			return err
		})
	}
	if err := looking.Wait(); err != nil {
		return nil, err
	}
	return x, ctx.Err()
}

// look reads one object and tries to apply it. Without tryMissing only existing
// objects are applied.
func (x *examination) look(ctx context.Context, e *examined, tryMissing bool) error {
	mapping, err := x.Find(ctx, e.GroupVersionKind)
	if meta.IsNoMatchError(err) {
		e.noKind, e.note, e.problem = true, drift.NoteUnknownKind, "the cluster has no kind "+e.Kind+" in "+e.GroupVersion().String()
		return nil
	}
	if err != nil {
		return e.unknown(err)
	}
	e.place = place{resource: mapping.Resource}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		e.place.namespace = e.Namespace
	}
	if err := e.want(x.release); err != nil {
		e.problem, e.note = "this part of the manifest cannot be read", drift.NoteUnreadable
		return nil
	}
	client := x.Dynamic.Resource(e.place.resource).Namespace(e.place.namespace)
	for range lookAttempts {
		live, err := client.Get(ctx, e.Name, metav1.GetOptions{})
		e.live = live
		if err != nil {
			e.live = nil
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return e.unknown(err)
		}
		if e.live == nil && !tryMissing {
			return nil
		}
		if tryMissing && e.live != nil && madeAnew(e.wanted) {
			e.live, e.probe = nil, e.Name[:min(len(e.Name), maxProbe)]+"-"+rand.String(5)
		}
		if err := x.apply(ctx, client, e, tryMissing); err != nil || e.live == nil {
			return err
		}
		if e.applied == nil {
			e.wanted = x.schemas.declared(ctx, e.wanted, e.GroupVersionKind)
			return nil
		}
		// A dry run does not change the version: another one means that somebody has
		// written the object in between.
		applied := unstructured.Unstructured{Object: e.applied}
		if applied.GetResourceVersion() == e.live.GetResourceVersion() {
			return nil
		}
	}
	return nil
}

// want reads the manifest's object as Helm would send it.
func (e *examined) want(release helmtrail.ReleaseRef) error {
	if err := utiljson.Unmarshal(e.Content, &e.wanted); err != nil {
		return err
	}
	wanted := unstructured.Unstructured{Object: e.wanted}
	wanted.SetNamespace(e.place.namespace)
	unstructured.RemoveNestedField(e.wanted, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(e.wanted, "metadata", "managedFields")
	delete(e.wanted, "status")
	for _, one := range [][2]string{{"labels", managedBy}, {"annotations", releaseName}, {"annotations", releaseNamespace}} {
		value := map[string]string{managedBy: "Helm", releaseName: release.Name, releaseNamespace: release.Namespace}[one[1]]
		if entries, exists, _ := unstructured.NestedFieldNoCopy(e.wanted, "metadata", one[0]); !exists || entries == nil {
			unstructured.RemoveNestedField(e.wanted, "metadata", one[0])
		}
		if err := unstructured.SetNestedField(e.wanted, value, "metadata", one[0], one[1]); err != nil {
			return err
		}
	}
	return nil
}

// unknown records an error that the API server returned, and returns any other.
func (e *examined) unknown(err error) error {
	if !answered(err) {
		return err
	}
	e.problem = err.Error()
	return nil
}

// secrets returns the secrets to mask in an answer: those of the sources and of the
// live Secrets. It returns nil if nothing is masked.
func (x *examination) secrets(masker *mask.Masker, sources ...mask.Source) (*mask.Secrets, error) {
	if masker == nil {
		return nil, nil
	}
	var live mask.Source
	for _, e := range x.objects {
		if e.live == nil || e.GroupKind() != secretKind {
			continue
		}
		data, err := json.Marshal(e.live.Object)
		if err != nil {
			return nil, err
		}
		live.Manifests = append(live.Manifests, string(data))
	}
	return masker.Collect(append(slices.Clone(sources), live)...), nil
}

// shown returns an object with its secrets masked.
func shown(secrets *mask.Secrets, object map[string]any) (any, error) {
	if secrets == nil || object == nil {
		return object, nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if data, err = secrets.Object(data); err != nil {
		return nil, err
	}
	var masked any
	return masked, utiljson.Unmarshal(data, &masked)
}

// text returns a message with its secrets masked.
func text(secrets *mask.Secrets, message string) string {
	if secrets == nil {
		return message
	}
	return secrets.Text(message)
}

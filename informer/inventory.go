package informer

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"

	"github.com/helmtrail/helmtrail/decoder"
)

// typeSelector selects release Secrets by their type, on the server.
const typeSelector = "type=" + string(decoder.SecretType)

// listTimeout bounds one listing of metadata, so that a connection into the
// void ends and is tried anew.
const listTimeout = time.Minute

var secretsResource = corev1.SchemeGroupVersion.WithResource("secrets")

// errHungUp is what client-go passes over in silence.
var errHungUp = errors.New("the API server, or something before it, closed the connection without an answer")

// emptyWatch is what client-go's REST client gives, without an error, when the
// connection ended before the answer (k8s.io/client-go/rest/request.go, Watch).
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

// inventory lists the metadata of the release Secrets of a cluster, and
// watches them in full from there on. What both see is told to health.
type inventory struct {
	ctx       context.Context // ends with the watcher; the reflector lists without one
	namespace string          // "" for all
	secrets   corev1client.SecretsGetter
	metadata  metadata.Interface
	health    *health
	// missed is told from when on nothing was watched, once that has ended.
	missed func(from time.Time)

	mu sync.Mutex
	// until is when a watch, or the list before it, was open the last time.
	until time.Time
}

// IsWatchListSemanticsUnSupported keeps the reflector from taking its first
// inventory out of the watch, which would carry every record's bytes.
func (i *inventory) IsWatchListSemanticsUnSupported() bool { return true }

// List implements [k8s.io/client-go/tools/cache.Lister].
func (i *inventory) List(o metav1.ListOptions) (runtime.Object, error) {
	return i.ListWithContext(i.ctx, o)
}

// Watch implements [k8s.io/client-go/tools/cache.Watcher].
func (i *inventory) Watch(o metav1.ListOptions) (watch.Interface, error) {
	return i.WatchWithContext(i.ctx, o)
}

// ListWithContext implements [k8s.io/client-go/tools/cache.ListerWithContext].
func (i *inventory) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	defer context.AfterFunc(i.ctx, cancel)()
	o.LabelSelector, o.FieldSelector = decoder.OwnerLabel, typeSelector
	list, err := i.metadata.Resource(secretsResource).Namespace(i.namespace).List(ctx, o)
	i.health.listed(i.action("list"), err)
	if err != nil {
		// It goes back as it is: the reflector tells the kinds of error apart.
		return nil, err
	}
	i.begins()
	return list, nil
}

// WatchWithContext implements [k8s.io/client-go/tools/cache.WatcherWithContext].
func (i *inventory) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.LabelSelector, o.FieldSelector = decoder.OwnerLabel, typeSelector
	w, err := i.secrets.Secrets(i.namespace).Watch(ctx, o)
	if err == nil && reflect.TypeOf(w) == emptyWatch {
		// The reflector would take it for a watch that ended well, and try the
		// same again for ever.
		w, err = nil, errHungUp
	}
	i.health.note(i.action("watch"), err)
	if err != nil {
		return nil, err
	}
	return &opened{Interface: w, inventory: i}, nil
}

// opened is a watch; the reflector stops each one at its end, whatever ended it.
type opened struct {
	watch.Interface
	inventory *inventory
}

// Stop implements [watch.Interface].
func (o *opened) Stop() {
	o.inventory.ends()
	o.Interface.Stop()
}

// begins takes note that all is known again. After the first time that means
// that a watch could not be gone on with where it had ended.
func (i *inventory) begins() {
	i.mu.Lock()
	from := i.until
	i.until = time.Now()
	i.mu.Unlock()
	if !from.IsZero() {
		i.missed(from)
	}
}

// ends takes note that a watch has ended.
func (i *inventory) ends() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.until = time.Now()
}

// action says in words what is asked.
func (i *inventory) action(verb string) string {
	if i.namespace == metav1.NamespaceAll {
		return verb + " release secrets"
	}
	return verb + " release secrets in namespace " + i.namespace
}

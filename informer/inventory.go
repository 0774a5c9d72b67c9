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

// listTimeout bounds one LIST of metadata, so that a dead connection ends and the
// request is tried again.
const listTimeout = time.Minute

var secretsResource = corev1.SchemeGroupVersion.WithResource("secrets")

// errHungUp is the error for an ended connection, which client-go does not report.
var errHungUp = errors.New("the API server, or something before it, closed the connection without an answer")

// emptyWatch is the type that client-go's REST client returns, without an error,
// when the connection ended before the answer (k8s.io/client-go/rest/request.go,
// Watch).
var emptyWatch = reflect.TypeOf(watch.NewEmptyWatch())

// inventory lists the metadata of a cluster's release Secrets and watches full
// Secrets from there on. It reports the outcome of each request to health.
type inventory struct {
	ctx       context.Context // ends with the watcher; the reflector lists without a context
	namespace string          // "" for all
	secrets   corev1client.SecretsGetter
	metadata  metadata.Interface
	health    *requestHealth
	// missed is called after a gap, with the time since when nothing was watched.
	missed func(from time.Time)

	mu sync.Mutex
	// until is when the last watch ended, or when the last LIST was answered.
	until time.Time
}

// IsWatchListSemanticsUnSupported keeps the reflector from replacing the LIST by a
// watch, which would transfer every record's bytes.
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
		// It is not wrapped: the reflector distinguishes kinds of errors.
		return nil, err
	}
	i.recordList()
	return list, nil
}

// WatchWithContext implements [k8s.io/client-go/tools/cache.WatcherWithContext].
func (i *inventory) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.LabelSelector, o.FieldSelector = decoder.OwnerLabel, typeSelector
	w, err := i.secrets.Secrets(i.namespace).Watch(ctx, o)
	if err == nil && reflect.TypeOf(w) == emptyWatch {
		// The reflector would take it for a watch that ended normally, and try the
		// same again for ever.
		w, err = nil, errHungUp
	}
	i.health.note(i.action("watch"), err)
	if err != nil {
		return nil, err
	}
	return &opened{Interface: w, inventory: i}, nil
}

// opened is a watch. The reflector calls Stop on each one, however it ended.
type opened struct {
	watch.Interface
	inventory *inventory
}

// Stop implements [watch.Interface].
func (o *opened) Stop() {
	o.inventory.recordWatchEnd()
	o.Interface.Stop()
}

// recordList records a completed LIST. Any but the first means that the last watch
// could not be resumed: the gap is reported.
func (i *inventory) recordList() {
	i.mu.Lock()
	from := i.until
	i.until = time.Now()
	i.mu.Unlock()
	if !from.IsZero() {
		i.missed(from)
	}
}

// recordWatchEnd records that a watch has ended.
func (i *inventory) recordWatchEnd() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.until = time.Now()
}

// action describes a request.
func (i *inventory) action(verb string) string {
	if i.namespace == metav1.NamespaceAll {
		return verb + " release secrets"
	}
	return verb + " release secrets in namespace " + i.namespace
}

package resources

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// events returns the events about an object, the newest first.
func (v *view) events(namespace string, uid types.UID, fields string) []*corev1.Event {
	objects, err := v.lister.indexer(place{eventsResource, namespace, fields})
	if err != nil {
		return nil
	}
	list, err := objects.ByIndex(subjectIndex, string(uid))
	if err != nil {
		return nil
	}
	events := make([]*corev1.Event, 0, len(list))
	for _, o := range list {
		if event, ok := o.(*corev1.Event); ok {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b *corev1.Event) int {
		return cmp.Or(lastSeen(b).Compare(lastSeen(a)), cmp.Compare(a.Name, b.Name))
	})
	return events
}

// lastSeen returns when an event was last repeated.
func lastSeen(e *corev1.Event) time.Time {
	newest := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(newest) {
			newest = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(newest) {
		newest = e.Series.LastObservedTime.Time
	}
	return newest
}

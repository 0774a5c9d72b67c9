package informer

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/helmtrail/helmtrail/decoder"
)

// A tracked revision costs under 3 KB of memory whatever its payload.
func TestTrackedRevisionCostsUnder3KB(t *testing.T) {
	const revisions, limit = 500, 3 << 10
	for _, payload := range []int{0, 32 << 10} {
		w, c := newTestChanges()
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		before := heap()
		for n := range revisions {
			slim, err := (&Watcher{}).reduce(bigSecret(n, payload))
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Add(slim); err != nil {
				t.Fatal(err)
			}
			c.OnAdd(slim, true)
		}
		each := (heap() - before) / revisions
		t.Logf("%d bytes of memory for each revision with %d bytes of payload", each, payload)
		if each > limit {
			t.Errorf("%d bytes of memory for each revision with %d bytes of payload, want at most %d", each, payload, limit)
		}
		if got := len(w.Latest("")); got != revisions/5 {
			t.Errorf("%d releases, want %d", got, revisions/5)
		}
		if w.Latest("")[0].Header == nil {
			t.Error("the headers were not read")
		}
		runtime.KeepAlive(store)
		w.fetcher.urgent.ShutDown()
		w.fetcher.backfill.ShutDown()
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// bigSecret is a revision's Secret as a watch delivers it; each release has five.
func bigSecret(n, payload int) *corev1.Secret {
	name, revision := fmt.Sprintf("some-release-%d", n/5), n%5+1
	record := fmt.Sprintf(`{"name":%q,"info":{"first_deployed":"2026-01-02T03:04:05.123456789Z",`+
		`"last_deployed":"2026-01-02T03:04:05.123456789Z","deleted":"","description":%q,"status":"superseded"},`+
		`"chart":{"metadata":{"name":"a-chart-%d","version":"12.34.56","appVersion":"v2026.1.2"}},"manifest":%q,"version":%d}`,
		name, fmt.Sprintf("Upgrade %d of the release was complete", n), n, strings.Repeat("m", payload), revision)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprintf("namespace-%d", n/50), Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision),
			UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", n)), ResourceVersion: fmt.Sprint(1000000 + n),
			CreationTimestamp: metav1.NewTime(time.Unix(1700000000, 0)),
			Labels: map[string]string{
				"owner": "helm", "name": name, "version": fmt.Sprint(revision), "status": "superseded",
				"createdAt": "1700000000", decoder.SessionLabel: fmt.Sprintf("11111111-1111-1111-1111-%012d", n),
			},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "helm", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}},
		},
		Type: decoder.SecretType,
		Data: map[string][]byte{recordKey: []byte(base64.StdEncoding.EncodeToString([]byte(record)))},
	}
}

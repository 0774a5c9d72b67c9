package main

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// metric returns the value of the first sample that a pattern matches, or -1.
func metric(text, pattern string) float64 {
	found := regexp.MustCompile(`(?m)^helmtrail_` + pattern + ` (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	value, err := strconv.ParseFloat(found[len(found)-1], 64)
	if err != nil {
		return -1
	}
	return value
}

// releaseSecret creates a Secret of Helm's type by hand. Its labels say that it
// is revision 1 of a release, with a status.
func releaseSecret(t *testing.T, namespace, name string, status decoder.Status, data map[string][]byte) {
	t.Helper()
	_, err := clustertest.Core(t).Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "sh.helm.release.v1." + name + ".v1",
			Labels: map[string]string{"owner": "helm", "name": name, "version": "1", "status": string(status)},
		},
		Type: decoder.SecretType, Data: data,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMetricsCountWhatHappens(t *testing.T) {
	t.Parallel()
	h, namespace := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--stuck-after", "1s"}}), clustertest.Namespace(t)
	release := h.release(namespace, "web")
	chart := object{"ref": "web"}
	first := h.submit(t, http.MethodPost, h.releases(namespace), object{"name": "web", "chart": chart})
	h.events(t.Context(), t, first.Events, 1)
	failed := h.submit(t, http.MethodPut, release, object{
		"chart": chart, "values": never, "options": object{"wait": true, "timeoutSeconds": 3, "retries": 0},
	})
	h.events(t.Context(), t, failed.Events, 1)
	clustertest.Helm(t, 4, "install", "byhand", clustertest.Chart(t), "--namespace", namespace)
	releaseSecret(t, namespace, "broken", decoder.StatusDeployed, map[string][]byte{"release": []byte("no record")})
	releaseSecret(t, namespace, "left", decoder.StatusPendingInstall, map[string][]byte{"release": []byte("no record")})
	releaseSecret(t, namespace, "foreign", decoder.StatusDeployed, map[string][]byte{"other": []byte("no record")})
	running := h.submit(t, http.MethodPost, h.releases(namespace), object{
		"name": "waiting", "chart": chart, "values": never, "options": object{"wait": true, "timeoutSeconds": 600},
	})
	following, stop := context.WithCancel(t.Context())
	defer stop()
	for _, events := range []string{"/" + h.cluster + "/releases/events", running.Events} {
		connected := make(chan struct{})
		go func() {
			once := sync.OnceFunc(func() { close(connected) })
			_ = h.frames(following, events, func(frame) bool { once(); return true }) // until stop is called
		}()
		<-connected
	}

	// These are minimums from this test's operations. Other tests share the cluster.
	least := map[string]float64{
		`operations_total\{cluster="[^"]+",operation="install",origin="helmtrail",reason="",result="COMPLETED"\}`:    1,
		`operations_total\{cluster="[^"]+",operation="upgrade",origin="helmtrail",reason="[a-z]+",result="FAILED"\}`: 1,
		`operations_total\{cluster="[^"]+",operation="install",origin="outside",reason="",result="COMPLETED"\}`:      1,
		`operation_duration_seconds_count\{operation="upgrade",result="FAILED"\}`:                                    1,
		`operation_duration_seconds_sum\{operation="upgrade",result="FAILED"\}`:                                      3,
		`operations_running\{origin="helmtrail"\}`:                                                                   1,
		`operations_running\{origin="outside"\}`:                                                                     1,
		`events_total\{type="STARTED"\}`:                                                                             4,
		`events_total\{type="LOG"\}`:                                                                                 2,
		`events_total\{type="RELEASE_STATUS"\}`:                                                                      4,
		`event_delay_seconds_count`:                                                                                  10,
		`subscribers\{stream="cluster"\}`:                                                                            1,
		`subscribers\{stream="session"\}`:                                                                            1,
		`releases\{cluster="[^"]+",status="failed"\}`:                                                                1,
		`transitions_total\{change="status",cluster="[^"]+",status="deployed"\}`:                                     2,
		`transition_lag_seconds_count\{cluster="[^"]+"\}`:                                                            5,
		`unreadable_releases\{cluster="[^"]+"\}`:                                                                     2,
		`decode_errors_total\{cluster="[^"]+"\}`:                                                                     2,
		`stuck_releases\{cluster="[^"]+"\}`:                                                                          1,
		`cluster_reachable\{cluster="[^"]+"\}`:                                                                       1,
		`cluster_synced\{cluster="[^"]+"\}`:                                                                          1,
		`watch_restarts_total\{cluster="[^"]+"\}`:                                                                    0,
		`ignored_secrets_total\{cluster="[^"]+"\}`:                                                                   1,
		`journal_bytes`: 1000,
	}
	var text string
	for pattern, want := range least {
		eventually(t, pattern, func() bool {
			text = h.text(t, "/metrics")
			return metric(text, pattern) >= want
		})
	}
	// The lag is in seconds. It is below a minute even on a busy machine.
	all, soon := metric(text, `transition_lag_seconds_count\{[^}]+\}`), metric(text, `transition_lag_seconds_bucket\{cluster="[^"]+",le="60"\}`)
	if soon < all {
		t.Errorf("of %v transitions %v could be read within a minute", all, soon)
	}
}

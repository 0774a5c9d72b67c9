package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// writeContexts replaces a kubeconfig atomically with one that has these contexts
// of the test cluster.
func writeContexts(t *testing.T, path string, names ...string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(clustertest.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	admin := config.Contexts[config.CurrentContext]
	config.Contexts, config.CurrentContext = map[string]*clientcmdapi.Context{}, names[0]
	for _, name := range names {
		config.Contexts[name] = admin
	}
	if err := clientcmd.WriteToFile(*config, path+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestContextsAreAddedAndRemovedWithoutARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	writeContexts(t, path, "first")
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), kubeconfig: path})
	namespace := clustertest.Namespace(t)
	listed := func() (ids []string) {
		var list struct{ Items []shownCluster }
		h.get(t, "/clusters", &list)
		for _, c := range list.Items {
			if c.Synced {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	writeContexts(t, path, "first", "Second", "api")
	eventually(t, "the new context is a cluster", func() bool { return slices.Equal(listed(), []string{"first", "second"}) })

	second := *h
	second.cluster = "second"
	answer := second.submit(t, http.MethodPost, second.releases(namespace), object{
		"name": "web", "chart": object{"ref": "web"}, "values": never,
		"options": object{"wait": true, "timeoutSeconds": 300},
	})
	streams := make(chan error, 2)
	for _, events := range []string{answer.Events, "/second/releases/events"} {
		begun := make(chan struct{})
		go func() {
			once := sync.OnceFunc(func() { close(begun) })
			streams <- h.frames(t.Context(), events, func(frame) bool { once(); return true })
		}()
		<-begun
	}
	statusIn := func(in *server) string {
		var i item
		in.call(t, http.MethodGet, in.release(namespace, "web"), nil, &i)
		return i.Status
	}
	eventually(t, "the install has started", func() bool { return statusIn(&second) == "pending-install" })

	eventually(t, "the new cluster has a trail", func() bool {
		var kept struct{ Items []struct{ Name string } }
		return second.call(t, http.MethodGet, second.release(namespace, "web")+"/trail", nil, &kept) == http.StatusOK && len(kept.Items) > 0
	})

	writeContexts(t, path, "first")
	for range 2 {
		if err := <-streams; err != nil {
			t.Errorf("a stream of the lost cluster: %v", err)
		}
	}
	if ids := listed(); !slices.Equal(ids, []string{"first"}) {
		t.Errorf("the clusters are %v, want the first only", ids)
	}
	var missing struct{ Code string }
	if code := h.call(t, http.MethodGet, second.releases(namespace), nil, &missing); code != http.StatusNotFound {
		t.Errorf("the lost cluster answers %d %s", code, missing.Code)
	}
	// The operation that runs there continues to its end.
	becomesReady(t, namespace)
	eventually(t, "the install is done", func() bool { return statusIn(h) == "deployed" })
	writeContexts(t, path, "first", "second")
	eventually(t, "the context is back", func() bool { return slices.Contains(listed(), "second") })
	var sessions struct {
		Items []struct{ ID, State string }
	}
	eventually(t, "the session has ended", func() bool {
		second.get(t, second.release(namespace, "web")+"/sessions", &sessions)
		i := slices.IndexFunc(sessions.Items, func(s struct{ ID, State string }) bool { return s.ID == answer.SessionID })
		return i >= 0 && sessions.Items[i].State == string(helmtrail.StateCompleted)
	})
}

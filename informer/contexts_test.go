package informer_test

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/informer"
)

func TestContextsAreAddedAndRemoved(t *testing.T) {
	path := writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, "one", "two")
	// rewrite replaces the kubeconfig and waits until the new one is in use.
	rewrite := func(contexts ...string) {
		data, err := os.ReadFile(writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, contexts...))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
	}
	synctest.Test(t, func(t *testing.T) {
		options := informer.Options{Kubeconfig: path}
		clusters, err := informer.Open(options)
		if err != nil {
			t.Fatal(err)
		}
		var changes []string
		take := func() (list []string) {
			list, changes = changes, nil
			return list
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.FollowContexts(ctx, options, clusters,
				func(c *informer.Cluster) { changes = append(changes, "+"+c.ID) },
				func(c *informer.Cluster) { changes = append(changes, "-"+c.ID) })
		}()
		for _, step := range []struct {
			what     string
			contexts []string
			want     []string
		}{
			{"nothing has changed", []string{"one", "two"}, nil},
			{"one more", []string{"one", "two", "Three"}, []string{"+three"}},
			{"ids that are taken or reserved", []string{"one", "two", "Three", "THREE", "api"}, nil},
			{"a context is removed and its id is free again", []string{"one", "THREE"}, []string{"-three", "-two", "+three"}},
			{"a file that is being written", nil, nil},
			{"a context comes back", []string{"one", "two"}, []string{"-three", "+two"}},
		} {
			rewrite(step.contexts...)
			got := take()
			if diff := cmp.Diff(step.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.what, diff)
			}
		}
		stop()
		<-ended

		// If contexts were named, only those are used.
		options.Contexts = []string{"one"}
		informer.FollowContexts(t.Context(), options, clusters, nil, nil)
	})
}

package informer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/informer"
)

// writeKubeconfig writes a kubeconfig with these contexts, all for one cluster.
// The first context is the current one.
func writeKubeconfig(t *testing.T, user clientcmdapi.AuthInfo, contexts ...string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://user:secret@127.0.0.1:1/path", InsecureSkipTLSVerify: true}
	config.AuthInfos["u"] = &user
	for _, name := range contexts {
		config.Contexts[name] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	}
	if len(contexts) > 0 {
		config.CurrentContext = contexts[0]
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenMakesIDsOfContexts(t *testing.T) {
	path := writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, "Kind-Dev", "arn:aws:eks:eu/Prod_1")
	clusters, err := informer.Open(informer.Options{Kubeconfig: path, Contexts: []string{"Kind-Dev", "arn:aws:eks:eu/Prod_1"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range clusters {
		got = append(got, c.ID+" "+c.Server)
	}
	want := []string{"kind-dev https://127.0.0.1:1/path", "arn-aws-eks-eu-prod-1 https://127.0.0.1:1/path"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}

	all, err := informer.Open(informer.Options{Kubeconfig: path})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].ID != "kind-dev" {
		t.Errorf("without named contexts, got %v, want all with the current one first", all)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name     string
		contexts []string
		open     []string
		want     string
	}{
		{"a reserved id", []string{"Helm"}, nil, `"helm" is a reserved address`},
		{"another reserved id", []string{"API"}, nil, `"api" is a reserved address`},
		{"two contexts with one id", []string{"a.b", "a_b"}, []string{"a.b", "a_b"}, `already that of context "a.b"`},
		{"an unknown context", []string{"a", "b"}, []string{"c"}, "no such context, only: a, b"},
		{"no context", nil, nil, "it has no context"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, test.contexts...)
			_, err := informer.Open(informer.Options{Kubeconfig: path, Contexts: test.open})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
	if _, err := informer.Open(informer.Options{Kubeconfig: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a missing file is no error")
	}
	path := writeKubeconfig(t, clientcmdapi.AuthInfo{Token: "t"}, "a")
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts["a"].Cluster = "misspelt"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	if _, err := informer.Open(informer.Options{Kubeconfig: path, Contexts: []string{"a"}}); err == nil || !strings.Contains(err.Error(), `"misspelt" is not in the kubeconfig`) {
		t.Errorf("a context of no cluster: %v", err)
	}
}

func TestKubeconfigIsSelfContained(t *testing.T) {
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("from-a-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(t.TempDir(), "plugin")
	script := `#!/bin/sh
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$GIVEN'"}}'
`
	if err := os.WriteFile(plugin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		user clientcmdapi.AuthInfo
		want clientcmdapi.AuthInfo
	}{
		{"token", clientcmdapi.AuthInfo{Token: "plain"}, clientcmdapi.AuthInfo{Token: "plain"}},
		{"token file", clientcmdapi.AuthInfo{TokenFile: tokenFile}, clientcmdapi.AuthInfo{Token: "from-a-file"}},
		{
			"credential plugin",
			clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
				Command: plugin, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
				Env: []clientcmdapi.ExecEnvVar{{Name: "GIVEN", Value: "from-a-plugin"}},
			}},
			clientcmdapi.AuthInfo{Token: "from-a-plugin"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			clusters, err := informer.Open(informer.Options{Kubeconfig: writeKubeconfig(t, test.user, "one")})
			if err != nil {
				t.Fatal(err)
			}
			data, err := clusters[0].Kubeconfig(t.Context(), helmtrail.Credentials{})
			if err != nil {
				t.Fatal(err)
			}
			config, err := clientcmd.Load(data)
			if err != nil {
				t.Fatal(err)
			}
			got := *config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
			got.Extensions = nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
		})
	}
}

package helmcli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
)

// renderWith runs Helm with the arguments of an install, but with the command
// template, which fetches charts in the same way and needs no cluster. It returns
// Helm's output.
func renderWith(t *testing.T, h *Helm, chart helmtrail.Chart, secret map[string][]byte) (string, error) {
	t.Helper()
	session := helmtrail.SessionRef{Release: helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}, ID: "s" + fmt.Sprint(len(t.Name())) + chart.CredentialsSecret}
	request := helmtrail.Request{Operation: helmtrail.OperationInstall, Release: session.Release, Chart: chart}
	if err := h.Check(request); err != nil {
		t.Fatal(err)
	}
	prepared, err := h.Prepare(session, request)
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	f := h.folderOf(session.ID)
	if err := os.MkdirAll(f.path(homeFolder)+"/tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := h.fetch(t.Context(), helmtrail.ChartFetch{Chart: chart, Access: secret}, f.path(archiveFile)); err != nil {
		return "", err
	}
	arguments := h.arguments(session.ID, request, "")
	arguments[0] = "template"
	command := exec.CommandContext(t.Context(), h.path, arguments...)
	command.Env = environment(f, nil)
	command.Dir = f.path(homeFolder)
	// Everybody on the machine can read credentials in a command line:
	// https://github.com/argoproj/argo-cd/issues/17821
	for _, place := range [][]string{command.Args, command.Env, h.Command(session.ID, request)} {
		if strings.Contains(strings.Join(place, " "), serverPassword) {
			t.Errorf("the password is in %q", place)
		}
	}
	said, err := command.CombinedOutput()
	if strings.Contains(string(said), serverPassword) {
		t.Errorf("helm prints the password:\n%s", said)
	}
	return string(said), err
}

func TestChartsBehindAPassword(t *testing.T) {
	server := serveCharts(t, false)
	secret := map[string][]byte{"username": []byte(serverUser), "password": []byte(serverPassword), "ca.crt": server.authority()}
	charts := map[string]helmtrail.Chart{
		"repository": {Ref: "small", Repo: server.URL + "/charts"},
		"version":    {Ref: "small", Repo: server.URL + "/charts/", Version: "^1.1"},
		"configured": {Ref: "small", Repo: "own"},
		"archive":    {Ref: server.URL + "/charts/small-1.2.3.tgz"},
		"registry":   {Ref: "oci://" + server.host + "/team/small"},
		"tag":        {Ref: "oci://" + server.host + "/team/small", Version: "1.2.3"},
	}
	for _, major := range []int{3, 4} {
		h := realHelm(t, major, Config{ChartHosts: listed(t, server.host), Repositories: []Repository{{"own", server.URL + "/charts"}}})
		for name, chart := range charts {
			t.Run(fmt.Sprintf("helm %d %s", major, name), func(t *testing.T) {
				chart.CredentialsSecret = "charts"
				said, err := renderWith(t, h, chart, secret)
				if err != nil || !strings.Contains(said, `size: "1"`) {
					t.Errorf("%v\n%s", err, said)
				}
				for what, bad := range map[string]map[string][]byte{
					"the wrong password": {"username": []byte(serverUser), "password": []byte("wrong"), "ca.crt": server.authority()},
					"only the authority": {"ca.crt": server.authority()},
					"only the password":  {"username": []byte(serverUser), "password": []byte(serverPassword)},
				} {
					if said, err := renderWith(t, h, chart, bad); err == nil {
						t.Errorf("with %s, helm fetched the chart:\n%s", what, said)
					}
				}
			})
		}
	}
}

func TestASecretWithoutCredentialsIsRejected(t *testing.T) {
	h := at(4, 3)
	for _, test := range []struct {
		secret map[string][]byte
		says   string
	}{
		{nil, "neither"},
		{map[string][]byte{"username": []byte("u")}, "only one"},
		{map[string][]byte{"password": []byte(serverPassword)}, "only one"},
		{map[string][]byte{"ca.crt": []byte("x")}, "no certificate"},
	} {
		fetch := helmtrail.ChartFetch{Chart: helmtrail.Chart{Ref: "oci://h/x", CredentialsSecret: "charts"}, Access: test.secret}
		err := h.fetch(t.Context(), fetch, folder(t.TempDir()).path(archiveFile))
		if err == nil || !strings.Contains(err.Error(), "Secret charts") || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), serverPassword) {
			t.Errorf("got %v, want an error with %q", err, test.says)
		}
	}
}

package helmcli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
)

// A chart that is only shown is fetched from the same sources and with the same
// credentials as for an install, and rendered as Helm renders it.
func TestChartsAreFetchedLoadedAndRendered(t *testing.T) {
	server := serveCharts(t, false)
	access := map[string][]byte{"username": []byte(serverUser), "password": []byte(serverPassword), "ca.crt": server.authority()}
	for _, major := range []int{3, 4} {
		h := realHelm(t, major, Config{ChartHosts: listed(t, server.host)})
		for name, chart := range map[string]helmtrail.Chart{
			"repository": {Ref: "small", Repo: server.URL + "/charts", Version: "1.2.3"},
			"archive":    {Ref: server.URL + "/charts/small-1.2.3.tgz"},
			"registry":   {Ref: "oci://" + server.host + "/team/small", Version: "1.2.3"},
		} {
			t.Run(fmt.Sprintf("helm %d %s", major, name), func(t *testing.T) {
				archive, err := h.FetchChart(t.Context(), helmtrail.ChartFetch{Chart: chart, Access: access})
				if err != nil {
					t.Fatal(err)
				}
				read, err := h.LoadChart(t.Context(), archive)
				if err != nil || read.Metadata.Name != "small" || read.Metadata.Version != "1.2.3" {
					t.Fatalf("the chart is %+v, %v", read, err)
				}
				release := helmtrail.ReleaseRef{Cluster: "dev", Namespace: "shop", Name: "web"}
				text, err := h.RenderChart(t.Context(), archive, release, []byte(`{"size":7}`), "v1.30.0")
				if err != nil || !strings.Contains(string(text), `size: "7"`) {
					t.Errorf("rendered %s, %v", text, err)
				}
				wrong := map[string][]byte{"username": []byte(serverUser), "password": []byte("wrong one"), "ca.crt": server.authority()}
				if _, err := h.FetchChart(t.Context(), helmtrail.ChartFetch{Chart: chart, Access: wrong}); !errors.Is(err, helmtrail.ErrNoChart) || strings.Contains(err.Error(), "wrong one") {
					t.Errorf("with a wrong password: %v", err)
				}
			})
		}
		if _, err := h.LoadChart(t.Context(), []byte("no archive")); !errors.Is(err, helmtrail.ErrNoChart) {
			t.Errorf("an invalid archive was loaded: %v", err)
		}
		index, err := h.RepositoryIndex(t.Context(), server.URL+"/charts", access)
		if err != nil || len(index["small"]) != 2 {
			t.Errorf("the index is %+v, %v", index, err)
		}
		if _, err := h.RepositoryIndex(t.Context(), "file:///etc", nil); !errors.Is(err, helmtrail.ErrNoChart) {
			t.Errorf("a file on the server was read: %v", err)
		}
	}
}

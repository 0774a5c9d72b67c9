package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// Only those who may install, upgrade or add charts in a namespace see and use its
// uploads, in helmtrail's own API as in the console's.
func TestUploadsAreSeenInTheirNamespaceOnly(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		namespace, elsewhere := clustertest.Namespace(t), clustertest.Namespace(t)
		owner, ownerToken := account(t, namespace, "owner")
		bind(t, namespace, owner, exampleRole(t, "operator"))
		editor, editorToken := account(t, namespace, "editor")
		bind(t, namespace, editor, "edit")
		reader, readerToken := account(t, namespace, "reader")
		bind(t, namespace, reader, exampleRole(t, "reader"))
		neighbour, neighbourToken := account(t, elsewhere, "neighbour")
		bind(t, elsewhere, neighbour, exampleRole(t, "operator"))
		h := serveOn(t, arguments{helm: helm, more: []string{"--auth", "kubernetes"}})

		upload := func(token, query string) (status int, item catalog.Item) {
			status, answer := h.holding(token).ask(t, http.MethodPost, "/charts"+query, string(pack(t, clustertest.Chart(t))))
			if status == http.StatusCreated {
				if err := json.NewDecoder(bytes.NewReader([]byte(answer))).Decode(&item); err != nil {
					t.Fatal(err)
				}
			}
			return status, item
		}
		status, item := upload(ownerToken, "?namespace="+namespace)
		if status != http.StatusCreated {
			t.Fatalf("the owner's upload was answered with %d", status)
		}
		for _, refused := range []struct {
			who, token, query string
			want              int
		}{
			{"nobody", "", "?namespace=" + namespace, 401},
			{"a reader", readerToken, "?namespace=" + namespace, 403},
			{"an editor", editorToken, "?namespace=" + namespace, 403},
			{"the neighbour", neighbourToken, "?namespace=" + namespace, 403},
			{"the owner, for all namespaces", ownerToken, "", 403},
			{"the owner, outside the namespace", ownerToken, "?namespace=../" + elsewhere, 403},
		} {
			if status, _ := upload(refused.token, refused.query); status != refused.want {
				t.Errorf("an upload by %s: %d, want %d", refused.who, status, refused.want)
			}
		}

		for _, caller := range []struct {
			who, token, namespace string
			sees                  bool
			want                  int
		}{
			{"the owner", ownerToken, namespace, true, 200},
			{"an editor, who may install", editorToken, namespace, true, 200},
			{"a reader", readerToken, namespace, false, 403},
			{"the neighbour", neighbourToken, namespace, false, 403},
			{"the neighbour at home", neighbourToken, elsewhere, false, 404},
			{"the owner elsewhere", ownerToken, elsewhere, false, 403},
			{"the owner without a namespace", ownerToken, "", false, 404},
		} {
			query := ""
			if caller.namespace != "" {
				query = "?namespace=" + caller.namespace
			}
			status, list := h.holding(caller.token).ask(t, http.MethodGet, "/charts"+query, "")
			if status != http.StatusOK || strings.Contains(list, item.Ref) != caller.sees {
				t.Errorf("%s: the list is %d %s", caller.who, status, list)
			}
			if status, answer := h.holding(caller.token).ask(t, http.MethodGet, "/charts/"+item.Ref+query, ""); status != caller.want {
				t.Errorf("%s: the chart is answered with %d %s, want %d", caller.who, status, answer, caller.want)
			}
		}

		// The digest does not help the neighbour.
		install := `{"name":"web","chart":{"ref":"` + item.Ref + `"}}`
		if status, answer := h.holding(neighbourToken).ask(t, http.MethodPost, h.releases(elsewhere), install); status != http.StatusBadRequest || !strings.Contains(answer, "upload it again") {
			t.Errorf("the neighbour's install: %d %s", status, answer)
		}
		console := `{"name":"web","namespace":"` + elsewhere + `","chart_url":"` + item.Ref + `"}`
		if status, answer := h.holding(neighbourToken).ask(t, http.MethodPost, "/api/helm/release/async", console); status < 400 {
			t.Errorf("the neighbour's install in the console: %d %s", status, answer)
		}
		if kind, last := h.holding(editorToken).installs(t, namespace, "web", object{"ref": item.Ref}); kind != helmtrail.TypeCompleted {
			t.Errorf("the editor's install ended %s: %s", kind, last.Message)
		}
	})
}

// What the console's API stores of a chart belongs to the release's namespace.
func TestChartsOfTheConsoleBelongToTheNamespace(t *testing.T) {
	charts, namespace := serveChart(t), clustertest.Namespace(t)
	h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), more: []string{"--chart-hosts", charts.host()}})
	body := object{"name": "web", "namespace": namespace, "chart_url": charts.chart}
	if a := h.console(t, http.MethodPost, "/release", body); a.status != http.StatusOK {
		t.Fatalf("the install was answered with %d %s", a.status, a.body)
	}
	uploads := func(query string) (n int) {
		var list struct{ Items []catalog.Item }
		h.get(t, "/charts"+query, &list)
		for _, i := range list.Items {
			if i.Source == catalog.FromUpload {
				n++
			}
		}
		return n
	}
	if own, all := uploads("?namespace="+namespace), uploads(""); own != 1 || all != 0 {
		t.Errorf("%d uploads are listed in the namespace and %d in all, want 1 and 0", own, all)
	}
}

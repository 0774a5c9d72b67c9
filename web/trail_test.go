package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

type trailAnswer struct {
	Items    []audit.Entry
	State    audit.State
	Continue string
}

func (p *past) entries(path string) trailAnswer {
	p.t.Helper()
	var a trailAnswer
	p.do(http.MethodGet, path, "").decode(http.StatusOK, &a)
	return a
}

// formatted returns a trail's entries as "position kind revision what".
func formatted(entries []audit.Entry) []string {
	var list []string
	for _, e := range entries {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d %s %d %s", e.Position, e.Kind, e.Revision, e.What)))
	}
	return list
}

func TestTheTrailIsPagedAndReportsItsVerification(t *testing.T) {
	p := newPast(t)
	start := time.Now()
	for number := 1; number <= 3; number++ {
		p.put(t, shop{revision: number, status: "superseded", record: lineage("01", "tag")})
	}
	p.put(t, shop{namespace: "prod", revision: 1, status: "superseded", record: lineage("01", "tag")})
	p.remove(t, 1, decoder.ChangePruned)

	own := shopURL + "/web/trail"
	all := p.entries(own)
	want := []string{"1 transition 1", "2 transition 2", "3 transition 3", "5 transition 1"}
	if diff := cmp.Diff(want, formatted(all.Items)); diff != "" || all.Continue != "" {
		t.Errorf("trail (-want +got):\n%s\ncontinue %q", diff, all.Continue)
	}
	if last := all.Items[3]; last.Change != decoder.ChangePruned || last.Digest == "" || last.Previous == "" || last.Lineage == "" {
		t.Errorf("the last entry is %+v", last)
	}
	if !all.State.Verified || all.State.Entries != 5 || all.State.Head == "" {
		t.Errorf("state is %+v", all.State)
	}
	if again := p.entries(own + "?verify=true"); !again.State.Verified || !again.State.Checked.After(all.State.Checked) {
		t.Errorf("verified again, the state is %+v, before %+v", again.State, all.State)
	}
	first := p.entries(own + "?limit=2")
	rest := p.entries(own + "?limit=2&continue=" + first.Continue)
	if diff := cmp.Diff(want, append(formatted(first.Items), formatted(rest.Items)...)); diff != "" || rest.Continue != "" {
		t.Errorf("pages (-want +got):\n%s\nlast continues with %q", diff, rest.Continue)
	}
	lineage := all.Items[0].Lineage
	if got := p.entries(own + "?lineage=" + lineage); len(got.Items) != 4 {
		t.Errorf("the lineage has %d entries", len(got.Items))
	}
	for _, tt := range []struct {
		query string
		want  int
	}{
		{"", 5}, {"?namespace=prod", 1}, {"?release=web", 5}, {"?release=none", 0}, {"?namespace=shop&release=web", 4}, {"?user=nobody", 0},
		{"?since=" + url.QueryEscape(start.Add(time.Hour).Format(time.RFC3339)), 0},
		{"?since=" + url.QueryEscape(start.Add(-time.Hour).Format(time.RFC3339)), 5}, {"?continue=4", 1},
	} {
		if got := p.entries("/dev/trail" + tt.query); len(got.Items) != tt.want || got.Continue != "" {
			t.Errorf("%s gives %d entries, want %d", tt.query, len(got.Items), tt.want)
		}
	}
	for _, query := range []string{"since=yesterday", "continue=x", "limit=0", "verify=perhaps"} {
		p.do(http.MethodGet, own+"?"+query, "").wantError(http.StatusBadRequest, "bad_request")
	}
	p.do(http.MethodGet, own+"?lineage=none", "").wantError(http.StatusNotFound, "not_found")
	p.do(http.MethodGet, shopURL+"/none/trail", "").wantError(http.StatusNotFound, "not_found")
}

// A SIEM fetches the whole trail in one response, and later only new entries.
func TestTheWholeTrailIsServedAsLines(t *testing.T) {
	p := newPast(t)
	const entries = 1200 // more than a page of the trail, and more than is sent at once
	for range entries / 2 {
		revision, data := p.archive.put(t, shop{revision: 1, status: "superseded", record: lineage("01", "tag")})
		p.cluster.keeper.Record(revision, data)
		for _, change := range []decoder.Change{decoder.ChangeStatus, decoder.ChangeRemoved} {
			p.cluster.keeper.See(decoder.Transition{Time: time.Now(), Change: change, Revision: revision})
			p.reported++
		}
	}
	p.settled(t)
	lines := func(query string) []string {
		t.Helper()
		r := p.do(http.MethodGet, "/dev/trail"+query, "", "Accept", "application/x-ndjson")
		if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/x-ndjson" {
			t.Fatalf("%s answers %d as %s: %.200s", query, r.status, r.header.Get("Content-Type"), r.body)
		}
		var positions []string
		scanner := bufio.NewScanner(strings.NewReader(r.body))
		for scanner.Scan() {
			var e audit.Entry
			if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			positions = append(positions, strconv.FormatUint(e.Position, 10))
		}
		return positions
	}
	all := lines("")
	if len(all) != entries || all[0] != "1" || all[entries-1] != strconv.Itoa(entries) {
		t.Errorf("%d lines from %s to %s", len(all), all[0], all[len(all)-1])
	}
	if diff := cmp.Diff([]string{"1199", "1200"}, lines("?continue=1198")); diff != "" {
		t.Errorf("new entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1", "2"}, lines("?limit=2")); diff != "" {
		t.Errorf("with a limit (-want +got):\n%s", diff)
	}
	if got := lines("?release=none"); got != nil {
		t.Errorf("an empty answer is %q", got)
	}
	p.do(http.MethodGet, "/dev/trail?since=x", "", "Accept", "application/x-ndjson").wantError(http.StatusBadRequest, "bad_request")
}

func TestRevealsAreRecordedFirst(t *testing.T) {
	p := newPast(t)
	p.put(t, shop{revision: 1, status: "superseded", record: lineage("01", "a")})
	p.put(t, shop{revision: 2, status: "superseded", record: lineage("01", "b")})
	p.remove(t, 1, decoder.ChangePruned)
	revealed := func() []string {
		t.Helper()
		var reveals []audit.Entry
		for _, e := range p.entries(shopURL + "/web/trail").Items {
			if e.Kind == audit.KindReveal {
				e.Position = 0
				reveals = append(reveals, e)
			}
		}
		return formatted(reveals)
	}
	get := func(path string, headers ...string) response {
		t.Helper()
		return p.do(http.MethodGet, shopURL+path, "", headers...)
	}
	first := get("/web/revisions/1/values?reveal=true")
	if !strings.Contains(first.body, canary) || first.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the revealed answer is %s, Cache-Control %q", first.body, first.header.Get("Cache-Control"))
	}
	want := []string{"0 reveal 1 values"}
	if diff := cmp.Diff(want, revealed()); diff != "" {
		t.Errorf("reveals (-want +got):\n%s", diff)
	}
	// A revealing request is recorded even if it would be answered with 304.
	if again := get("/web/revisions/1/values?reveal=true", "If-None-Match", first.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("the same request is answered with %d", again.status)
	}
	if diff := get("/web/diff?from=1&to=2&reveal=true"); diff.status != http.StatusOK || diff.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the difference is %d, Cache-Control %q", diff.status, diff.header.Get("Cache-Control"))
	}
	want = append(want, "0 reveal 1 values", "0 reveal 1 comparison", "0 reveal 2 comparison")
	if diff := cmp.Diff(want, revealed()); diff != "" {
		t.Errorf("reveals (-want +got):\n%s", diff)
	}
	// Requests that are masked, fail or are rejected are not recorded.
	for _, path := range []string{
		"/web/revisions/1/values", "/web/diff?from=1&to=2", "/web/revisions/7/values?reveal=true", "/web/revisions/1/values?reveal=1",
		"/web/revisions/1/values?reveal=true&all=perhaps", "/web/diff?from=1&to=2&reveal=true&all=perhaps",
	} {
		if r := get(path); strings.Contains(r.body, canary) {
			t.Errorf("%s shows %s", path, r.body)
		}
	}
	if diff := cmp.Diff(want, revealed()); diff != "" {
		t.Errorf("reveals (-want +got):\n%s", diff)
	}
	// The console's contract shows values unmasked.
	const list, newest = "/api/helm/releases?ns=shop", "/api/helm/release?ns=shop&name=web"
	r := p.do(http.MethodGet, list, "")
	if !strings.Contains(r.body, canary) || r.header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("the console's list is %d, Cache-Control %q", r.status, r.header.Get("Cache-Control"))
	}
	if same := p.do(http.MethodGet, list, "", "If-None-Match", r.header.Get("ETag")); same.status != http.StatusNotModified {
		t.Errorf("the same list is answered with %d", same.status)
	}
	p.do(http.MethodGet, newest, "")
	p.do(http.MethodGet, newest, "") // from the same shared answer
	want = append(want, "0 reveal 0 newest revision", "0 reveal 0 newest revision")
	if diff := cmp.Diff(want, revealed()); diff != "" {
		t.Errorf("reveals (-want +got):\n%s", diff)
	}
	var lists int
	for _, e := range p.entries("/dev/trail?namespace=shop").Items {
		if e.What == "releases" && e.Release == "" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("the list was revealed %d times, want 1", lists)
	}
}

func TestNothingIsRevealedThatCannotBeRecorded(t *testing.T) {
	p := newPast(t)
	p.put(t, shop{revision: 1, status: "superseded", record: lineage("01", "a")})
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		shopURL + "/web/revisions/1/values?reveal=true", shopURL + "/web/diff?from=1&to=1&reveal=true",
		"/api/helm/releases?ns=shop", "/api/helm/release?ns=shop&name=web", "/api/helm/release/history?ns=shop&name=web",
	} {
		r := p.do(http.MethodGet, path, "")
		if r.status != http.StatusServiceUnavailable || strings.Contains(r.body, canary) || r.header.Get("ETag") != "" {
			t.Errorf("%s answers %d: %.200s", path, r.status, r.body)
		}
	}
	if values := p.values(t, "1", ""); values["tag"] != "a" {
		t.Errorf("masked values are %v", values)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// trailOf returns a release's entries except gaps. There are none before the
// watch has read the release.
func (h *server) trailOf(t *testing.T, namespace, name string) []audit.Entry {
	t.Helper()
	var page trailPage
	path := h.release(namespace, name) + "/trail"
	switch code := h.call(t, http.MethodGet, path, nil, &page); code {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil
	default:
		t.Fatalf("GET %s answered %d", path, code)
	}
	return slices.DeleteFunc(page.Items, func(e audit.Entry) bool { return e.Kind == audit.KindGap })
}

// awaitEntry waits for an entry and returns all entries of the release.
func (h *server) awaitEntry(t *testing.T, namespace, name string, last func(audit.Entry) bool) []audit.Entry {
	t.Helper()
	var entries []audit.Entry
	eventually(t, "the trail of "+name, func() bool {
		entries = h.trailOf(t, namespace, name)
		return slices.ContainsFunc(entries, last)
	})
	return entries
}

func is(revision int, change decoder.Change, status decoder.Status) func(audit.Entry) bool {
	return func(e audit.Entry) bool {
		return e.Revision == revision && e.Change == change && e.Status == status
	}
}

// changeByte changes one byte in the middle of a stream's only file. It returns
// the file's path and previous content.
func changeByte(t *testing.T, dataDir, stream string) (path string, before []byte) {
	t.Helper()
	path = filepath.Join(dataDir, "journal", "jetstream", "$G", "streams", stream, "msgs", "1.blk")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(before)
	changed[len(changed)/2] ^= 0x20
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, before
}

// Metrics report the damage that helmtrail finds at its start, including damaged
// records.
func TestDamagedRecordsAreReportedInMetrics(t *testing.T) {
	t.Parallel()
	namespace, chart, dataDir := clustertest.Namespace(t), clustertest.Chart(t), t.TempDir()
	a := arguments{helm: clustertest.Binary(t, "helm4"), dataDir: dataDir}
	h := serveOn(t, a)
	if got := metric(h.text(t, "/metrics"), "journal_damaged"); got != 0 {
		t.Errorf("in a new journal %v messages are damaged", got)
	}
	clustertest.Helm(t, 4, "install", "web", chart, "-n", namespace)
	h.awaitEntry(t, namespace, "web", is(1, decoder.ChangeStatus, decoder.StatusDeployed))
	h.stop()
	changeByte(t, dataDir, "RECORDS")
	again := serveOn(t, a)
	if got := metric(again.text(t, "/metrics"), "journal_damaged"); got < 1 {
		t.Errorf("in the damaged journal %v messages are damaged", got)
	}
}

// verifyTrail runs `helmtrail trail verify` and returns its exit code and output.
func verifyTrail(t *testing.T, dataDir string, flags ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = run(t.Context(), append([]string{"trail", "verify", "--data-dir", dataDir}, flags...), &out, &problems)
	return code, out.String(), problems.String()
}

// An auditor verifies the trail while the server runs and while it does not,
// against a head that was stored elsewhere. Tampering is reported with its
// position.
func TestTamperingWithTheTrailIsReported(t *testing.T) {
	t.Parallel()
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprint("helm", version), func(t *testing.T) {
			t.Parallel()
			namespace, chart, dataDir := clustertest.Namespace(t), clustertest.Chart(t), t.TempDir()
			h := serveOn(t, arguments{helm: clustertest.Binary(t, "helm4"), dataDir: dataDir})
			clustertest.Helm(t, version, "install", "web", chart, "-n", namespace)
			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", namespace, "--set", "tag=2")
			h.awaitEntry(t, namespace, "web", is(2, decoder.ChangeStatus, decoder.StatusDeployed))
			code, out, problems := verifyTrail(t, dataDir, "--records")
			head := regexp.MustCompile(`head +([0-9a-f]{64})`).FindStringSubmatch(out)
			if code != 0 || head == nil || !strings.Contains(out, "cluster "+h.cluster+"\n") || !strings.Contains(out, "  verified\n") {
				t.Fatalf("while the server runs, it ends with %d: %s%s", code, out, problems)
			}
			clustertest.Helm(t, version, "uninstall", "web", "-n", namespace)
			h.awaitEntry(t, namespace, "web", is(2, decoder.ChangeUninstalled, decoder.StatusUninstalling))
			h.stop()
			if code, out, problems := verifyTrail(t, dataDir, "--head", head[1], "--records"); code != 0 {
				t.Errorf("with the earlier head it ends with %d: %s%s", code, out, problems)
			}

			for stream, flags := range map[string][]string{"TRAIL": nil, "RECORDS": {"--records"}} {
				path, content := changeByte(t, dataDir, stream)
				code, out, problems := verifyTrail(t, dataDir, flags...)
				if code != 1 || !regexp.MustCompile(`BROKEN at entry \d+: `).MatchString(out) || !strings.Contains(problems, h.cluster) {
					t.Errorf("with a changed byte in %s it ends with %d: %s%s", stream, code, out, problems)
				}
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if code, out, _ := verifyTrail(t, dataDir, "--head", strings.Repeat("0", 64), "-o", "yaml"); code != 1 || !strings.Contains(out, "verified: false") || !strings.Contains(out, "rewritten") {
				t.Errorf("with a foreign head it ends with %d: %s", code, out)
			}
		})
	}
}

func TestVerifyRejectsWrongFlags(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string][]string{
		"no trail": nil, "--at": {"--at", "3"}, "must be table, json or yaml": {"-o", "xml"}, "unknown flag": {"--nonsense"},
	} {
		if code, _, problems := verifyTrail(t, t.TempDir(), flags...); code != 2 || !strings.Contains(problems, want) || !strings.Contains(problems, "helmtrail trail verify --help") {
			t.Errorf("%v ends with %d: %s", flags, code, problems)
		}
	}
}

// A trail that cannot be read is not reported as broken.
func TestVerifyDistinguishesUnreadableFromBroken(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dataDir, trailFolder), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, problems := verifyTrail(t, dataDir); code != 3 || out != "" || !strings.Contains(problems, dataDir) {
		t.Errorf("it ends with %d: %s%s", code, out, problems)
	}
}

// A truncated head, or an empty variable in a script, proves nothing and is not
// an alarm. A misspelt command verifies nothing.
func TestVerifyRejectsAnInvalidHead(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"trail", "verify", "--head", ""}, {"trail", "verify", "--head", "9b82595e"}, {"trail", "verify", "extra"},
		{"trail", "verfy"}, {"trial"}, {"serve", "now"}, {"--nonsense"},
	} {
		var out, problems bytes.Buffer
		if code := run(t.Context(), args, &out, &problems); code != 2 || !strings.Contains(problems.String(), strings.Trim(args[len(args)-1], "-")) {
			t.Errorf("%q ends with %d: %s%s", args, code, out.String(), problems.String())
		}
	}
}

func TestWrongFlagsOfTheTrailAreNamed(t *testing.T) {
	t.Parallel()
	for flag, value := range map[string]string{"--trail-keep": "-1h", "--trail-size": "lots"} {
		var out, problems bytes.Buffer
		if code := run(t.Context(), []string{"serve", "--data-dir", t.TempDir(), flag, value}, &out, &problems); code != 2 || !strings.Contains(problems.String(), flag) {
			t.Errorf("serve %s %s ends with %d: %s", flag, value, code, problems.String())
		}
	}
}

// An entry names only the session that caused it. Helm copies helmtrail's label
// to later revisions of others.
func TestEntriesNameTheSessionThatCausedThem(t *testing.T) {
	t.Parallel()
	for _, version := range clustertest.Versions {
		t.Run(fmt.Sprint("helm", version), func(t *testing.T) {
			t.Parallel()
			namespace, chart := clustertest.Namespace(t), clustertest.Chart(t)
			h := shared.on(t, clustertest.Binary(t, fmt.Sprint("helm", version)))
			own := h.release(namespace, "web")
			do := func(method, path string, body any) string {
				t.Helper()
				answer := h.submit(t, method, path, body)
				h.events(t.Context(), t, answer.Events, 1)
				return answer.SessionID
			}
			install := do(http.MethodPost, h.releases(namespace), object{"name": "web", "chart": object{"ref": "web"}})
			clustertest.Helm(t, version, "upgrade", "web", chart, "-n", namespace, "--set", "tag=2")
			h.awaitEntry(t, namespace, "web", is(2, decoder.ChangeStatus, decoder.StatusDeployed))
			rollback := do(http.MethodPost, own+"/rollback", object{"revision": 1})
			uninstall := do(http.MethodDelete, own, nil)
			entries := h.awaitEntry(t, namespace, "web", is(3, decoder.ChangeUninstalled, decoder.StatusUninstalling))
			names := map[string]string{install: "install", rollback: "rollback", uninstall: "uninstall"}
			var got []string
			for _, e := range entries {
				word := string(e.Status)
				if e.Change != decoder.ChangeStatus {
					word = string(e.Change)
				}
				got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Revision, word, names[e.Session])))
				if e.Digest == "" || e.Late {
					t.Errorf("the record of %d %s is missing", e.Revision, e.Status)
				}
			}
			want := []string{
				"1 pending-install install", "1 deployed install",
				"2 pending-upgrade", "1 superseded", "2 deployed",
				"3 pending-rollback rollback", "2 superseded rollback", "3 deployed rollback",
				"3 uninstalling uninstall", "1 uninstalled uninstall", "2 uninstalled uninstall", "3 uninstalled uninstall",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// After a kill -9 the trail has everything that the killed process saw and
// everything that happened meanwhile, and names the gap.
func TestAKilledHelmtrailLosesNoTrailEntries(t *testing.T) {
	t.Parallel()
	namespace, chart := clustertest.Namespace(t), clustertest.Chart(t)
	a := arguments{helm: clustertest.Binary(t, "helm4"), dataDir: t.TempDir(), charts: filepath.Dir(chart)}
	h := startProgram(t, a)
	helm := func(args ...string) { clustertest.Helm(t, 4, append(args, "-n", namespace)...) }
	helm("install", "web", chart)
	helm("install", "gone", chart)
	helm("upgrade", "web", chart, "--set", "tag=2")
	before := h.awaitEntry(t, namespace, "web", is(2, decoder.ChangeStatus, decoder.StatusDeployed))
	eventually(t, "the start of the gap is stored", func() bool {
		data, err := os.ReadFile(filepath.Join(a.dataDir, trailFolder, h.cluster+".json"))
		var noted struct{ Watched map[string]time.Time }
		return err == nil && json.Unmarshal(data, &noted) == nil && len(noted.Watched) > 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	upgraded := make(chan error, 1)
	go func() {
		_, err := clustertest.TryHelm(t, 4, "upgrade", "web", chart, "--set", "tag=3", "-n", namespace)
		upgraded <- err
		cancel()
	}()
	h.stop() // with SIGKILL, in the middle of the operation
	killed := time.Now()
	if err := <-upgraded; err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	helm("upgrade", "web", chart, "--set", "tag=4")
	helm("uninstall", "gone")

	again := serveOn(t, a)
	entries := again.awaitEntry(t, namespace, "web", func(e audit.Entry) bool { return e.Revision == 4 && e.Status == decoder.StatusDeployed })
	gone := again.awaitEntry(t, namespace, "gone", func(e audit.Entry) bool { return e.Change == decoder.ChangeRemoved && e.Late })
	if diff := cmp.Diff(before, entries[:len(before)]); diff != "" {
		t.Errorf("the earlier entries (-before +after):\n%s", diff)
	}
	if len(gone) == 0 {
		t.Error("the uninstall was not found")
	}
	eventually(t, "every revision has its record", func() bool {
		var past pastList
		again.get(t, again.release(namespace, "web")+"/history", &past)
		if !slices.Equal(past.rows(), []string{"4 deployed", "3 superseded", "2 superseded", "1 superseded"}) {
			return false
		}
		known := map[int]string{}
		for _, e := range again.trailOf(t, namespace, "web") {
			known[e.Revision] = string(e.Status) + map[bool]string{true: "", false: " with its record"}[e.Digest == ""]
		}
		return cmp.Equal(known, map[int]string{
			1: "superseded with its record", 2: "superseded with its record", 3: "superseded with its record", 4: "deployed with its record",
		})
	})
	var page trailPage
	again.get(t, "/"+again.cluster+"/trail?verify=true", &page)
	if !page.State.Verified {
		t.Errorf("the chain is %+v", page.State)
	}
	gaps := slices.DeleteFunc(page.Items, func(e audit.Entry) bool { return e.Kind != audit.KindGap })
	if len(gaps) != 1 || gaps[0].From.IsZero() || gaps[0].From.After(killed) || gaps[0].From.Before(killed.Add(-time.Minute)) || gaps[0].Time.Before(killed) {
		t.Errorf("killed at %v, the gaps are %+v", killed, gaps)
	}
	again.stop()
	if code, out, problems := verifyTrail(t, a.dataDir, "--records", "-o", "json"); code != 0 {
		t.Errorf("verify ends with %d: %s%s", code, out, problems)
	} else if findings := []struct{ Records int }{}; json.Unmarshal([]byte(out), &findings) != nil || len(findings) != 1 || findings[0].Records < len(entries) {
		t.Errorf("verify finds %s, want %d records or more", out, len(entries))
	}
}

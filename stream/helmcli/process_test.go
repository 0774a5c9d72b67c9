package helmcli_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/helmcli"
)

func TestOutputAndEndOfHelm(t *testing.T) {
	tests := []struct {
		name, script, text, exit, message string
	}{
		{
			name:   "stdout and stderr in the order written",
			script: "echo one; echo two >&2; echo three; printf 'no line break'",
			text:   "one\ntwo\nthree\nno line break\n", exit: "0",
		},
		{
			name:   "helm's own error without its stack trace",
			script: `printf 'Error: INSTALLATION FAILED: no\n  such thing\nhelm.go:92: 2026-11-30 12:00:00 +0000 UTC [debug] no\n  such thing\nINSTALLATION FAILED\nmain.newInstallCmd.func2\n\thelm.sh/helm/v3/cmd/helm/install.go:158\ngithub.com/spf13/cobra.(*Command).execute\n\tgithub.com/spf13/cobra@v1.10.1/command.go:1015\nruntime.goexit\n\truntime/asm_amd64.s:1693\n'; exit 1`,
			text:   "Error: INSTALLATION FAILED: no\n  such thing\n", exit: "1",
			message: "INSTALLATION FAILED: no\n  such thing",
		},
		{
			name:   "values, hooks and manifest that --debug dumps are withheld",
			script: `printf 'NAME: web\nSTATUS: deployed\nUSER-SUPPLIED VALUES:\npassword: hunter2\n\nMANIFEST:\n---\nkind: Secret\n'`,
			text:   "NAME: web\nSTATUS: deployed\n", exit: "0",
		},
		{
			name:   "the values schema that helm 4 dumps is withheld",
			script: `echo 'level=DEBUG msg="unmarshalled JSON schema" schema="{}"'; echo after`,
			text:   "after\n", exit: "0",
		},
		{
			name:   "killed from outside",
			script: "echo begin; kill -KILL $$",
			text:   "begin\n", exit: "SIGKILL",
		},
		{
			name:   "bytes that are not UTF-8",
			script: `printf 'a\377b\r\n'`,
			text:   "a\ufffdb\n", exit: "0",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			lines, end := follow(t.Context(), t, start(t, standIn(t, "v3.22.0", test.script), install()))
			if diff := cmp.Diff(test.text, text(lines)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if got := exitCode(end); got != test.exit {
				t.Errorf("helm ended with %s, want %s", got, test.exit)
			}
			if end.Message != test.message {
				t.Errorf("message %q, want %q", end.Message, test.message)
			}
		})
	}
}

// A line over 64 KiB stopped the reader of
// https://github.com/GoogleCloudPlatform/guest-agent/issues/215, and the lines after
// it were lost. Here a line is limited to 16 KiB, and the rest of it is dropped.
func TestALongLineDoesNotStopTheOutput(t *testing.T) {
	script := "echo before; head -c 204800 /dev/zero | tr '\\0' x; echo; echo after; head -c 5242880 /dev/zero | tr '\\0' y; exit 1"
	lines, end := follow(t.Context(), t, start(t, standIn(t, "v4.3.2", script), install()))
	type seen struct {
		First     string
		Length    int
		Truncated bool
	}
	var got []seen
	for _, l := range lines {
		got = append(got, seen{l.Text[:1], len(l.Text), l.Truncated})
	}
	want := []seen{{"b", 6, false}, {"x", 16384, true}, {"a", 5, false}, {"y", 16384, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if exitCode(end) != "1" {
		t.Errorf("helm ended with %s, want 1", exitCode(end))
	}
}

// A reader that stops and resumes, as helmtrail does when it is restarted, gets every
// line once.
func TestFollowingResumesFromAnOffset(t *testing.T) {
	p := start(t, standIn(t, "v4.3.2", "for i in $(seq 1 3000); do echo line $i; done"), install())
	enough := errors.New("enough")
	var lines []backend.Line
	for {
		var offset int64
		if len(lines) > 0 {
			offset = lines[len(lines)-1].Offset
		}
		taken := 0
		_, err := p.Follow(t.Context(), offset, func(l backend.Line) error {
			if taken == 700 {
				return enough
			}
			taken++
			lines = append(lines, l)
			return nil
		})
		if err == nil {
			break
		}
		if !errors.Is(err, enough) {
			t.Fatal(err)
		}
	}
	if len(lines) != 3000 {
		t.Fatalf("got %d lines, want 3000", len(lines))
	}
	for i, l := range lines {
		if want := "line " + strconv.Itoa(i+1); l.Text != want {
			t.Fatalf("line %d is %q, want %q", i, l.Text, want)
		}
	}
}

func TestStoppingHelm(t *testing.T) {
	tests := []struct {
		name, script, exit string
		grace              time.Duration
	}{
		{"that ends by itself", "trap 'echo bye; exit 1' TERM; echo ready; while :; do sleep 0.05; done", "1", time.Minute},
		{"that ignores SIGTERM", "trap '' TERM; echo ready; while :; do sleep 0.05; done", "SIGKILL", 100 * time.Millisecond},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, standIn(t, "v4.3.2", test.script), install())
			end, err := p.Follow(t.Context(), 0, func(l backend.Line) error {
				if l.Text == "ready" {
					_, err := p.Stop(backend.StopCanceled, test.grace)
					return err
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if exitCode(end) != test.exit || end.Stop != backend.StopCanceled {
				t.Errorf("helm ended with %s, stop %q; want %s, canceled", exitCode(end), end.Stop, test.exit)
			}
		})
	}
}

func TestTheDeadlineEndsHelm(t *testing.T) {
	p := prepare(t, standIn(t, "v4.3.2", "sleep 600 & wait"), install())
	if err := p.Start(t.Context(), backend.Launch{Deadline: 100 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	_, end := follow(t.Context(), t, p)
	if end.Stop != backend.StopTimeout {
		t.Errorf("stop is %q, want timeout", end.Stop)
	}
}

// A grandchild that inherited the output kept the pipe open, and the wait never
// ended: https://github.com/golang/go/issues/13155. A grandchild in Helm's process
// group is killed with it. One outside the group is waited for at most 2 s.
func TestAGrandchildThatHoldsThePipeDoesNotDelayTheEnd(t *testing.T) {
	for _, script := range []string{"sleep 300 & echo $!", "setsid sleep 300 & echo $!"} {
		began := time.Now()
		lines, end := follow(t.Context(), t, start(t, standIn(t, "v4.3.2", script), install()))
		if exitCode(end) != "0" || len(lines) != 1 {
			t.Fatalf("%s: helm ended with %s after %d lines, want 0 after 1", script, exitCode(end), len(lines))
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: took %v", script, took)
		}
		pid, err := strconv.Atoi(lines[0].Text)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = killProcess(pid) })
	}
}

func TestTheFolderIsPrivateAndRemoved(t *testing.T) {
	h := standIn(t, "v4.3.2", "cat \"$KUBECONFIG\"; echo; env | cut -d= -f1 | sort | grep -vE '^(PWD|SHLVL|_|OLDPWD)$'")
	t.Setenv("HELMTRAIL_SECRET", "canary")
	request := install()
	request.Values = []byte("password: canary\n")
	if err := h.Check(request); err != nil {
		t.Fatal(err)
	}
	p, err := h.Prepare(session, request)
	if err != nil {
		t.Fatal(err)
	}
	left, err := h.Left()
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Session() != session || left[0].Request().Values != nil {
		t.Errorf("left is %v, want the session without its values", left)
	}
	if err := p.Start(t.Context(), backend.Launch{Kubeconfig: []byte("credentials"), Deadline: time.Minute, StartRevision: 4}); err != nil {
		t.Fatal(err)
	}
	if launch, ok := left[0].Launched(); !ok || launch.StartRevision != 4 {
		t.Errorf("launched with %v, %v; want revision 4", launch, ok)
	}
	lines, _ := follow(t.Context(), t, p)
	output := text(lines)
	if !strings.HasPrefix(output, "credentials\n") {
		t.Errorf("helm did not get the kubeconfig: %q", output)
	}
	for _, name := range []string{"HOME", "KUBECONFIG", "HELM_CACHE_HOME", "HELM_PLUGINS"} {
		if !strings.Contains(output, name+"\n") {
			t.Errorf("helm did not get %s", name)
		}
	}
	if strings.Contains(output, "HELMTRAIL_SECRET") {
		t.Error("helm inherited helmtrail's own environment")
	}
	for _, l := range h.Command(session.ID, request) {
		if strings.Contains(l, "canary") {
			t.Errorf("the shown command holds a value: %q", l)
		}
	}
	folder := left[0].(*helmcli.Process).Folder()
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func killProcess(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return process.Kill()
}

func TestASupervisorThatIsKilled(t *testing.T) {
	p := start(t, standIn(t, "v4.3.2", "echo $PPID $$; exec sleep 300"), install())
	end, err := p.Follow(t.Context(), 0, func(l backend.Line) error {
		supervisor, _, _ := strings.Cut(l.Text, " ")
		pid, err := strconv.Atoi(supervisor)
		if err != nil {
			return err
		}
		return killProcess(pid)
	})
	if err != nil {
		t.Fatal(err)
	}
	if end.Exit != nil || end.Problem == "" {
		t.Errorf("got %+v, want no exit and a problem", end)
	}
}

// A password that was given as a value, or that the release already has, is masked in
// Helm's output before it is written anywhere.
func TestHelmsOutputIsMasked(t *testing.T) {
	const given, known = "canary-of-the-values", "canary-of-the-record"
	request := install()
	request.Values = []byte("db:\n  password: " + given + "\n")
	p := prepare(t, standIn(t, "v4.3.2", "echo given "+given+"; echo known "+known+"; echo Error: no "+given+"; exit 1"), request)
	if err := p.Start(t.Context(), backend.Launch{
		Deadline: time.Minute, MaskKey: []byte("0123456789abcdef"),
		Known: []mask.Source{{Manifests: []string{"kind: Secret\nstringData:\n  token: " + known + "\n"}}},
	}); err != nil {
		t.Fatal(err)
	}
	lines, end := follow(t.Context(), t, p)
	everything := text(lines) + end.Message + p.Mask("text "+given+" "+known)
	if strings.Contains(everything, "canary") || !strings.Contains(everything, "given «masked:") || !strings.Contains(end.Message, "no «masked:") {
		t.Errorf("not masked: %s", everything)
	}
	spool, err := os.ReadFile(filepath.Join(p.(*helmcli.Process).Folder(), "spool"))
	if err != nil || strings.Contains(string(spool), "canary") {
		t.Errorf("the spool is %s, %v", spool, err)
	}
}

// Helm's output and the reasons of failures do not show how the server is set up.
func TestServerPathsAreNotShown(t *testing.T) {
	h := standIn(t, "v4.3.2", `for a in "$0" "$@" "$HOME" "$KUBECONFIG" "$(pwd)"; do echo "line $a"; done; echo "Error: open $KUBECONFIG: denied; see https://example.com$0"; exit 1`)
	request := install()
	request.Values = []byte("size: 1\n")
	p := start(t, h, request)
	lines, end := follow(t.Context(), t, p)
	folder := p.(*helmcli.Process).Folder()
	everything := text(lines) + end.Message + p.Mask("open "+folder+"/spool: no space left on device, "+folder+", "+filepath.Dir(folder)+"/other")
	withoutURL := strings.ReplaceAll(everything, "https://example.com/", "")
	for _, part := range []string{filepath.Dir(folder), filepath.Dir(filepath.Dir(folder)), " /"} {
		if strings.Contains(withoutURL, part) {
			t.Errorf("%q is shown in:\n%s", part, everything)
		}
	}
	for _, want := range []string{"line helm\n", "--values=values.yaml\n", "line web\n", "line home\n", "open kubeconfig: denied; see https://example.com/", "open spool: no space", "the session's folder, the sessions' folder/other"} {
		if !strings.Contains(everything, want) {
			t.Errorf("%q is missing in:\n%s", want, everything)
		}
	}
}

// Helm finds the plugins in its private folder only, which has none.
func TestHelmFindsNoPluginsOfTheServer(t *testing.T) {
	for _, name := range []string{"HELM_PLUGINS", "HELM_DATA_HOME", "HELM_CONFIG_HOME", "XDG_DATA_HOME", "HOME"} {
		t.Setenv(name, t.TempDir())
	}
	lines, _ := follow(t.Context(), t, start(t, standIn(t, "v4.3.2", `env | grep -E "^(HELM|XDG|HOME)"; ls "$HELM_PLUGINS" "$HELM_DATA_HOME" 2>/dev/null || true`), install()))
	for line := range strings.Lines(text(lines)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if private := strings.HasPrefix(value, "home") || value == "kubeconfig" || name == "HELM_DRIVER"; !ok || !private {
			t.Errorf("helm's environment has %s", line)
		}
	}
}

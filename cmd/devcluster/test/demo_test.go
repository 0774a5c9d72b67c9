package test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemo runs the command of `make demo` on a port that is taken, and presses Ctrl-C
// while a Helm is running.
func TestDemo(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	p := launch(t, "demo", "--dir", dir,
		"--helmtrail", binary(t, "helmtrail"), "--helm", binary(t, "helm4"),
		"--charts", filepath.Join("..", "..", "..", "deploy", "demo", "charts"),
		"--listen", taken.Addr().String())

	page := ""
	deadline := time.After(patience)
	said := ""
	for page == "" || !strings.Contains(said, "Ctrl-C stops everything") {
		select {
		case line, open := <-p.output:
			if !open {
				p.Wait()
				t.Fatalf("the demo ended:\n%s\n%s", said, p.stderr)
			}
			said += line + "\n"
			if line = strings.TrimSpace(line); strings.HasSuffix(line, "/helm/releases") {
				page = line
			}
		case <-deadline:
			t.Fatalf("the demo is not up after %v:\n%s\n%s", patience, said, p.stderr)
		}
	}
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	if want := "port " + port + " is taken"; !strings.Contains(said, want) || strings.Contains(page, ":"+port) {
		t.Errorf("the demo serves %s and printed %q, want another port and %q", page, said, want)
	}

	base := strings.TrimSuffix(page, "/helm/releases")
	eventually(t, func() error {
		got, err := statuses(base)
		if err != nil {
			return err
		}
		want := map[string]string{"storefront": "deployed 4", "checkout": "failed 1", "reports": "pending-install 1"}
		for name, status := range want {
			if got[name] != status {
				return fmt.Errorf("releases are %v, want %v", got, want)
			}
		}
		return nil
	})
	if left := processesOf(t, dir); len(left) < 2 {
		t.Fatalf("processes of the demo are %v, want helmtrail and a helm among them", left)
	}

	// A terminal sends Ctrl-C to the whole group.
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the demo ended with %v:\n%s", err, p.stderr)
		}
	case <-time.After(patience):
		t.Fatalf("the demo is still running %v after Ctrl-C:\n%s", patience, p.stderr)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// statuses returns the releases of helmtrail's only cluster by name, as status and
// revision.
func statuses(base string) (map[string]string, error) {
	response, err := http.Get(base + "/dev/releases")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var list struct {
		Items []struct {
			Name     string `json:"name"`
			Status   string `json:"status"`
			Revision int    `json:"revision"`
		} `json:"items"`
	}
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, release := range list.Items {
		found[release.Name] = fmt.Sprintf("%s %d", release.Status, release.Revision)
	}
	return found, nil
}

// processesOf returns the processes that have dir in their command line or
// environment, in any process group or session.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		command, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || entry.Name() == "self" || entry.Name() == "thread-self" {
			continue // not a process, or one that has just ended
		}
		environment, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if strings.Contains(string(command), dir) || strings.Contains(string(environment), dir) {
			found = append(found, entry.Name()+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

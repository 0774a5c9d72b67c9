package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// A core dump holds every token and secret that a process has seen.
func TestNoProcessLeavesACoreDump(t *testing.T) {
	h, namespace := startProgram(t, arguments{helm: clustertest.Binary(t, "helm4")}), clustertest.Namespace(t)
	answer := h.startInstall(t, namespace)
	supervisor, helm := processes(t, answer.SessionID)
	for what, pid := range map[string]int{"helmtrail": h.pid, "the supervisor": supervisor, "helm": helm} {
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(limits), "Max core file size")
		if fields := strings.Fields(rest); len(fields) < 2 || fields[0] > "1" || fields[1] > "1" {
			t.Errorf("%s may write a core dump of %.40s bytes", what, rest)
		}
	}
	if code := h.cancel(t, namespace, answer, nil); code != http.StatusAccepted {
		t.Fatalf("cancel answered %d", code)
	}
	end(t, h.events(t.Context(), t, answer.Events, 1))
}

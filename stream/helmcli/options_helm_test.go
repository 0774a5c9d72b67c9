package helmcli

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail"
)

// The real Helm has every flag of the table, with a value or without one as
// stated there.
func TestHelmHasTheFlags(t *testing.T) {
	for _, major := range []int{3, 4} {
		h := realHelm(t, major, Config{})
		for _, operation := range allOperations {
			help, err := exec.CommandContext(t.Context(), h.path, string(operation), "--help").Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range options {
				f := o.flag(major)
				if f.name == "" || !slices.Contains(o.operations, operation) {
					continue
				}
				// --help prints the type after the name of a flag that takes a value.
				match := regexp.MustCompile(`(?m)^ +(?:-\w, )?--` + f.name + `( [A-Za-z]\S*)?(?:  |$)`).FindStringSubmatch(string(help))
				optional := strings.Contains(string(help), "--"+f.name+" WaitStrategy[")
				if match == nil || (match[1] == "") != f.bare && !optional && !boolean(o) {
					t.Errorf("helm %d %s --help has no --%s as the table says: %q", major, operation, f.name, match)
				}
			}
		}
	}
}

// boolean reports whether Helm parses an option's arguments as a boolean flag, which
// needs no value.
func boolean(o option) bool { return o.field == "serverSide" && len(o.operations) == 1 }

// Helm accepts the words in the table as values of its flags: it continues and looks
// for the chart.
func TestHelmAcceptsTheWords(t *testing.T) {
	for _, major := range []int{3, 4} {
		h := realHelm(t, major, Config{ChartDir: t.TempDir()})
		for _, options := range []helmtrail.Options{
			{Wait: "true"}, {Wait: "legacy"}, {Wait: "hookOnly"}, {Wait: "watcher"}, {DryRun: "client"}, {DryRun: "server"},
			{ServerSide: "true"}, {ServerSide: "false"}, {ServerSide: "false", ForceReplace: true}, {ForceConflicts: true},
			{Labels: map[string]string{"team": "blue"}, Description: "a, b=c", TimeoutSeconds: 5},
			{RollbackOnFailure: true, WaitForJobs: true, TakeOwnership: true, SkipCRDs: true, SkipSchemaValidation: true, DisableOpenAPIValidation: true},
		} {
			request := helmtrail.Request{Operation: helmtrail.OperationInstall, Release: helmtrail.ReleaseRef{Namespace: "shop", Name: "web"}, Options: options}
			if h.checkOptions(request) != nil {
				continue // the other helm's
			}
			arguments := h.commandLine("s", request, "", nil, "./no-such-chart")
			command := exec.CommandContext(t.Context(), h.path, arguments...)
			command.Env = environment(folder(t.TempDir()), nil)
			said, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(said), `path "./no-such-chart" not found`) {
				t.Errorf("helm %d and %s:\n%s", major, fmt.Sprint(arguments), said)
			}
		}
	}
}

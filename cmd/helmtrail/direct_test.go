package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/helmtrail/helmtrail/drift"
	"github.com/helmtrail/helmtrail/informer/clustertest"
)

// directly installs and upgrades a release "web". It returns a function that runs
// helmtrail's commands on it.
func directly(t *testing.T, version int, chart string) (namespace string, command func(args ...string) (stdout, stderr string, code int)) {
	t.Helper()
	namespace = clustertest.Namespace(t)
	clustertest.Helm(t, version, "install", "web", chart, "--namespace", namespace, "--set", "db.password="+valuePassword+",count=3", "--labels", "team=green")
	clustertest.Helm(t, version, "upgrade", "web", chart, "--namespace", namespace, "--reuse-values", "--set", "plain.kept=2,db.password="+valuePassword+"2")
	return namespace, func(args ...string) (string, string, int) {
		var out, problems bytes.Buffer
		code := run(t.Context(), append(args, "--kubeconfig", clustertest.Kubeconfig(t), "-n", namespace), &out, &problems)
		return out.String(), problems.String(), code
	}
}

func TestGetPrintsWhatHelmGetPrints(t *testing.T) {
	eachHelm(t, func(t *testing.T, helm string) {
		version := 3
		if strings.HasSuffix(helm, "4") {
			version = 4
		}
		namespace, command := directly(t, version, auditedChart(t, valuePassword))
		for _, revision := range []string{"1", "2"} {
			for _, c := range []struct {
				helm, ours []string
				// reader is the Helm whose output is compared.
				reader int
			}{
				{[]string{"manifest"}, []string{"manifest"}, version},
				{[]string{"hooks"}, []string{"hooks"}, version},
				{[]string{"notes"}, []string{"notes"}, version},
				{[]string{"values"}, []string{"values"}, version},
				{[]string{"values", "--all"}, []string{"values", "--all"}, version},
				{[]string{"values", "-o", "json"}, []string{"values", "-o", "json"}, version},
				{[]string{"values", "-o", "yaml"}, []string{"values", "-o", "yaml"}, version},
				{[]string{"metadata"}, []string{"metadata"}, 4},
			} {
				want := clustertest.Helm(t, c.reader, append([]string{"get", c.helm[0], "web", "--namespace", namespace, "--revision", revision}, c.helm[1:]...)...)
				got, stderr, code := command(append([]string{"get", "web", "--reveal", "--revision", revision, "--part", c.ours[0]}, c.ours[1:]...)...)
				if diff := cmp.Diff(want, got); code != 0 || diff != "" {
					t.Errorf("get %q of revision %s ends with %d: %s (-helm +helmtrail)\n%s", c.ours, revision, code, stderr, diff)
				}
			}
			for _, part := range partNames {
				if masked, stderr, code := command("get", "web", "--revision", revision, "--part", string(part)); code != 0 || seen(masked) != nil {
					t.Errorf("%s of revision %s ends with %d: %s%s", part, revision, code, masked, stderr)
				}
			}
		}
		one, _, code := command("get", "web", "-o", "json")
		var line revisionLine
		if err := json.Unmarshal([]byte(one), &line); err != nil || code != 0 || line.Revision != 2 || line.Status != "deployed" {
			t.Errorf("get ends with %d: %s, %v", code, one, err)
		}

		history, stderr, code := command("history", "web", "-o", "json")
		var lines []revisionLine
		if err := json.Unmarshal([]byte(history), &lines); err != nil || code != 0 || len(lines) != 2 || lines[0].Revision != 2 || lines[1].Status != "superseded" || lines[1].Digest == "" {
			t.Errorf("history ends with %d: %s%s, %v", code, history, stderr, err)
		}
		table, _, _ := command("history", "web")
		if rows := strings.Split(strings.TrimSpace(table), "\n"); len(rows) != 3 || !strings.HasPrefix(rows[0], "REVISION") || !strings.HasPrefix(rows[1], "2 ") {
			t.Errorf("history prints\n%s", table)
		}
	})
}

func TestDiffAndDriftHaveTheExitCodesOfDiff(t *testing.T) {
	t.Parallel()
	namespace, command := directly(t, 4, auditedChart(t, valuePassword))
	out, stderr, code := command("diff", "web")
	if code != 1 || stderr != "" || seen(out) != nil {
		t.Errorf("diff ends with %d: %s%s", code, out, stderr)
	}
	for _, want := range []string{"# values\n", "- db.password: \"«masked:", "+ plain: {\"kept\":2}", "# manifest: changed ConfigMap audited\n", "-Revision 1: log in", "+Revision 2: log in"} {
		if !strings.Contains(out, want) {
			t.Errorf("diff does not print %q:\n%s", want, out)
		}
	}
	if out, _, code := command("diff", "web", "--from", "1", "--to", "1"); code != 0 || out != "" {
		t.Errorf("diff of a revision with itself ends with %d: %s", code, out)
	}
	if strings.Contains(out, "# chart") {
		t.Errorf("the same chart differs:\n%s", out)
	}
	if out, _, code := command("diff", "web", "-o", "json", "--part", "hooks"); code != 1 || !strings.Contains(out, `"from":1,"to":2,"identical":false,"values":[],`) {
		t.Errorf("diff as JSON ends with %d: %s", code, out)
	}
	if _, stderr, code := command("diff", "web", "--to", "7"); code != 3 || !strings.Contains(stderr, "there is no revision 7 of release web") {
		t.Errorf("a missing revision: %d %s", code, stderr)
	}
	if _, stderr, code := command("diff", "web", "--part", "none"); code != 2 {
		t.Errorf("an unknown part: %d %s", code, stderr)
	}

	if out, stderr, code := command("drift", "web"); code != 0 || out != "Revision 2: 3 same\n" {
		t.Errorf("drift ends with %d: %s%s", code, out, stderr)
	}
	patch := `{"data":{"revision":"3","more":"x"}}`
	if _, err := clustertest.Core(t).ConfigMaps(namespace).Patch(t.Context(), "audited", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "by-hand"}); err != nil {
		t.Fatal(err)
	}
	out, stderr, code = command("drift", "web")
	if code != 1 || stderr != "" {
		t.Errorf("drift ends with %d: %s%s", code, out, stderr)
	}
	golden(t, "drift.txt", strings.ReplaceAll(out, namespace, "test-12345678"))
	var found drift.Report
	out, _, code = command("drift", "web", "-o", "json")
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 1 || !found.Drifted {
		t.Errorf("drift as JSON ends with %d: %s, %v", code, out, err)
	}
	if _, stderr, code := command("drift", "absent"); code != 3 || !strings.Contains(stderr, "there is no release absent in namespace "+namespace) {
		t.Errorf("a missing release: %d %s", code, stderr)
	}
}

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares printed text with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-golden +printed; -update rewrites it):\n%s", name, diff)
	}
}

// command runs helmtrail and returns its output and exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	code = run(t.Context(), args, &out, &problems)
	return out.String(), problems.String(), code
}

// fixtureFiles returns the files with release Secrets written by real Helms.
func fixtureFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "decoder", "testdata", "helm*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures found: %v", err)
	}
	return files
}

func TestEveryFormOfARecordIsDecoded(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, file := range fixtureFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > 100<<10 {
			continue // A large record has no other form and takes long.
		}
		var secret map[string]any
		if err := yaml.Unmarshal(content, &secret); err != nil {
			t.Fatal(err)
		}
		want, stderr, code := command(t, "decode", file, "--part", "manifest")
		if code != 0 || want == "" {
			t.Fatalf("%s ends with %d: %s", file, code, stderr)
		}
		twice := secret["data"].(map[string]any)["release"].(string)
		once, err := base64.StdEncoding.DecodeString(twice)
		if err != nil {
			t.Fatal(err)
		}
		compressed, err := base64.StdEncoding.DecodeString(string(once))
		if err != nil {
			t.Fatal(err)
		}
		raw, _, _ := command(t, "decode", file, "--part", "raw", "--reveal")
		encoded, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		list, err := json.Marshal(map[string]any{"kind": "List", "apiVersion": "v1", "items": []any{secret}})
		if err != nil {
			t.Fatal(err)
		}
		labels := secret["metadata"].(map[string]any)["labels"]
		configMap, err := yaml.Marshal(map[string]any{
			"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "x", "labels": labels}, "data": map[string]any{"release": string(once)},
		})
		if err != nil {
			t.Fatal(err)
		}
		for form, content := range map[string][]byte{
			"json": encoded, "list": list, "configmap": configMap, "several": append([]byte("---\n# nothing\n---\n"), content...),
			"twice": []byte(twice + "\n"), "once": once, "gzip": compressed, "raw": []byte(raw),
		} {
			got, stderr, code := command(t, "decode", write(form, content), "--part", "manifest")
			if code != 0 || got != want {
				t.Errorf("%s as %s ends with %d: %s%s", file, form, code, stderr, cmp.Diff(want, got))
			}
		}
	}
}

func TestDecodePrintsTablesJSONAndYAML(t *testing.T) {
	web := filepath.Join("..", "..", "decoder", "testdata", "helm4", "web.v2.yaml")
	for name, args := range map[string][]string{
		"decode.txt":          {"decode", web},
		"decode.json":         {"decode", web, "-o", "json"},
		"decode.yaml":         {"decode", web, "-o", "yaml"},
		"decode-values.txt":   {"decode", web, "--part", "values"},
		"decode-all.json":     {"decode", web, "--part", "values", "--all", "-o", "json"},
		"decode-manifest.txt": {"decode", web, "--part", "manifest"},
		"decode-hooks.json":   {"decode", web, "--part", "hooks", "-o", "json"},
		"decode-notes.txt":    {"decode", web, "--part", "notes"},
		"decode-metadata.txt": {"decode", web, "--part", "metadata"},
		"decode-chart.txt":    {"decode", web, "--part", "chart"},
	} {
		out, stderr, code := command(t, args...)
		if code != 0 {
			t.Errorf("%q ends with %d: %s", args, code, stderr)
		}
		golden(t, name, out)
	}
}

func TestDecodeReportsUnreadableDocuments(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, type: %s, metadata: {name: %s, namespace: shop, labels: {name: web, version: '3', status: failed}}, data: {release: %s}}\n"
	good, err := os.ReadFile(filepath.Join("..", "..", "decoder", "testdata", "helm3", "web.v1.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content, stdout, stderr string
	}{
		"nothing":       {"", "", "there is no helm record in it"},
		"another type":  {fmt.Sprintf(secret, "Opaque", "a", "YQ=="), "", `document 1 (Secret shop/a): is of type "Opaque"`},
		"another kind":  {"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "", "document 1 (Service a): is neither a Secret nor a ConfigMap"},
		"not base64":    {fmt.Sprintf(secret, "helm.sh/release.v1", "a", "'%%'"), "", "document 1 (Secret shop/a): its data is not base64"},
		"no data":       {fmt.Sprintf(secret, "helm.sh/release.v1", "a", "''"), "", "document 1 (Secret shop/a): has no record under the key release"},
		"a broken one":  {string(good) + "---\n" + fmt.Sprintf(secret, "helm.sh/release.v1", "a", "YWJj"), "failed", "document 2 (Secret shop/a): decode release record: not a helm record"},
		"not YAML":      {"a: b: c\n", "", "document 1: is neither YAML nor JSON"},
		"a key twice":   {string(good) + string(good), "", "has a key twice"},
		"cut off":       {string(good[:len(good)/2]), "", "document 1"},
		"within a list": {"kind: List\nitems:\n- " + fmt.Sprintf(secret, "helm.sh/release.v1", "b", "YWJj"), "web", "item 1 (Secret shop/b): decode release record"},
	} {
		path := filepath.Join(t.TempDir(), "input.yaml")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, stderr, code := command(t, "decode", path)
		if code != 1 || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) || !strings.Contains(stderr, path+": ") {
			t.Errorf("%s ends with %d\n%s%s", name, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"decode"}, {"decode", "a", "b"}, {"decode", "a", "--part", "none"}, {"decode", "a", "--all"}, {"decode", "a", "-o", "xml"}, {"decode", "a", "--part", "notes", "-o", "yaml"}} {
		if _, stderr, code := command(t, args...); code != 2 {
			t.Errorf("%q ends with %d: %s", args, code, stderr)
		}
	}
	if _, stderr, code := command(t, "decode", "/does/not/exist"); code != 1 || !strings.Contains(stderr, "/does/not/exist") {
		t.Errorf("a missing file: %d %s", code, stderr)
	}
	if _, stderr, code := command(t, "decode", t.TempDir()); code != 1 || strings.Count(stderr, "read ") != 1 || !strings.HasSuffix(stderr, ": is a directory\n") {
		t.Errorf("a folder: %d %s", code, stderr)
	}
}

func TestPartsOfSeveralRecordsAreSeparated(t *testing.T) {
	var content bytes.Buffer
	for _, name := range []string{"web.v1.yaml", "web.v2.yaml"} {
		one, err := os.ReadFile(filepath.Join("..", "..", "decoder", "testdata", "helm4", name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&content, "---\n%s\n", one)
	}
	path := filepath.Join(t.TempDir(), "backup.yaml")
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := command(t, "decode", path, "--part", "notes")
	for n, want := range []string{"---\n# document 1 (Secret fixtures-helm4/sh.helm.release.v1.web.v1)\nNOTES:\n", "---\n# document 2 (Secret fixtures-helm4/sh.helm.release.v1.web.v2)\nNOTES:\n"} {
		if at := strings.Index(out, want); code != 0 || at < 0 || n == 0 && at > 0 {
			t.Errorf("decode ends with %d and does not print %q: %s%s", code, want, out, stderr)
		}
	}
	out, _, _ = command(t, "decode", path, "--part", "values", "-o", "json")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2 || !json.Valid([]byte(lines[0])) || !json.Valid([]byte(lines[1])) {
		t.Errorf("as JSON it prints %q", out)
	}
	if out, _, code := command(t, "decode", path); code != 0 || strings.Count(out, "\n") != 3 {
		t.Errorf("decode ends with %d: %s", code, out)
	}
}

func TestDecodeMasksSecretsUnlessAsked(t *testing.T) {
	record := `{"name":"web","version":1,"namespace":"shop","info":{"status":"deployed","description":"x"},"config":{"db":{"password":"canary-1234"}},"manifest":"kind: ConfigMap\nmetadata: {name: a}\ndata: {url: canary-1234}\n"}`
	path := filepath.Join(t.TempDir(), "record.json")
	if err := os.WriteFile(path, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, part := range partNames {
		masked, stderr, code := command(t, "decode", path, "--part", string(part))
		if code != 0 || strings.Contains(masked, "canary") {
			t.Errorf("%s ends with %d: %s%s", part, code, masked, stderr)
		}
	}
	if shown, _, _ := command(t, "decode", path, "--part", "values", "--reveal"); !strings.Contains(shown, "canary-1234") {
		t.Errorf("revealed: %s", shown)
	}
}

package mask_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
)

func boundedMasker() *mask.Masker {
	return mask.New([]byte("0123456789abcdef"), mask.Release{Cluster: "dev", Namespace: "shop", Name: "web"})
}

func TestTooManySecretsAreNotShown(t *testing.T) {
	var values strings.Builder
	values.WriteString(`{"passwords":["first-secret"`)
	for i := range 60_000 {
		fmt.Fprintf(&values, `,"secret-number-%d"`, i)
	}
	values.WriteString("]}")
	s := boundedMasker().Collect(mask.Source{Values: []json.RawMessage{json.RawMessage(values.String())}})
	if !errors.Is(s.Err(), decoder.ErrTooLarge) {
		t.Fatalf("the error is %v, want one of size", s.Err())
	}
	for _, shown := range []string{s.Text("it is secret-number-59999"), s.Line("secret-number-3"), s.Manifest("a: secret-number-59999\n"), string(s.Schema([]byte(`{"default":"secret-number-59999"}`)))} {
		if strings.Contains(shown, "secret-number") {
			t.Errorf("shown although secrets may be missing: %q", shown)
		}
	}
	if _, err := s.Values(json.RawMessage(`{"a":"secret-number-59999"}`), nil); !errors.Is(err, decoder.ErrTooLarge) {
		t.Errorf("the error of values is %v, want one of size", err)
	}
}

func TestADocumentTooLargeToReadHidesTheRelease(t *testing.T) {
	manifest := "kind: Secret\nstringData: {k: [" + strings.Repeat("1,", 300_000) + "1], p: hidden-in-here}\n"
	s := boundedMasker().Collect(mask.Source{Manifests: []string{manifest}})
	if got := s.Text("hidden-in-here") + s.Manifest(manifest); strings.Contains(got, "hidden-in-here") {
		t.Errorf("shown: %.80q", got)
	}
}

// Each of these took minutes or gigabytes for a megabyte.
func TestHostileTextsAreMaskedInBoundedTime(t *testing.T) {
	const size = 1 << 20
	repeat := func(text string) string { return strings.Repeat(text, size/len(text)) }
	alike := []string{"aaaaaaaa"}
	for i := range 250 {
		alike = append(alike, strings.Repeat("a", 1000+100*i)+"b", strings.Repeat("a", 100+i)+"c")
	}
	for name, text := range map[string]string{
		"computed values":     repeat("pwd:<"),
		"values in a URL":     repeat("?key=x"),
		"known everywhere":    repeat("a"),
		"assigned everywhere": repeat("pwd:x "),
		"private keys":        repeat("-----BEGIN PRIVATE KEY-----"),
		"logins":              repeat("://a:b@"),
		"half logins":         repeat("://a:b"),
		"flags":               repeat("--pwd <"),
		"elements":            repeat("<pwd>a</"),
		"traces everywhere":   repeat("a."),
		"traces far apart":    repeat("aaaaaaaa" + strings.Repeat(".", 1000)),
		"a trace and nothing": "aaaaaaaa" + strings.Repeat(".", size) + "b",
	} {
		s := boundedMasker().Collect(mask.Source{Strings: alike})
		start := time.Now()
		masked := s.Text(text)
		took := time.Since(start)
		t.Logf("%s: %v, %d bytes", name, took, len(masked))
		if took > 5*time.Minute || len(masked) > 8*size {
			t.Errorf("%s took %v and became %d bytes", name, took, len(masked))
		}
	}
}

func TestMergedMappingsAreFollowedInBoundedTime(t *testing.T) {
	var manifest strings.Builder
	manifest.WriteString("a: &a {x: y}\n")
	before := "a"
	for _, name := range []string{"b", "c", "d", "e"} {
		fmt.Fprintf(&manifest, "%s: &%s\n  <<: [%s*%s]\n", name, name, strings.Repeat("*"+before+", ", 500), before)
		before = name
	}
	start := time.Now()
	boundedMasker().Collect(mask.Source{Manifests: []string{manifest.String()}}).Manifest(manifest.String())
	if took := time.Since(start); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestLargeSchemasAreAppliedInBoundedTime(t *testing.T) {
	var schema, values strings.Builder
	schema.WriteString(`{"properties":{"last":{"format":"password"}`)
	values.WriteString(`{"last":"shown-never"`)
	for i := range 20_000 {
		fmt.Fprintf(&schema, `,"k%d":{}`, i)
		fmt.Fprintf(&values, `,"k%d":"v"`, i)
	}
	schema.WriteString(`},"patternProperties":{"^z":{}`)
	for i := range 500 {
		fmt.Fprintf(&schema, `,"^q%d":{}`, i)
	}
	schema.WriteString("}}")
	values.WriteString("}")
	s := boundedMasker().Collect()
	start := time.Now()
	masked, err := s.Values(json.RawMessage(values.String()), []byte(schema.String()))
	if took := time.Since(start); err != nil || took > 5*time.Minute || strings.Contains(string(masked), "shown-never") {
		t.Errorf("it took %v: %v, %.60s", took, err, masked)
	}
	if masked, err = s.Values(json.RawMessage(`{"a":"hidden"}`), []byte("["+strings.Repeat("1,", 300_000)+"1]")); err != nil || strings.Contains(string(masked), "hidden") {
		t.Errorf("a schema too large to read does not hide everything: %v, %s", err, masked)
	}
}

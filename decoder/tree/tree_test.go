package tree_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

func TestJSONIsUnchangedByARoundTrip(t *testing.T) {
	for _, text := range []string{
		`{"z":1,"a":[1.10,1E+400,-0,12345678901234567890123,true,null,"<&>\u2028"],"":{}}`, `"text"`, `[]`, `null`, `{"a":"\\\"\n"}`,
	} {
		root, err := tree.FromJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		back, err := tree.JSON(root)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(back)); diff != "" {
			t.Errorf("JSON (-want +got):\n%s", diff)
		}
	}
	for _, text := range []string{`{`, `{} {}`, `[1,]`, `nul`} {
		if _, err := tree.FromJSON([]byte(text)); err == nil || strings.Contains(err.Error(), text) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestYAMLKeepsDigitsAndQuotesWhatYAML11ReadsOtherwise(t *testing.T) {
	root, err := tree.FromJSON([]byte(`{"big":12345678901234567890123,"f":1.10,"yes":"yes","no":"No","t":"12:30:45","n":"1","nul":"null","empty":"","lines":"a\nb\n","list":[{"a":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.YAML(root)
	if err != nil {
		t.Fatal(err)
	}
	const want = `big: 12345678901234567890123
f: 1.10
"yes": "yes"
"no": "No"
t: "12:30:45"
"n": "1"
nul: "null"
empty: ""
lines: |
  a
  b
list:
- a: 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("YAML (-want +got):\n%s", diff)
	}
}

func TestObjectsAreWhatKubernetesReads(t *testing.T) {
	documents, err := tree.FromYAML("base: &b {a: 1, c: 0x10}\nx:\n  <<: *b\n  a: 2\n  mode: 0644\n  day: 2026-11-30\n  inf: .inf\n  t: True\n  n: ~\n  big: 12345678901234567890123\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.Object(documents[0])
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"base":{"a":1,"c":16},"x":{"a":2,"big":12345678901234567890123,"c":16,"day":"2026-11-30","inf":".inf","mode":420,"n":null,"t":true}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
}

func TestAliasesThatExpandTooFarAreRejected(t *testing.T) {
	text := "a0: &a0 [x, x]\n"
	for i := range 40 {
		n := string(rune('A'+i/10)) + string(rune('0'+i%10))
		before := "a0"
		if i > 0 {
			before = string(rune('A'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		}
		text += "k" + n + ": &" + n + " [*" + before + ", *" + before + "]\n"
	}
	documents, err := tree.FromYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Canonical(documents[0]); err == nil {
		t.Error("it is accepted")
	}
}

package tree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

func TestMillionsOfNodesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"flow list":     "[" + strings.Repeat("1,", 1<<20) + "1]",
		"flow mapping":  "{" + strings.Repeat("a,", 1<<20) + "a}",
		"block list":    strings.Repeat("- 1\n", 1<<20),
		"nested blocks": strings.Repeat("- ", 1<<20) + "1",
		"documents":     strings.Repeat("---\n1\n", 1<<20),
		"nested flow":   strings.Repeat("[", 1<<20),
	} {
		if _, err := tree.FromYAML(text); !errors.Is(err, tree.ErrTooLarge) {
			t.Errorf("%s: the error is %v, want one of size", name, err)
		}
	}
	if _, err := tree.FromJSON([]byte("[" + strings.Repeat("1,", 1<<20) + "1]")); !errors.Is(err, tree.ErrTooLarge) {
		t.Errorf("JSON: the error is %v, want one of size", err)
	}
}

// Each line of a deeply nested mapping begins with as many blanks as it is deep.
func TestIndentationIsBounded(t *testing.T) {
	var keys strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&keys, `,"%d":1`, i)
	}
	root, err := tree.FromJSON([]byte(strings.Repeat(`{"a":`, 900) + `{"b":1` + keys.String() + "}" + strings.Repeat("}", 900)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.YAML(root); !errors.Is(err, tree.ErrTooLarge) {
		t.Errorf("the error is %v, want one of size", err)
	}
}

func TestALargeAnchorIsNotCopiedForEachAlias(t *testing.T) {
	text := "a: &a " + strings.Repeat("x", 256<<10) + "\nb: [" + strings.Repeat("*a,", 1000) + "*a]\n"
	documents, err := tree.FromYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Object(documents[0]); !errors.Is(err, tree.ErrTooLarge) {
		t.Errorf("the error is %v, want one of size", err)
	}
	canonical, err := tree.Canonical(documents[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.YAML(canonical); !errors.Is(err, tree.ErrTooLarge) {
		t.Errorf("as YAML: the error is %v, want one of size", err)
	}
	circle := &yaml.Node{Kind: yaml.SequenceNode, Anchor: "c"}
	circle.Content = []*yaml.Node{{Kind: yaml.AliasNode, Alias: circle}}
	if _, err := tree.Canonical(circle); !errors.Is(err, tree.ErrTooLarge) {
		t.Errorf("a circle: the error is %v, want one of size", err)
	}
	if tree.FitsExpanded(text) || !tree.FitsExpanded("a: &a 1\nb: *a\n") {
		t.Error("the size with aliases followed is wrong")
	}
}

func TestPathsStayShortAndDistinct(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	first, second := tree.Join(long, "a"), tree.Join(long, "b")
	if len(first) > 1<<10 || first == second || !strings.HasPrefix(first, "kkkk") {
		t.Errorf("the paths are %d bytes, %.20q and %.20q", len(first), first, second)
	}
}

package mask_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// leaf is a scalar of values.
type leaf struct {
	path []string
	text string
	line int
}

// corpusMark is the comment that marks leaves of the corpus as secret: those of its line
// whose paths end with one of the words that follow, or all if none follows. In a text
// of several lines it is the last line, and marks the text.
const corpusMark = "# secret"

// secret reports whether the corpus marks the leaf as secret.
func (l leaf) secret(lines []string) bool {
	if strings.HasSuffix(l.text, corpusMark+"\n") {
		return true
	}
	_, mark, ok := strings.Cut(lines[l.line-1], corpusMark)
	ends := strings.Fields(mark)
	return ok && (len(ends) == 0 || slices.ContainsFunc(ends, func(end string) bool {
		return strings.HasSuffix("."+strings.Join(l.path, "."), "."+end)
	}))
}

func leaves(node *yaml.Node, path ...string) []leaf {
	var found []leaf
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			found = append(found, leaves(node.Content[i+1], append(slices.Clone(path), node.Content[i].Value)...)...)
		}
	case yaml.ScalarNode:
		if node.Value != "" {
			found = append(found, leaf{path, node.Value, node.Line})
		}
	default:
		for i, item := range node.Content {
			if node.Kind == yaml.SequenceNode {
				found = append(found, leaves(item, append(slices.Clone(path), strconv.Itoa(i))...)...)
			} else {
				found = append(found, leaves(item, path...)...)
			}
		}
	}
	return found
}

// score counts the leaves of a corpus by what they are and how they are shown.
type score struct {
	charts, leaves, hidden, shown, leaked, wronged int
	wrong                                          []string
}

func (s score) recall() float64    { return float64(s.hidden) / float64(s.hidden+s.leaked) }
func (s score) precision() float64 { return float64(s.hidden) / float64(s.hidden+s.wronged) }

// readCorpus masks the values of all charts in testdata/charts.
func readCorpus(tb testing.TB) score {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "charts", "*.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	var s score
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		s.charts++
		s.add(tb, strings.TrimSuffix(filepath.Base(file), ".yaml"), data)
	}
	return s
}

func (s *score) add(tb testing.TB, chart string, data []byte) {
	tb.Helper()
	values, err := sigsyaml.YAMLToJSON(data)
	if err != nil {
		tb.Fatalf("%s: %v", chart, err)
	}
	masked, err := collect(string(values)).Values(values, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var original, after yaml.Node
	if err := yaml.Unmarshal(data, &original); err != nil {
		tb.Fatal(err)
	}
	if err := yaml.Unmarshal(masked, &after); err != nil {
		tb.Fatal(err)
	}
	texts := map[string]string{}
	for _, l := range leaves(&after) {
		texts[strings.Join(l.path, "\n")] = l.text
	}
	lines := strings.Split(string(data), "\n")
	for _, l := range leaves(&original) {
		s.leaves++
		masked := strings.Contains(texts[strings.Join(l.path, "\n")], "«masked:")
		switch where := fmt.Sprintf("%s: %s: %.60q", chart, strings.Join(l.path, "."), l.text); {
		case l.secret(lines) && masked:
			s.hidden++
		case l.secret(lines):
			s.leaked++
			s.wrong = append(s.wrong, "shown: "+where)
		case masked:
			s.wronged++
			s.wrong = append(s.wrong, "masked: "+where)
		default:
			s.shown++
		}
	}
}

// The values of well-known charts, as their documentation gives them: every secret
// is masked, and hardly anything else.
func TestSecretsOfWellKnownChartsAreMaskedAndTheRestIsShown(t *testing.T) {
	s := readCorpus(t)
	t.Logf("%d charts, %d leaves, %d of them secret: recall %.3f, precision %.3f", s.charts, s.leaves, s.hidden+s.leaked, s.recall(), s.precision())
	for _, wrong := range s.wrong {
		t.Log(wrong)
	}
	if s.charts < 30 || s.leaves < 400 || s.recall() < 1 || s.precision() <= 0.95 {
		t.Error("want at least 30 charts and 400 leaves, all secret ones masked, and a precision over 0.95")
	}
}

func BenchmarkCorpus(b *testing.B) {
	var s score
	for b.Loop() {
		s = readCorpus(b)
	}
	b.ReportMetric(s.recall(), "recall")
	b.ReportMetric(s.precision(), "precision")
}

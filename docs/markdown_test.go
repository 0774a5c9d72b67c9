package docs_test

import (
	"os"
	"strings"
	"testing"
)

// section is a heading of a page with the tables below it, up to the next heading.
type section struct {
	title  string
	tables []table
}

// table is a Markdown table. Its cells are trimmed and keep their markup.
type table struct {
	header []string
	rows   [][]string
}

// column returns the cells of the table's i-th column, without backquotes.
func (t table) column(i int) []string {
	var cells []string
	for _, row := range t.rows {
		cells = append(cells, strings.Trim(row[i], "`"))
	}
	return cells
}

// sections reads a page. Lines inside fenced code are skipped.
func sections(t *testing.T, path string) []section {
	t.Helper()
	all := []section{{}}
	inTable := false
	for _, line := range lines(t, path) {
		last := &all[len(all)-1]
		switch {
		case strings.HasPrefix(line, "#"):
			all = append(all, section{title: strings.TrimSpace(strings.TrimLeft(line, "#"))})
			inTable = false
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case !inTable:
			last.tables = append(last.tables, table{header: cells(line)})
			inTable = true
		case strings.HasPrefix(line, "|--"):
		default:
			into := &last.tables[len(last.tables)-1]
			into.rows = append(into.rows, cells(line))
		}
	}
	return all
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// lines returns a page's lines outside of fenced code.
func lines(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var outside []string
	fenced := false
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if !fenced {
			outside = append(outside, strings.TrimRight(line, "\n"))
		}
	}
	return outside
}

// find returns the page's section of that title.
func find(t *testing.T, page []section, title string) section {
	t.Helper()
	for _, s := range page {
		if s.title == title {
			return s
		}
	}
	t.Fatalf("there is no heading %q", title)
	return section{}
}

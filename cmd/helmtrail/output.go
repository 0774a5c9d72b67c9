package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/helmtrail/helmtrail/decoder/tree"
)

// outputFormat is the format of a command's result.
type outputFormat string

const (
	// asTable is meant for people; commands may print other text instead.
	asTable outputFormat = "table"
	asJSON  outputFormat = "json"
	asYAML  outputFormat = "yaml"
)

var outputFormats = []outputFormat{asTable, asJSON, asYAML}

// String implements [pflag.Value].
func (f *outputFormat) String() string { return string(*f) }

// Type implements [pflag.Value].
func (*outputFormat) Type() string { return "format" }

// Set implements [pflag.Value].
func (f *outputFormat) Set(text string) error {
	if !slices.Contains(outputFormats, outputFormat(text)) {
		return errors.New("must be table, json or yaml")
	}
	*f = outputFormat(text)
	return nil
}

// outputFlag adds -o.
func outputFlag(flags *pflag.FlagSet, f *outputFormat) {
	*f = asTable
	flags.VarP(f, "output", "o", "output format: table, json or yaml")
}

// printData prints v as JSON or YAML.
func printData(w io.Writer, f outputFormat, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if f == asYAML {
		root, err := tree.FromJSON(data)
		if err != nil {
			return err
		}
		text, err := tree.YAML(root)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// printTable prints a table with a header row.
func printTable(w io.Writer, titles []string, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{titles}, rows...) {
		for i, cell := range row {
			row[i] = oneLine(cell)
		}
		fmt.Fprintln(table, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return table.Flush()
}

// oneLine shortens text to fit into a table.
func oneLine(text string) string {
	const longest = 100
	if text = printable(text); utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest-1]) + "…"
	}
	return text
}

// printable replaces control characters, which a terminal would interpret.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}

// ANSI escape sequences for the colours of a diff.
const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

// painter colours lines if it is true.
type painter bool

// newPainter returns a painter that colours lines if w is a terminal and colours
// are not disabled (https://no-color.org).
func newPainter(w io.Writer) painter {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return painter(err == nil && info.Mode()&os.ModeCharDevice != 0)
}

func (p painter) paint(colour, text string) string {
	if !p || colour == "" {
		return text
	}
	return colour + text + reset
}

// diff colours a unified diff.
func (p painter) diff(text string) string {
	if !p {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		colour := ""
		switch {
		case strings.HasPrefix(line, "+"):
			colour = green
		case strings.HasPrefix(line, "-"):
			colour = red
		case strings.HasPrefix(line, "@@"):
			colour = cyan
		}
		bare, end := strings.CutSuffix(line, "\n")
		if lines[i] = p.paint(colour, bare); end {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

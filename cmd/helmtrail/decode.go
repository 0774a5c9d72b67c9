package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/decoder/stored"
	"github.com/helmtrail/helmtrail/stream"
)

// maxInput bounds what decode reads, in bytes. A cluster's Secrets in one list
// are hardly more.
const maxInput = 1 << 30

func newDecode(stdout io.Writer) *cobra.Command {
	var p partOptions
	var output outputFormat
	reveal := false
	c := &cobra.Command{
		Use:   "decode FILE|-",
		Short: "Read release records out of a file",
		Long: `Read the release records in a file, or in the standard input: Secrets or
ConfigMaps in YAML or JSON, lists of them, or a record alone, as base64 (once or
twice), gzip or JSON. It prints a list of them, or with --part a part of each.
Objects that hold no record are passed over. Secrets are masked unless --reveal
is given. Neither a cluster nor a server is asked.

It ends with 1 when a record cannot be read; the others are printed all the same.`,
		Example: `  kubectl get secret -n shop -l owner=helm -o yaml | helmtrail decode -
  kubectl get secret -n shop sh.helm.release.v1.web.v3 -o json | helmtrail decode - --part manifest
  helmtrail decode backup.yaml -o json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{commandName(c), errors.New("name one file, or - for the standard input")}
			}
			return nil
		},
		PreRunE: func(c *cobra.Command, _ []string) error { return p.validate(c, &output) },
		RunE: func(c *cobra.Command, args []string) error {
			content, err := readInput(c.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			d := decoding{stdout: stdout, output: output, part: p, reveal: reveal}
			for record, problem := range stored.Read(content) {
				if problem != nil {
					d.problems = append(d.problems, fmt.Errorf("%s: %w", args[0], problem))
				}
				if record == nil {
					continue
				}
				if err := d.add(record); err != nil {
					return errors.Join(append(d.problems, err)...)
				}
			}
			return errors.Join(append(d.problems, d.end())...)
		},
	}
	outputFlag(c.Flags(), &output)
	p.register(c)
	c.Flags().BoolVar(&reveal, "reveal", false, "show secrets as they are")
	return c
}

// readInput reads a file, or the standard input for "-".
func readInput(stdin io.Reader, name string) ([]byte, error) {
	input := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		input = file
	}
	content, err := io.ReadAll(io.LimitReader(input, maxInput+1))
	if err != nil {
		return nil, err // It names the file, as that of opening it does.
	}
	if len(content) > maxInput {
		return nil, fmt.Errorf("%s: has more than %d MiB", name, maxInput>>20)
	}
	return content, nil
}

// decoding prints records, or a part of each, as they come.
type decoding struct {
	stdout   io.Writer
	output   outputFormat
	part     partOptions
	reveal   bool
	problems []error
	lines    []revisionLine
	// first waits until it is known whether others follow, from which it is told
	// apart.
	first *stored.Record
	found int
}

func (d *decoding) add(s *stored.Record) error {
	d.found++
	switch {
	case d.part.part == "":
		d.lines = append(d.lines, lineOf(s.Revision, s.Record, d.masker(s)))
		return nil
	case d.found == 1:
		d.first = s
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	return d.print(s)
}

// flush prints the record that waits.
func (d *decoding) flush() error {
	first := d.first
	if d.first = nil; first == nil {
		return nil
	}
	return d.print(first)
}

// print prints a part of a record that can be read.
func (d *decoding) print(s *stored.Record) error {
	record := s.Record
	if record == nil {
		return nil
	}
	if masker := d.masker(s); masker != nil {
		var err error
		if record, err = masker.Collect(mask.FromRecord(record)).Record(record); err != nil {
			return fmt.Errorf("%s: %w", s.Item, err)
		}
	}
	if d.found > 1 && d.output != asJSON {
		if _, err := fmt.Fprintf(d.stdout, "---\n# %s\n", s.Item); err != nil {
			return err
		}
	}
	if err := printPart(d.stdout, d.output, record, d.part); err != nil {
		return fmt.Errorf("%s: %w", s.Item, err)
	}
	return nil
}

// end prints what is left.
func (d *decoding) end() error {
	if err := d.flush(); err != nil || len(d.lines) == 0 {
		return err
	}
	return printLines(d.stdout, d.output, d.lines, true)
}

// masker hides a record's secrets; nil shows them.
func (d *decoding) masker(s *stored.Record) *mask.Masker {
	if d.reveal {
		return nil
	}
	return newMasker(stream.ReleaseRef{Namespace: s.Revision.Namespace, Name: s.Revision.Name})
}

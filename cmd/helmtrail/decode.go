package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/decoder/stored"
)

// maxInput bounds the input of decode, in bytes. A list of all of a cluster's
// Secrets is hardly larger.
const maxInput = 1 << 30

func newDecode(stdout io.Writer) *cobra.Command {
	var p partOptions
	var output outputFormat
	reveal := false
	c := &cobra.Command{
		Use:   "decode FILE|-",
		Short: "Decode release records from a file",
		Long: `Decode the release records in a file or in standard input. The input holds
Secrets or ConfigMaps in YAML or JSON, lists of them, or one record as base64
(once or twice), gzip or JSON. The command prints a list or, with --part, a part
of each record. It skips objects without a record. Secrets are masked unless
--reveal is given. It uses neither a cluster nor a helmtrail server.

The exit code is 1 if a record cannot be decoded. The others are printed anyway.`,
		Example: `  kubectl get secret -n shop -l owner=helm -o yaml | helmtrail decode -
  kubectl get secret -n shop sh.helm.release.v1.web.v3 -o json | helmtrail decode - --part manifest
  helmtrail decode backup.yaml -o json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{commandName(c), errors.New("expected one argument: a file, or - for standard input")}
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
	c.Flags().BoolVar(&reveal, "reveal", false, "show secrets instead of masking them")
	return c
}

// readInput reads a file, or standard input for "-".
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
		return nil, err // it names the file
	}
	if len(content) > maxInput {
		return nil, fmt.Errorf("%s: larger than %d MiB", name, maxInput>>20)
	}
	return content, nil
}

// decoding prints records, or a part of each, in the order of the input.
type decoding struct {
	stdout   io.Writer
	output   outputFormat
	part     partOptions
	reveal   bool
	problems []error
	lines    []revisionLine
	// first is held back until a second record follows or the input ends: only
	// then is it known whether it needs a heading.
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

// flush prints the first record if it was held back.
func (d *decoding) flush() error {
	first := d.first
	if d.first = nil; first == nil {
		return nil
	}
	return d.print(first)
}

// print prints a part of a record, or nothing if it is unreadable.
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

// end prints the list, or the record that was held back.
func (d *decoding) end() error {
	if err := d.flush(); err != nil || len(d.lines) == 0 {
		return err
	}
	return printLines(d.stdout, d.output, d.lines, true)
}

// masker returns the masker of a record, or nil to show secrets.
func (d *decoding) masker(s *stored.Record) *mask.Masker {
	if d.reveal {
		return nil
	}
	return newMasker(helmtrail.ReleaseRef{Namespace: s.Revision.Namespace, Name: s.Revision.Name})
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail/decoder"
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
			records, problems := stored.Read(content)
			for i, problem := range problems {
				problems[i] = fmt.Errorf("%s: %w", args[0], problem)
			}
			if len(records) == 0 {
				return errors.Join(problems...)
			}
			return errors.Join(append(problems, printStored(stdout, output, p, records, reveal))...)
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

// printStored prints records, or a part of each.
func printStored(w io.Writer, f outputFormat, p partOptions, records []stored.Record, reveal bool) error {
	lines := make([]revisionLine, 0, len(records))
	for _, s := range records {
		if s.Record == nil {
			lines = append(lines, lineOf(s.Revision, nil))
			continue
		}
		record := s.Record
		if !reveal {
			var err error
			if record, err = maskStored(s); err != nil {
				return fmt.Errorf("%s: %w", s.Item, err)
			}
		}
		if p.part == "" {
			lines = append(lines, lineOf(s.Revision, record))
			continue
		}
		if len(records) > 1 && f != asJSON {
			fmt.Fprintf(w, "---\n# %s\n", s.Item)
		}
		if err := printPart(w, f, record, p); err != nil {
			return fmt.Errorf("%s: %w", s.Item, err)
		}
	}
	if p.part != "" {
		return nil
	}
	return printLines(w, f, lines, true)
}

// maskStored is the record as it may be shown.
func maskStored(s stored.Record) (*decoder.Record, error) {
	release := stream.ReleaseRef{Namespace: s.Revision.Namespace, Name: s.Revision.Name}
	return newMasker(release).Collect(mask.FromRecord(s.Record)).Record(s.Record)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// recordsAtOnce bounds how many records are read concurrently.
const recordsAtOnce = 8

func newHistory(stdout io.Writer) *cobra.Command {
	var o directOptions
	c := &cobra.Command{
		Use:   "history RELEASE",
		Short: "List the revisions of a release from the cluster",
		Long: `List all revisions of a release in the cluster, newest first. The command uses
your kubeconfig and needs no helmtrail server. Revisions with an unreadable
record are listed with the reason.`,
		Example: `  helmtrail history web -n shop
  helmtrail history web -n shop -o json`,
		Args: oneRelease,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := o.open(args[0])
			if err != nil {
				return err
			}
			defer d.close()
			lines, err := d.history(c.Context())
			if err != nil {
				return err
			}
			return printLines(stdout, o.output, lines, false)
		},
	}
	o.register(c)
	return c
}

// history reads every revision's record, the newest first.
func (d *direct) history(ctx context.Context) ([]revisionLine, error) {
	revisions, err := d.revisions(ctx)
	if err != nil {
		return nil, err
	}
	slices.Reverse(revisions)
	lines := make([]revisionLine, len(revisions))
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(recordsAtOnce)
	for i, r := range revisions {
		reading.Go(func() error {
			record, err := d.record(ctx, r.Number)
			switch {
			case errors.Is(err, helmtrail.ErrNotFound):
				return nil // Helm has pruned it in the meantime.
			case unreadable(err):
				lines[i] = lineOf(r, nil, nil)
				lines[i].Problem = err.Error()
				return nil
			case err != nil:
				return err
			}
			lines[i] = lineOf(r, record, d.masker)
			lines[i].Digest, lines[i].Size = record.Digest, record.Size
			return nil
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, func(l revisionLine) bool { return l.Revision == 0 })
	if len(lines) == 0 {
		return nil, d.noRelease()
	}
	return lines, nil
}

func newGet(stdout io.Writer) *cobra.Command {
	var o directOptions
	var p partOptions
	revision := 0
	c := &cobra.Command{
		Use:   "get RELEASE",
		Short: "Print a revision of a release, or a part of it, from the cluster",
		Long: `Print a summary of a revision or, with --part, what "helm get" prints. The
command uses your kubeconfig and needs no helmtrail server. Numbers keep every
digit of the record. Secrets are masked unless --reveal is given.`,
		Example: `  helmtrail get web -n shop
  helmtrail get web -n shop --revision 3 --part values --all
  helmtrail get web -n shop --part manifest --reveal | kubectl diff -f -`,
		Args: oneRelease,
		PreRunE: func(c *cobra.Command, _ []string) error {
			if revision < 0 {
				return &usageError{commandName(c), errors.New("--revision: must be a positive number")}
			}
			return p.validate(c, &o.output)
		},
		RunE: func(c *cobra.Command, args []string) error {
			d, err := o.open(args[0])
			if err != nil {
				return err
			}
			defer d.close()
			number := revision
			if number == 0 {
				revisions, err := d.revisions(c.Context())
				if err != nil {
					return err
				}
				number = revisions[len(revisions)-1].Number
			}
			record, err := d.record(c.Context(), number)
			if err != nil {
				return err
			}
			if p.part != "" {
				shown, err := d.shown(record)
				if err != nil {
					return err
				}
				return printPart(stdout, o.output, shown[0], p)
			}
			r := &decoder.Revision{Namespace: d.release.Namespace, Name: d.release.Name, Number: number, LabelStatus: record.Status, Digest: record.Digest, Size: record.Size}
			if o.output == asTable {
				return printLines(stdout, o.output, []revisionLine{lineOf(r, record, d.masker)}, false)
			}
			return printData(stdout, o.output, lineOf(r, record, d.masker))
		},
	}
	o.register(c)
	p.register(c)
	c.Flags().IntVar(&revision, "revision", 0, "revision number; default: the newest")
	return c
}

func (p *partOptions) register(c *cobra.Command) {
	c.Flags().StringVar(&p.part, "part", "", "part to print: "+joinParts(partNames))
	c.Flags().BoolVar(&p.all, "all", false, "with --part values: include the chart's default values")
}

// validate checks the part and whether the format supports it.
func (p *partOptions) validate(c *cobra.Command, output *outputFormat) error {
	if p.part == "" {
		if p.all {
			return &usageError{commandName(c), errors.New("--all: requires --part values")}
		}
		return nil
	}
	formats, ok := parts.Formats[parts.Name(p.part)]
	switch {
	case !ok:
		return &usageError{commandName(c), fmt.Errorf("--part %q: must be %s", p.part, joinParts(partNames))}
	case p.all && p.part != string(parts.Values):
		return &usageError{commandName(c), errors.New("--all: requires --part values")}
	case *output != asTable && !slices.Contains(formats, parts.Format(*output)):
		return &usageError{commandName(c), fmt.Errorf("-o %s: not supported for --part %s", *output, p.part)}
	}
	return nil
}

func joinParts(names []parts.Name) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
}

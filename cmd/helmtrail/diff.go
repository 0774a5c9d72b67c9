package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail/decoder/compare"
	"github.com/helmtrail/helmtrail/decoder/parts"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	directOptions
	from, to int
	parts    []string
	all      bool
}

// diffResult is what diff prints as JSON and YAML.
type diffResult struct {
	From      int  `json:"from"`
	To        int  `json:"to"`
	Identical bool `json:"identical"`
	compare.RecordDifference
}

func newDiff(stdout io.Writer) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff RELEASE",
		Short: "Compare two revisions of a release in the cluster",
		Long: `Compare two revisions of a release: values by path, manifests and hooks by
object, notes by line. Comments, formatting and the order of keys are ignored.
The command uses your kubeconfig and needs no helmtrail server. Secrets are
masked unless --reveal is given; a different mask means a different value.

Exit codes: 0 no differences, 1 differences, 2 wrong flags or arguments, 3 the
comparison failed.`,
		Example: `  helmtrail diff web -n shop
  helmtrail diff web -n shop --from 2 --to 5 --part values,manifest`,
		Args: oneRelease,
		PreRunE: func(c *cobra.Command, _ []string) error {
			if o.from < 0 || o.to < 0 {
				return &usageError{commandName(c), errors.New("--from, --to: must be positive numbers")}
			}
			for _, name := range o.parts {
				if !slices.Contains(compare.Parts, parts.Name(name)) {
					return &usageError{commandName(c), fmt.Errorf("--part %q: must be %s", name, joinParts(compare.Parts))}
				}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			result, err := o.compare(c.Context(), args[0])
			if err == nil {
				err = o.print(stdout, result)
			}
			return compared(err == nil && !result.Identical, err)
		},
	}
	o.register(c)
	flags := c.Flags()
	flags.IntVar(&o.from, "from", 0, "older revision; default: the one before --to")
	flags.IntVar(&o.to, "to", 0, "newer revision; default: the newest")
	flags.StringSliceVar(&o.parts, "part", nil, "parts to compare: "+joinParts(compare.Parts)+"; default: all")
	flags.BoolVar(&o.all, "all", false, "include the charts' default values")
	return c
}

func (o *diffOptions) compare(ctx context.Context, name string) (*diffResult, error) {
	d, err := o.open(name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	result := &diffResult{From: o.from, To: o.to}
	if result.From == 0 || result.To == 0 {
		revisions, err := d.revisions(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Backward(revisions) {
			if result.To == 0 {
				result.To = r.Number
			}
			if result.From == 0 && r.Number < result.To {
				result.From = r.Number
			}
		}
		if result.From == 0 {
			return nil, fmt.Errorf("release %s has no revision before %d to compare it with", name, result.To)
		}
	}
	from, err := d.record(ctx, result.From)
	if err != nil {
		return nil, err
	}
	to, err := d.record(ctx, result.To)
	if err != nil {
		return nil, err
	}
	shown, err := d.shown(from, to)
	if err != nil {
		return nil, err
	}
	wanted := compare.Parts
	if len(o.parts) > 0 {
		wanted = nil
		for _, name := range o.parts {
			wanted = append(wanted, parts.Name(name))
		}
	}
	differs, err := compare.Records(shown[0], shown[1], wanted, o.all)
	if err != nil {
		return nil, err
	}
	result.RecordDifference, result.Identical = *differs, differs.Identical()
	return result, nil
}

func (o *diffOptions) print(w io.Writer, result *diffResult) error {
	if o.output != asTable {
		return printData(w, o.output, result)
	}
	p := newPainter(w)
	var out strings.Builder
	values := func(title string, changes []compare.Value) {
		if len(changes) > 0 {
			fmt.Fprintf(&out, "# %s\n", title)
		}
		for _, v := range changes {
			switch v.Change {
			case compare.Added:
				fmt.Fprintln(&out, p.paint(green, fmt.Sprintf("+ %s: %s", v.Path, v.To)))
			case compare.Removed:
				fmt.Fprintln(&out, p.paint(red, fmt.Sprintf("- %s: %s", v.Path, v.From)))
			default:
				fmt.Fprintln(&out, p.paint(red, fmt.Sprintf("- %s: %s", v.Path, v.From)))
				fmt.Fprintln(&out, p.paint(green, fmt.Sprintf("+ %s: %s", v.Path, v.To)))
			}
		}
	}
	objects := func(title string, changes []compare.Object) {
		for _, o := range changes {
			fmt.Fprintf(&out, "# %s: %s %s\n", title, o.Change, strings.TrimSpace(o.Kind+" "+o.Name))
			out.WriteString(p.diff(o.Diff))
		}
	}
	values("values", result.Values)
	objects("manifest", result.Manifest)
	objects("hooks", result.Hooks)
	if result.Notes != "" {
		out.WriteString("# notes\n" + p.diff(result.Notes))
	}
	values("chart", result.Chart)
	_, err := io.WriteString(w, out.String())
	return err
}

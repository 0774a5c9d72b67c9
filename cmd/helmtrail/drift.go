package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/drift"
)

func newDrift(stdout io.Writer) *cobra.Command {
	var o directOptions
	revision := 0
	c := &cobra.Command{
		Use:   "drift RELEASE",
		Short: "Compare a release's record with the objects in the cluster",
		Long: `Compare the objects of a revision's record with those in the cluster. The
command uses your kubeconfig, needs no helmtrail server and changes nothing: it
asks the API server for a dry run of applying the record or, if you may only
read, compares the fields of the manifest one by one. Fields that other clients
added are listed but do not count as drift.

Exit codes: 0 no drift, 1 drift, 2 wrong flags or arguments, 3 some or all
objects could not be compared.`,
		Example: `  helmtrail drift web -n shop
  helmtrail drift web -n shop; [ $? = 1 ] && echo "drift detected"`,
		Args: oneRelease,
		PreRunE: func(c *cobra.Command, _ []string) error {
			if revision < 0 {
				return &usageError{commandName(c), errors.New("--revision: must be a positive number")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			found, err := o.drift(c.Context(), args[0], revision)
			if err == nil {
				err = printDrift(stdout, o.output, found)
			}
			if err == nil && !found.Drifted && found.Counts[drift.Unknown] > 0 {
				err = fmt.Errorf("%d objects could not be compared", found.Counts[drift.Unknown])
			}
			return compared(err == nil && found.Drifted, err)
		},
	}
	o.register(c)
	c.Flags().IntVar(&revision, "revision", 0, "revision number; default: the deployed one, or else the newest")
	return c
}

func (o *directOptions) drift(ctx context.Context, name string, revision int) (*drift.Report, error) {
	d, err := o.open(name)
	if err != nil {
		return nil, err
	}
	defer d.close()
	var record *decoder.Record
	if revision == 0 {
		record, revision, err = d.live(ctx)
	} else {
		record, err = d.record(ctx, revision)
	}
	if err != nil {
		return nil, err
	}
	found, err := d.cluster.Drift(ctx, drift.Query{Release: d.release, Record: record, Masker: d.masker})
	if err != nil {
		return nil, err
	}
	found.Revision = revision
	return found, nil
}

// printDrift prints the differences and a count of objects by state.
func printDrift(w io.Writer, f outputFormat, found *drift.Report) error {
	if f != asTable {
		return printData(w, f, found)
	}
	var rows [][]string
	for _, o := range found.Objects {
		object := []string{string(o.State), o.Kind, o.Namespace, o.Name}
		row := func(cells ...string) { rows = append(rows, append(append([]string{}, object...), cells...)) }
		for _, c := range o.Changes {
			row(c.Path, short(c.Recorded), short(c.Live), c.Manager)
		}
		object[0] = "added"
		for _, c := range o.Added {
			row(c.Path, "", short(c.Live), c.Manager)
		}
		object[0] = string(o.State)
		if len(o.Changes) == 0 && (o.State != drift.Same || o.Message != "") {
			row(o.Message)
		}
	}
	if len(rows) > 0 {
		if err := printTable(w, []string{"STATE", "KIND", "NAMESPACE", "NAME", "FIELD", "RECORDED", "LIVE", "BY"}, rows); err != nil {
			return err
		}
	}
	var counts []string
	for _, state := range []drift.State{drift.Same, drift.Changed, drift.Missing, drift.Extra, drift.Unknown} {
		if n := found.Counts[state]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing to compare"}
	}
	if _, err := fmt.Fprintf(w, "Revision %d: %s\n", found.Revision, strings.Join(counts, ", ")); err != nil || len(found.Unlisted) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "Could not search these kinds for further objects of the release: %s.\n", strings.Join(found.Unlisted, ", "))
	return err
}

// short shortens a value to fit into a table.
func short(value json.RawMessage) string {
	const longest = 40
	text := []rune(string(value))
	if len(text) > longest {
		return string(text[:longest-1]) + "…"
	}
	return string(text)
}

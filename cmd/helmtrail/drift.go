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
	"github.com/helmtrail/helmtrail/stream"
)

func newDrift(stdout io.Writer) *cobra.Command {
	var o directOptions
	revision := 0
	c := &cobra.Command{
		Use:   "drift RELEASE",
		Short: "Compare a release's record with the objects in the cluster",
		Long: `Compare what a revision's record says with the objects in the cluster, with the
rights of your kubeconfig and without a server. Nothing is changed: the API
server is asked what applying the record would do, or where you may only read,
the fields of the manifest are looked up one by one. Fields that others have
added are listed, but are no drift.

It ends with 0 when nothing drifts, with 1 when something does, with 2 when a
flag is wrong, and with 3 when the comparison could not be made, for some of the
objects at least.`,
		Example: `  helmtrail drift web -n shop
  helmtrail drift web -n shop; [ $? = 1 ] && echo "somebody has touched it"`,
		Args: oneRelease,
		PreRunE: func(c *cobra.Command, _ []string) error {
			if revision < 0 {
				return &usageError{commandName(c), errors.New("--revision: must be the number of a revision")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			found, err := o.drift(c.Context(), args[0], revision)
			if err == nil {
				err = printDrift(stdout, o.output, found)
			}
			if err == nil && !found.Drifted && found.Counts[stream.DriftUnknown] > 0 {
				err = fmt.Errorf("%d objects could not be compared", found.Counts[stream.DriftUnknown])
			}
			return compared(err == nil && found.Drifted, err)
		},
	}
	o.register(c)
	c.Flags().IntVar(&revision, "revision", 0, "the revision; by default the deployed one, else the newest")
	return c
}

func (o *directOptions) drift(ctx context.Context, name string, revision int) (*stream.Drift, error) {
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
	found, err := d.cluster.Drift(ctx, stream.DriftQuery{Release: d.release, Record: record, Masker: d.masker})
	if err != nil {
		return nil, err
	}
	found.Revision = revision
	return found, nil
}

// printDrift prints what is not as recorded, and how much is.
func printDrift(w io.Writer, f outputFormat, found *stream.Drift) error {
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
		if len(o.Changes) == 0 && (o.State != stream.DriftSame || o.Message != "") {
			row(o.Message)
		}
	}
	if len(rows) > 0 {
		if err := printTable(w, []string{"STATE", "KIND", "NAMESPACE", "NAME", "FIELD", "RECORDED", "LIVE", "BY"}, rows); err != nil {
			return err
		}
	}
	var counts []string
	for _, state := range []stream.DriftState{stream.DriftSame, stream.DriftChanged, stream.DriftMissing, stream.DriftExtra, stream.DriftUnknown} {
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
	_, err := fmt.Fprintf(w, "Objects of the release that the record does not name could not be looked for among %s.\n", strings.Join(found.Unlisted, ", "))
	return err
}

// short is a value as a table has room for.
func short(value json.RawMessage) string {
	const longest = 40
	text := []rune(string(value))
	if len(text) > longest {
		return string(text[:longest-1]) + "…"
	}
	return string(text)
}

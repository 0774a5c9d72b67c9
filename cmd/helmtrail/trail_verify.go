package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/helmtrail/helmtrail/stream/trail"
)

func newTrail(stdout io.Writer) *cobra.Command {
	c := &cobra.Command{
		Use:   "trail",
		Short: "Look after the trail that serve keeps",
		Args:  noArguments,
		RunE:  showHelp,
	}
	c.AddCommand(newTrailVerify(stdout))
	return c
}

// verifyOptions are the flags of trail verify.
type verifyOptions struct {
	dataDir string
	output  outputFormat
	check   trail.Check
}

func newTrailVerify(stdout io.Writer) *cobra.Command {
	o := verifyOptions{dataDir: defaultDataDir()}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that nothing of the trail was changed, left out or cut off",
		Long: `Check every link of the trail in a data directory and name the first that does
not hold. The files are read as they are and nothing is written, so a server may
be running on them.

Whoever can write to the directory could also write a whole new chain. Only an
earlier head that was kept elsewhere shows that: the server's log and its
metrics have one, with its position.

It ends with 0 when all holds, with 1 when something does not, with 2 when there
is nothing to verify or a flag is wrong, and with 3 when it could not be verified,
because the files may not be read for example.`,
		Example: `  helmtrail trail verify --data-dir /var/lib/helmtrail
  helmtrail trail verify --data-dir /var/lib/helmtrail --cluster prod --head 3f5a... --at 1204 --records`,
		Args: noArguments,
		PreRunE: func(c *cobra.Command, _ []string) error {
			// The other flags mean something else to serve, whose variables may be set.
			if dataDir, ok := os.LookupEnv(environmentName("data-dir")); ok && !c.Flags().Changed("data-dir") {
				o.dataDir = dataDir
			}
			if err := o.validate(c.Flags().Changed("head")); err != nil {
				return &usageError{commandName(c), err}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			err := o.verify(stdout)
			if errors.Is(err, trail.ErrNoTrail) {
				err = &usageError{commandName(c), err}
			}
			return err
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.dataDir, "data-dir", o.dataDir, "`folder` that serve was given, also as HELMTRAIL_DATA_DIR")
	flags.StringVar(&o.check.Cluster, "cluster", "", "the cluster whose trail to check; by default all")
	flags.StringVar(&o.check.Head, "head", "", "the `hash` of an entry that the trail is known to have had")
	flags.Uint64Var(&o.check.At, "at", 0, "the `position` of that entry, if it is known")
	flags.BoolVar(&o.check.Records, "records", false, "check the bytes of every record as well")
	outputFlag(flags, &o.output)
	return c
}

// validate checks the flags. A head that was given must be one: a part of it, or
// the nothing that a script's empty variable is, would prove nothing or alarm
// for nothing.
func (o *verifyOptions) validate(headGiven bool) error {
	hash, err := hex.DecodeString(o.check.Head)
	switch {
	case o.dataDir == "":
		return errors.New("--data-dir: name a folder, since there is no home directory for the default")
	case headGiven && (err != nil || len(hash) != sha256.Size):
		return fmt.Errorf("--head %q: must be the whole hash of an entry, %d hexadecimal digits", o.check.Head, hex.EncodedLen(sha256.Size))
	case o.check.At != 0 && o.check.Head == "":
		return errors.New("--at: goes with --head only")
	}
	o.check.Head = hex.EncodeToString(hash)
	o.check.Journal, o.check.Notes = filepath.Join(o.dataDir, journalFolder), filepath.Join(o.dataDir, trailFolder)
	return nil
}

// verify writes what was found and fails when something does not hold.
func (o *verifyOptions) verify(stdout io.Writer) error {
	findings, err := trail.Verify(o.check)
	if err != nil {
		return &comparisonError{fmt.Errorf("verify the trail: %w", err)}
	}
	if o.check.Head != "" && len(findings) > 1 {
		return &usageError{"trail verify", errors.New("--head: name the --cluster, since there are several")}
	}
	if o.output != asTable {
		if err := printData(stdout, o.output, findings); err != nil {
			return err
		}
	}
	var broken error
	for _, f := range findings {
		if o.output == asTable {
			writeFinding(stdout, &f, o.check.Records)
		}
		if !f.Verified {
			broken = errors.Join(broken, fmt.Errorf("the trail of cluster %s is broken at entry %d: %s", f.Cluster, f.Broken, f.Problem))
		}
	}
	return broken
}

func writeFinding(w io.Writer, f *trail.Finding, records bool) {
	fmt.Fprintf(w, "cluster %s\n  entries  %d\n", f.Cluster, f.Entries)
	if f.Entries > 0 {
		fmt.Fprintf(w, "  head     %s, %s\n", f.Head, f.HeadTime.Format(time.RFC3339))
	}
	if records {
		fmt.Fprintf(w, "  records  %d, and %d that retention erased\n", f.Records, f.Erased)
	}
	if f.Verified {
		fmt.Fprintln(w, "  verified")
	} else {
		fmt.Fprintf(w, "  BROKEN at entry %d: %s\n", f.Broken, f.Problem)
	}
}

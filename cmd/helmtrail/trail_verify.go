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
		Short: "Verify the trail of helmtrail serve",
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
		Short: "Check that no entry of the trail was changed or removed",
		Long: `Check every link of the trail in a data directory and report the first broken
one. The command only reads files, so it can run beside a server.

Anyone who can write to the directory can also write a new, consistent chain.
To detect that, pass --head with an earlier head that was kept elsewhere. The
server's log and metrics contain heads and their positions.

Exit codes: 0 verified, 1 broken, 2 no trail, or wrong flags or arguments, 3 the
trail could not be verified, for example because its files are not readable.`,
		Example: `  helmtrail trail verify --data-dir /var/lib/helmtrail
  helmtrail trail verify --data-dir /var/lib/helmtrail --cluster prod --head 3f5a... --at 1204 --records`,
		Args: noArguments,
		PreRunE: func(c *cobra.Command, _ []string) error {
			// Only this one: serve's variables for other flags do not apply here.
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
	flags.StringVar(&o.dataDir, "data-dir", o.dataDir, "data `directory` of helmtrail serve; environment variable HELMTRAIL_DATA_DIR")
	flags.StringVar(&o.check.Cluster, "cluster", "", "id of the cluster whose trail to check; default: all")
	flags.StringVar(&o.check.Head, "head", "", "`hash` of an entry that the trail must contain")
	flags.Uint64Var(&o.check.At, "at", 0, "`position` of the entry with the hash --head")
	flags.BoolVar(&o.check.Records, "records", false, "also check the content of every record")
	outputFlag(flags, &o.output)
	return c
}

// validate checks the flags. A head must be complete: a prefix would prove little,
// and an empty one, from an unset variable in a script, nothing.
func (o *verifyOptions) validate(headGiven bool) error {
	hash, err := hex.DecodeString(o.check.Head)
	switch {
	case o.dataDir == "":
		return errors.New("--data-dir: required, since there is no home directory")
	case headGiven && (err != nil || len(hash) != sha256.Size):
		return fmt.Errorf("--head %q: must be a complete hash of %d hexadecimal digits", o.check.Head, hex.EncodedLen(sha256.Size))
	case o.check.At != 0 && o.check.Head == "":
		return errors.New("--at: requires --head")
	}
	o.check.Head = hex.EncodeToString(hash)
	o.check.Journal, o.check.Notes = filepath.Join(o.dataDir, journalFolder), filepath.Join(o.dataDir, trailFolder)
	return nil
}

// verify prints the findings and fails if a trail is broken.
func (o *verifyOptions) verify(stdout io.Writer) error {
	findings, err := trail.Verify(o.check)
	if err != nil {
		return &comparisonError{fmt.Errorf("verify the trail: %w", err)}
	}
	if o.check.Head != "" && len(findings) > 1 {
		return &usageError{"trail verify", errors.New("--head: requires --cluster, since there are several clusters")}
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
		fmt.Fprintf(w, "  records  %d, and %d erased by retention\n", f.Records, f.Erased)
	}
	if f.Verified {
		fmt.Fprintln(w, "  verified")
	} else {
		fmt.Fprintf(w, "  BROKEN at entry %d: %s\n", f.Broken, f.Problem)
	}
}

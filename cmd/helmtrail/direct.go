package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
)

// directOptions are the flags of the commands that ask a cluster without a
// server.
type directOptions struct {
	kubeconfig, context, namespace string
	// answerTime bounds how long one answer of the API server may take; 0 does not.
	answerTime time.Duration
	reveal     bool
	output     outputFormat
}

func (o *directOptions) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`; by default what kubectl takes")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig; by default the current one")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the release's namespace; by default the context's")
	flags.DurationVar(&o.answerTime, "request-timeout", 30*time.Second, "how long one answer of the API server may take; 0 waits for ever")
	flags.BoolVar(&o.reveal, "reveal", false, "show secrets as they are")
	outputFlag(flags, &o.output)
}

// direct is a release in a cluster that is asked with the user's own rights.
type direct struct {
	cluster    *informer.Cluster
	release    stream.ReleaseRef
	answerTime time.Duration
	masker     *mask.Masker // nil shows secrets
}

// open finds the cluster; it connects to nothing yet. Close it in the end.
func (o *directOptions) open(name string) (*direct, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context})
	raw, err := config.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig: %w", err)
	}
	options := informer.Options{Kubeconfig: o.kubeconfig}
	if context := o.context; context != "" || raw.CurrentContext != "" {
		if context == "" {
			context = raw.CurrentContext
		}
		options.Contexts = []string{context}
	}
	clusters, err := informer.Open(options)
	if err != nil {
		return nil, err
	}
	d := &direct{cluster: clusters[0], answerTime: o.answerTime}
	d.release = stream.ReleaseRef{Cluster: d.cluster.ID, Namespace: o.namespace, Name: name}
	if o.namespace == "" {
		if d.release.Namespace, _, err = config.Namespace(); err != nil {
			return nil, fmt.Errorf("load kubeconfig: %w", err)
		}
	}
	if !o.reveal {
		d.masker = newMasker(d.release)
	}
	return d, nil
}

// newMasker hides secrets behind tokens that can be compared within one run of
// the program.
func newMasker(release stream.ReleaseRef) *mask.Masker {
	return mask.New([]byte(rand.Text()), mask.Release{Cluster: release.Cluster, Namespace: release.Namespace, Name: release.Name})
}

func (d *direct) close() { d.cluster.Close() }

// revisions are those of the release, lowest first; there is at least one.
func (d *direct) revisions(ctx context.Context) ([]*decoder.Revision, error) {
	revisions, err := inTime(ctx, d, func(ctx context.Context) ([]*decoder.Revision, error) {
		return d.cluster.List(ctx, d.release.Namespace, d.release.Name)
	})
	if err == nil && len(revisions) == 0 {
		err = d.noRelease()
	}
	return revisions, err
}

// noRelease says that there is no such release, or that it cannot be seen.
func (d *direct) noRelease() error {
	where := ""
	if driver := os.Getenv("HELM_DRIVER"); driver != "" && !strings.HasPrefix(driver, "secret") {
		where = fmt.Sprintf(" in Secrets; what helm keeps with HELM_DRIVER=%s cannot be read", driver)
	}
	return fmt.Errorf("there is no release %s in namespace %s%s", d.release.Name, d.release.Namespace, where)
}

// live is the deployed revision, else the newest.
func (d *direct) live(ctx context.Context) (*decoder.Record, int, error) {
	revisions, err := d.revisions(ctx)
	if err != nil {
		return nil, 0, err
	}
	newest := revisions[len(revisions)-1].Number
	for _, r := range slices.Backward(revisions) {
		// The record says it; the label may lie.
		record, err := d.record(ctx, r.Number)
		if err == nil && record.Status == decoder.StatusDeployed {
			return record, r.Number, nil
		}
		if err != nil && !unreadable(err) && !errors.Is(err, stream.ErrNotFound) {
			return nil, 0, err
		}
	}
	record, err := d.record(ctx, newest)
	return record, newest, err
}

// record reads one revision as it is.
func (d *direct) record(ctx context.Context, revision int) (*decoder.Record, error) {
	record, err := inTime(ctx, d, func(ctx context.Context) (*decoder.Record, error) {
		return d.cluster.Record(ctx, d.release.Namespace, d.release.Name, revision)
	})
	if errors.Is(err, stream.ErrNotFound) {
		err = &noRevisionError{d.release, revision}
	}
	return record, err
}

// noRevisionError says that a release does not have a revision.
type noRevisionError struct {
	release  stream.ReleaseRef
	revision int
}

func (e *noRevisionError) Error() string {
	return fmt.Sprintf("there is no revision %d of release %s in namespace %s", e.revision, e.release.Name, e.release.Namespace)
}

func (*noRevisionError) Unwrap() error { return stream.ErrNotFound }

// unreadable tells that a record is there, but cannot be decoded.
func unreadable(err error) bool {
	return errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge)
}

// inTime is what the API server answers, if it does so in time.
func inTime[T any](ctx context.Context, d *direct, ask func(context.Context) (T, error)) (T, error) {
	limited, cancel := ctx, func() {}
	if d.answerTime > 0 {
		limited, cancel = context.WithTimeout(ctx, d.answerTime)
	}
	defer cancel()
	answered, err := ask(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the API server has not answered within %v (--request-timeout): %w", d.answerTime, err)
	}
	return answered, err
}

// shown are records as they may be shown. A secret has one token in all of them.
func (d *direct) shown(records ...*decoder.Record) ([]*decoder.Record, error) {
	if d.masker == nil {
		return records, nil
	}
	sources := make([]mask.Source, len(records))
	for i, record := range records {
		sources[i] = mask.FromRecord(record)
	}
	secrets := d.masker.Collect(sources...)
	masked := make([]*decoder.Record, len(records))
	for i, record := range records {
		var err error
		if masked[i], err = secrets.Record(record); err != nil {
			return nil, err
		}
	}
	return masked, nil
}

// oneRelease checks that a command was given one name.
func oneRelease(c *cobra.Command, args []string) error {
	if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
		return &usageError{commandName(c), errors.New("name one release")}
	}
	return nil
}

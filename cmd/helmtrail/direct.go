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

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/informer"
)

// directOptions are the flags of the commands that read a cluster without a
// helmtrail server.
type directOptions struct {
	kubeconfig, context, namespace string
	// answerTime bounds each response of the API server; 0 means no bound.
	answerTime time.Duration
	reveal     bool
	output     outputFormat
}

func (o *directOptions) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig `file`; default: as kubectl")
	flags.StringVar(&o.context, "context", "", "kubeconfig context; default: the current one")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the release; default: the context's")
	flags.DurationVar(&o.answerTime, "request-timeout", 30*time.Second, "how long to wait for each response of the API server; 0 waits forever")
	flags.BoolVar(&o.reveal, "reveal", false, "show secrets instead of masking them")
	outputFlag(flags, &o.output)
}

// direct is a release in a cluster, read with the user's own rights.
type direct struct {
	cluster    *informer.Cluster
	release    helmtrail.ReleaseRef
	answerTime time.Duration
	masker     *mask.Masker // nil shows secrets
}

// open loads the kubeconfig. It makes no connection. The caller must call close.
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
	d.release = helmtrail.ReleaseRef{Cluster: d.cluster.ID, Namespace: o.namespace, Name: name}
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

// newMasker returns a masker whose tokens can be compared within one run of the
// program.
func newMasker(release helmtrail.ReleaseRef) *mask.Masker {
	return mask.New([]byte(rand.Text()), mask.Release{Cluster: release.Cluster, Namespace: release.Namespace, Name: release.Name})
}

func (d *direct) close() { d.cluster.Close() }

// revisions returns the release's revisions, lowest first. It fails if there are none.
func (d *direct) revisions(ctx context.Context) ([]*decoder.Revision, error) {
	revisions, err := inTime(ctx, d, func(ctx context.Context) ([]*decoder.Revision, error) {
		return d.cluster.List(ctx, d.release.Namespace, d.release.Name)
	})
	if err == nil && len(revisions) == 0 {
		err = d.noRelease()
	}
	return revisions, err
}

// noRelease returns the error for a release without revisions.
func (d *direct) noRelease() error {
	where := ""
	if driver := os.Getenv("HELM_DRIVER"); driver != "" && !strings.HasPrefix(driver, "secret") {
		where = fmt.Sprintf(" in Secrets; releases stored with HELM_DRIVER=%s are not supported", driver)
	}
	return fmt.Errorf("there is no release %s in namespace %s%s", d.release.Name, d.release.Namespace, where)
}

// live returns the deployed revision, or else the newest.
func (d *direct) live(ctx context.Context) (*decoder.Record, int, error) {
	revisions, err := d.revisions(ctx)
	if err != nil {
		return nil, 0, err
	}
	newest := revisions[len(revisions)-1].Number
	for _, r := range slices.Backward(revisions) {
		// The record decides; the label may be wrong.
		record, err := d.record(ctx, r.Number)
		if err == nil && record.Status == decoder.StatusDeployed {
			return record, r.Number, nil
		}
		if err != nil && !unreadable(err) && !errors.Is(err, helmtrail.ErrNotFound) {
			return nil, 0, err
		}
	}
	record, err := d.record(ctx, newest)
	return record, newest, err
}

// record reads a revision without masking it.
func (d *direct) record(ctx context.Context, revision int) (*decoder.Record, error) {
	record, err := inTime(ctx, d, func(ctx context.Context) (*decoder.Record, error) {
		return d.cluster.Record(ctx, d.release.Namespace, d.release.Name, revision)
	})
	if errors.Is(err, helmtrail.ErrNotFound) {
		err = &noRevisionError{d.release, revision}
	}
	return record, err
}

// noRevisionError is the error for a revision that a release does not have.
type noRevisionError struct {
	release  helmtrail.ReleaseRef
	revision int
}

func (e *noRevisionError) Error() string {
	return fmt.Sprintf("there is no revision %d of release %s in namespace %s", e.revision, e.release.Name, e.release.Namespace)
}

func (*noRevisionError) Unwrap() error { return helmtrail.ErrNotFound }

// unreadable reports whether err means that a record exists but cannot be decoded.
func unreadable(err error) bool {
	return errors.Is(err, decoder.ErrNotRecord) || errors.Is(err, decoder.ErrTooLarge)
}

// inTime calls ask and bounds the time of the API server's response.
func inTime[T any](ctx context.Context, d *direct, ask func(context.Context) (T, error)) (T, error) {
	limited, cancel := ctx, func() {}
	if d.answerTime > 0 {
		limited, cancel = context.WithTimeout(ctx, d.answerTime)
	}
	defer cancel()
	answered, err := ask(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the API server did not respond within %v (--request-timeout): %w", d.answerTime, err)
	}
	return answered, err
}

// shown masks records unless secrets are revealed. A secret has the same token in
// all of them.
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

// oneRelease checks that there is one argument, a release's name.
func oneRelease(c *cobra.Command, args []string) error {
	if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
		return &usageError{commandName(c), errors.New("expected one argument: the release's name")}
	}
	return nil
}

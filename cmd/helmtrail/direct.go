package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	reveal                         bool
	output                         outputFormat
}

func (o *directOptions) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`; by default what kubectl takes")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig; by default the current one")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the release's namespace; by default the context's")
	flags.BoolVar(&o.reveal, "reveal", false, "show secrets as they are")
	outputFlag(flags, &o.output)
}

// direct is a release in a cluster that is asked with the user's own rights.
type direct struct {
	cluster *informer.Cluster
	release stream.ReleaseRef
	masker  *mask.Masker // nil shows secrets
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
	d := &direct{cluster: clusters[0]}
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

// revisions are those of the release, lowest first.
func (d *direct) revisions(ctx context.Context) ([]*decoder.Revision, error) {
	revisions, err := d.cluster.Read(ctx, d.release.Namespace, d.release.Name)
	if err != nil {
		return nil, err
	}
	if len(revisions) == 0 {
		return nil, fmt.Errorf("there is no release %s in namespace %s", d.release.Name, d.release.Namespace)
	}
	return revisions, nil
}

// live is the number of the deployed revision, else of the newest.
func (d *direct) live(ctx context.Context) (int, error) {
	revisions, err := d.revisions(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range slices.Backward(revisions) {
		if r.Status() == decoder.StatusDeployed {
			return r.Number, nil
		}
	}
	return revisions[len(revisions)-1].Number, nil
}

// record reads one revision as it is.
func (d *direct) record(ctx context.Context, revision int) (*decoder.Record, error) {
	record, err := d.cluster.Record(ctx, d.release.Namespace, d.release.Name, revision)
	if errors.Is(err, stream.ErrNotFound) {
		return nil, fmt.Errorf("there is no revision %d of release %s in namespace %s", revision, d.release.Name, d.release.Namespace)
	}
	return record, err
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

package informer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/helmtrail/helmtrail/internal/reserved"
)

// Options says which clusters to open.
type Options struct {
	// Kubeconfig is the path of a kubeconfig. Empty means the default of kubectl:
	// $KUBECONFIG, then ~/.kube/config, then the Pod's own service account.
	Kubeconfig string
	// Contexts names the contexts to watch, one cluster each. Empty means all, the
	// current one first.
	Contexts []string
	// Files are further clusters, each the current context of its own kubeconfig.
	// If only Files are set, no other kubeconfig is read.
	Files []File
	// InCluster adds the cluster in which this Pod runs.
	InCluster bool
	// Namespaces are the namespaces to watch; empty means all.
	Namespaces []string
	// MaskKey is the key of the masks in the revisions' descriptions. It should be
	// the key that is used wherever secrets of these clusters are shown; the
	// default is a new one.
	MaskKey []byte
	// Log receives messages for operators; nil discards them.
	Log *slog.Logger
}

// File is a kubeconfig whose current context is a cluster of this id.
type File struct{ ID, Path string }

// inClusterID is the id of the cluster that a Pod without a kubeconfig runs in.
const inClusterID = "in-cluster"

// Open prepares the clusters. It reads files but starts nothing and connects to
// nothing, so an unreachable cluster is not an error. It fails if a context in
// Contexts does not exist or is incomplete, and if the id of any context is
// reserved or taken. An incomplete context that Contexts does not name is logged
// and skipped.
func Open(o Options) ([]*Cluster, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaskKey == nil {
		o.MaskKey = []byte(rand.Text())
	}
	set := &opening{options: o, owners: map[string]string{}}
	if o.Kubeconfig != "" || len(o.Contexts) > 0 || len(o.Files) == 0 && !o.InCluster {
		if err := set.contexts(); err != nil {
			return nil, err
		}
	}
	if o.InCluster {
		if err := set.inCluster(); err != nil {
			return nil, err
		}
	}
	for _, file := range o.Files {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = file.Path
		if file.ID != mapID(file.ID) || file.ID == "" {
			return nil, fmt.Errorf("cluster %q: an id has lower case letters, digits and - only", file.ID)
		}
		if err := set.add(file.ID, file.ID, &source{rules: rules}, nil); err != nil {
			return nil, err
		}
	}
	return set.clusters, nil
}

// opening gathers clusters under their ids.
type opening struct {
	options  Options
	clusters []*Cluster
	owners   map[string]string // the name of each id's owner
}

// contexts adds the contexts of the kubeconfig.
func (set *opening) contexts() error {
	o := set.options
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.Kubeconfig
	raw, err := rules.Load()
	if err != nil {
		return fmt.Errorf("load kubeconfig: %w", err)
	}
	names := o.Contexts
	if len(names) == 0 {
		if len(raw.Contexts) == 0 && o.Kubeconfig == "" {
			return set.inCluster()
		}
		names = allContexts(raw)
	}
	if len(names) == 0 {
		return errors.New("load kubeconfig: it has no context")
	}
	for _, name := range names {
		err := set.add(mapID(name), name, &source{rules: rules, context: name}, raw)
		if err == nil {
			continue
		}
		if incomplete := (*incompleteError)(nil); len(o.Contexts) > 0 || !errors.As(err, &incomplete) {
			return err
		}
		o.Log.Warn("skipping a context", "error", err)
	}
	if len(set.clusters) == 0 {
		return errors.New("load kubeconfig: none of its contexts is complete")
	}
	return nil
}

// allContexts returns the names of all contexts, the current one first.
func allContexts(raw *clientcmdapi.Config) []string {
	names := contextNames(raw)
	if at := slices.Index(names, raw.CurrentContext); at > 0 {
		names = slices.Insert(slices.Delete(names, at, at+1), 0, raw.CurrentContext)
	}
	return names
}

// incompleteError is returned for a context that does not say how to reach a
// cluster.
type incompleteError struct {
	context string
	err     error
}

func (e *incompleteError) Error() string { return fmt.Sprintf("context %q: %v", e.context, e.err) }
func (e *incompleteError) Unwrap() error { return e.err }

// add opens one context.
func (set *opening) add(id, name string, from *source, raw *clientcmdapi.Config) error {
	if err := set.claim(id, name); err != nil {
		return err
	}
	config, proxyURL, err := from.load(raw)
	if err == nil {
		err = set.open(id, config, proxyURL, from)
	}
	if err != nil {
		delete(set.owners, id)
		return &incompleteError{name, err}
	}
	return nil
}

func (set *opening) inCluster() error {
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return errors.New("load kubeconfig: there is none, and this is not a Pod")
	}
	if err != nil {
		return fmt.Errorf("use the Pod's service account: %w", err)
	}
	if err := set.claim(inClusterID, inClusterID); err != nil {
		return err
	}
	return set.open(inClusterID, config, "", nil)
}

func (set *opening) open(id string, config *rest.Config, proxyURL string, from *source) error {
	c, err := newCluster(id, config, proxyURL, set.options)
	if err != nil {
		return err
	}
	c.source = from
	set.clusters = append(set.clusters, c)
	return nil
}

// claim reserves an id for a name.
func (set *opening) claim(id, name string) error {
	switch other, taken := set.owners[id]; {
	case id == "":
		return errors.New("a context without a name cannot be a cluster")
	case reserved.Contains(id):
		return fmt.Errorf("context %q: %q is a reserved address, give it another name", name, id)
	case taken:
		return fmt.Errorf("context %q: its cluster id %q is already that of context %q", name, id, other)
	}
	set.owners[id] = name
	return nil
}

func contextNames(raw *clientcmdapi.Config) []string {
	names := make([]string, 0, len(raw.Contexts))
	for name := range raw.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// mapID converts a context's name to a URL segment.
func mapID(context string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(context))
}

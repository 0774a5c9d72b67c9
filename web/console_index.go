package web

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/stream"
)

const (
	// entrySeparator stands between a chart's and its repository's name in the
	// keys of index.yaml.
	entrySeparator = "--"
	// indexLife is how long a repository's index is taken for current, and
	// failedIndexLife how long one that cannot be read is left alone.
	indexLife       = 5 * time.Minute
	failedIndexLife = 15 * time.Second
	// versionLife is how long an API server's version is taken for current.
	versionLife = 10 * time.Minute
	// maxIndexBytes bounds the indexes that are kept, by what their repositories sent.
	maxIndexBytes = 128 << 20
	// indexesAtOnce is how many indexes are read at the same time.
	indexesAtOnce = 4
)

// indexVersion is one version of a chart in an index: its JSON, with absolute
// addresses, and the versions of Kubernetes that it is for.
type indexVersion struct {
	content     json.RawMessage
	kubeVersion string
}

// repositoryIndex is a repository's index, or why it cannot be read.
type repositoryIndex struct {
	entries map[string][]indexVersion
	problem string
	expires time.Time
	bytes   int
}

// indexes keeps repositories' indexes and API servers' versions for a while.
type indexes struct {
	mu       sync.Mutex
	kept     map[string]*repositoryIndex
	bytes    int
	versions map[string]keptVersion
	reads    singleflight.Group // of indexes
}

// get returns an index that is current, nil if there is none.
func (i *indexes) get(key string) *repositoryIndex {
	i.mu.Lock()
	defer i.mu.Unlock()
	if kept := i.kept[key]; kept != nil && time.Now().Before(kept.expires) {
		return kept
	}
	return nil
}

// put keeps an index, in place of those that are not current any more or, when
// there is no room, of all others.
func (i *indexes) put(key string, read *repositoryIndex) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for key, kept := range i.kept {
		if !time.Now().Before(kept.expires) {
			i.bytes -= kept.bytes
			delete(i.kept, key)
		}
	}
	if i.kept == nil || i.bytes+read.bytes > maxIndexBytes {
		i.kept, i.bytes = map[string]*repositoryIndex{}, 0
	}
	if old := i.kept[key]; old != nil {
		i.bytes -= old.bytes
	}
	i.kept[key] = read
	i.bytes += read.bytes
}

type keptVersion struct {
	version string
	expires time.Time
}

// consoleIndex answers with one index.yaml for all repositories. A repository
// that cannot be read is named in an annotation, and the rest is there.
func (s *Server) consoleIndex(call *consoleCall) error {
	compatible := true
	if text := call.Query("onlyCompatible"); text != "" {
		var err error
		if compatible, err = strconv.ParseBool(text); err != nil {
			call.status = http.StatusBadRequest
			return badRequest("onlyCompatible", "onlyCompatible must be true or false.")
		}
	}
	call.status = http.StatusInternalServerError
	if s.options.Archives == nil {
		return &consoleError{call.status, noArchives.text}
	}
	repositories, err := s.consoleRepositories(call, call.Query("namespace"))
	if err != nil {
		return err
	}
	version := ""
	if compatible {
		if version, err = s.kubeVersion(call.ctx, call.cluster); err != nil {
			return call.cluster.asked(err)
		}
	}
	found := make([]*repositoryIndex, len(repositories))
	var reading errgroup.Group
	reading.SetLimit(indexesAtOnce)
	for i, r := range repositories {
		reading.Go(func() error {
			found[i] = s.repositoryIndex(call.ctx, r)
			return nil
		})
	}
	_ = reading.Wait() // each repository has its own problem
	body, err := mergeIndexes(repositories, found, version)
	if err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store, must-revalidate")
	if unchanged(call.Context, body) {
		return nil
	}
	call.Data(http.StatusOK, "application/yaml", body)
	return nil
}

// consoleWarning is a repository that is missing from the merged index.
type consoleWarning struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// mergeIndexes is the YAML of all indexes in one. Without a version nothing is
// left out as incompatible.
func mergeIndexes(repositories []stream.ChartRepository, indexes []*repositoryIndex, version string) ([]byte, error) {
	var warnings []consoleWarning
	entries := map[string][]json.RawMessage{}
	for i, index := range indexes {
		name := repositories[i].Name
		if index.problem != "" {
			warnings = append(warnings, consoleWarning{name, index.problem})
			continue
		}
		for _, chart := range slices.Sorted(maps.Keys(index.entries)) {
			key := chart + entrySeparator + name
			if entries[key] != nil {
				continue
			}
			for _, v := range index.entries[chart] {
				if fits(v.kubeVersion, version) {
					entries[key] = append(entries[key], v.content)
				}
			}
		}
	}
	merged := struct {
		APIVersion  string                       `json:"apiVersion"`
		Entries     map[string][]json.RawMessage `json:"entries"`
		Annotations map[string]string            `json:"annotations,omitempty"`
	}{APIVersion: "v1", Entries: entries}
	if warnings != nil {
		merged.Annotations = map[string]string{"console-warning": strings.TrimSpace(string(encodeJSON(warnings)))}
	}
	body, err := yaml.JSONToYAML(encodeJSON(merged))
	if err != nil {
		return nil, fmt.Errorf("encode the merged index: %w", err)
	}
	return body, nil
}

// fits tells whether a chart's kubeVersion allows a version, as helm does
// (helm.sh/helm/v3/pkg/chartutil/compatible.go).
func fits(constraint, version string) bool {
	if constraint == "" || version == "" {
		return true
	}
	parsed, err := semver.NewVersion(version)
	if err != nil {
		return false
	}
	allowed, err := semver.NewConstraint(constraint)
	return err == nil && allowed.Check(parsed)
}

// repositoryIndex returns a repository's index, read anew when it is old.
func (s *Server) repositoryIndex(ctx context.Context, r stream.ChartRepository) *repositoryIndex {
	if r.Problem != "" {
		return &repositoryIndex{problem: r.Problem}
	}
	// What was read with a login is not shown to those without it.
	digest := sha256.New()
	fmt.Fprintf(digest, "%q", r.URL)
	for _, key := range slices.Sorted(maps.Keys(r.Access)) {
		fmt.Fprintf(digest, "%q%q", key, r.Access[key])
	}
	key := string(digest.Sum(nil))
	if kept := s.indexes.get(key); kept != nil {
		return kept
	}
	// All who ask at once wait for one, which goes on when one of them leaves.
	read, _, _ := s.indexes.reads.Do(key, func() (any, error) {
		if kept := s.indexes.get(key); kept != nil {
			return kept, nil
		}
		read := &repositoryIndex{}
		data, err := s.options.Archives.RepositoryIndex(context.WithoutCancel(ctx), r.URL, r.Access)
		if err == nil {
			read.entries, err = readIndex(data, r.URL)
		}
		read.expires, read.bytes = time.Now().Add(indexLife), len(data)
		if err != nil {
			read.problem, read.expires = err.Error(), time.Now().Add(failedIndexLife)
		}
		s.indexes.put(key, read)
		return read, nil
	})
	return read.(*repositoryIndex)
}

// readIndex reads an index.yaml and makes the addresses in it absolute.
func readIndex(data []byte, address string) (map[string][]indexVersion, error) {
	var raw struct {
		Entries map[string][]map[string]any `json:"entries"`
	}
	if yaml.Unmarshal(data, &raw) != nil {
		return nil, errors.New("its index.yaml is not that of a chart repository")
	}
	base, err := url.Parse(strings.TrimSuffix(address, "/") + "/")
	if err != nil {
		return nil, errors.New("its address cannot be read")
	}
	entries := make(map[string][]indexVersion, len(raw.Entries))
	for name, versions := range raw.Entries {
		for _, fields := range versions {
			urls, _ := fields["urls"].([]any)
			for i, one := range urls {
				text, _ := one.(string)
				if relative, err := url.Parse(text); err == nil {
					urls[i] = base.ResolveReference(relative).String()
				}
			}
			kubeVersion, _ := fields["kubeVersion"].(string)
			entries[name] = append(entries[name], indexVersion{content: encodeJSON(fields), kubeVersion: kubeVersion})
		}
	}
	return entries, nil
}

// kubeVersion is the API server's version, asked for now and then.
func (s *Server) kubeVersion(ctx context.Context, cluster *watched) (string, error) {
	s.indexes.mu.Lock()
	kept := s.indexes.versions[cluster.ID]
	s.indexes.mu.Unlock()
	if time.Now().Before(kept.expires) {
		return kept.version, nil
	}
	version, err := cluster.API.KubeVersion(ctx)
	if err != nil {
		return "", err
	}
	s.indexes.mu.Lock()
	defer s.indexes.mu.Unlock()
	if s.indexes.versions == nil {
		s.indexes.versions = map[string]keptVersion{}
	}
	s.indexes.versions[cluster.ID] = keptVersion{version, time.Now().Add(versionLife)}
	return version, nil
}

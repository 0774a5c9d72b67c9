package console

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

const (
	// entrySeparator separates the names of the chart and its repository in the
	// keys of the merged index.yaml.
	entrySeparator = "--"
	// versionLife is how long an API server's version is cached, maxVersions the
	// number of cached versions.
	versionLife = 10 * time.Minute
	maxVersions = 1000
	// indexesAtOnce is the number of indexes that are read concurrently.
	indexesAtOnce = 4
)

// repositoryIndex is a repository's index, or the reason why it cannot be read.
type repositoryIndex struct {
	entries catalog.Index
	problem string
}

// getIndex answers with one index.yaml for all repositories. A repository that
// cannot be read is named in an annotation; the others are listed.
func (s *Server) getIndex(call *apiCall) error {
	compatible := true
	if text := call.Query("onlyCompatible"); text != "" {
		var err error
		if compatible, err = strconv.ParseBool(text); err != nil {
			call.status = http.StatusBadRequest
			return httpapi.BadField("onlyCompatible", "onlyCompatible must be true or false.")
		}
	}
	call.status = http.StatusInternalServerError
	if s.Archives == nil {
		return &statusError{call.status, errNoArchives.text}
	}
	repositories, err := s.repositories(call, call.Query("namespace"))
	if err != nil {
		return err
	}
	version := ""
	if compatible {
		if version, err = s.kubeVersion(call.ctx, call.cluster); err != nil {
			return call.cluster.Explain(err)
		}
	}
	found := make([]repositoryIndex, len(repositories))
	var reading errgroup.Group
	reading.SetLimit(indexesAtOnce)
	for i, r := range repositories {
		reading.Go(func() error {
			found[i] = s.repositoryIndex(call.ctx, r)
			return nil
		})
	}
	_ = reading.Wait() // Each index has its own problem.
	body, err := mergeIndexes(repositories, found, version)
	if err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store, must-revalidate")
	if httpapi.Unchanged(call.Context, body) {
		return nil
	}
	call.Data(http.StatusOK, "application/yaml", body)
	return nil
}

// indexWarning names a repository that is missing from the merged index.
type indexWarning struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// mergeIndexes returns all indexes merged as YAML. With a version it omits the
// charts that do not support it.
func mergeIndexes(repositories []helmtrail.ChartRepository, indexes []repositoryIndex, version string) ([]byte, error) {
	var warnings []indexWarning
	entries := map[string][]json.RawMessage{}
	for i, index := range indexes {
		name := repositories[i].Name
		if index.problem != "" {
			warnings = append(warnings, indexWarning{name, index.problem})
			continue
		}
		for _, chart := range slices.Sorted(maps.Keys(index.entries)) {
			key := chart + entrySeparator + name
			if entries[key] != nil {
				continue
			}
			for _, v := range index.entries[chart] {
				if fits(v.KubeVersion, version) {
					entries[key] = append(entries[key], v.Content)
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
		merged.Annotations = map[string]string{"console-warning": strings.TrimSpace(string(httpapi.EncodeJSON(warnings)))}
	}
	body, err := yaml.JSONToYAML(httpapi.EncodeJSON(merged))
	if err != nil {
		return nil, fmt.Errorf("encode the merged index: %w", err)
	}
	return body, nil
}

// fits reports whether a chart's kubeVersion allows a version, as helm does
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

func (s *Server) repositoryIndex(ctx context.Context, r helmtrail.ChartRepository) repositoryIndex {
	if r.Problem != "" {
		return repositoryIndex{problem: r.Problem}
	}
	entries, err := s.Archives.RepositoryIndex(ctx, r.URL, r.Access)
	if err != nil {
		return repositoryIndex{problem: err.Error()}
	}
	return repositoryIndex{entries: entries}
}

// kubeVersion returns the API server's version, from the cache if it can.
func (s *Server) kubeVersion(ctx context.Context, cluster Cluster) (string, error) {
	if version, ok := s.versions.Get(cluster.ID); ok {
		return version, nil
	}
	version, err := cluster.API.KubeVersion(ctx)
	if err != nil {
		return "", err
	}
	s.versions.Add(cluster.ID, version)
	return version, nil
}

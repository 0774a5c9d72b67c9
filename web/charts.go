package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// maxArchive bounds an uploaded chart, in bytes.
const maxArchive = 32 << 20

// Charts lists, describes and stores charts. Its methods may be called concurrently.
type Charts interface {
	// ListCharts returns all charts, of the uploaded ones those of a scope, sorted by
	// name within each source, and the problems of sources that could not be listed.
	// It may request repositories.
	ListCharts(ctx context.Context, scope catalog.Scope) ([]catalog.Item, []catalog.Problem)
	// DescribeChart reads a chart, which may be an uploaded one of the scope; it may
	// fetch it.
	DescribeChart(ctx context.Context, scope catalog.Scope, fetch helmtrail.ChartFetch) (*catalog.Details, error)
	// FromElsewhere reports whether a chart is named by a URL that is not one of a
	// configured repository's server.
	FromElsewhere(chart helmtrail.Chart) bool
	// UploadChart stores an archive, which can then be used in the scope.
	UploadChart(ctx context.Context, scope catalog.Scope, archive io.Reader) (*catalog.Item, error)
}

// chartRoutes serves the charts. If charts is nil, there are none.
type chartRoutes struct {
	charts   Charts
	clusters *clusterSet
	basePath string
}

type chartList struct {
	Items    []catalog.Item    `json:"items"`
	Problems []catalog.Problem `json:"problems"`
	Continue string            `json:"continue,omitempty"`
}

// list answers with one page of the charts.
func (s chartRoutes) list(c *gin.Context) error {
	limit, err := httpapi.Limit(c)
	if err != nil {
		return err
	}
	list := chartList{Items: []catalog.Item{}, Problems: []catalog.Problem{}}
	if s.charts == nil {
		httpapi.WriteJSON(c, http.StatusOK, list)
		return nil
	}
	scope, denied, err := s.uploads(c)
	if err != nil {
		return err
	}
	items, problems := s.charts.ListCharts(c.Request.Context(), scope)
	list.Problems = append(list.Problems, problems...)
	if denied != nil {
		list.Problems = append(list.Problems, catalog.Problem{Where: "namespace " + c.Query("namespace"), Message: denied.Error()})
	}
	list.Items = append(list.Items, items...)
	if q := strings.ToLower(c.Query("q")); q != "" {
		list.Items = slices.DeleteFunc(list.Items, func(i catalog.Item) bool {
			return !strings.Contains(strings.ToLower(i.Name+" "+i.Repo+" "+i.Description), q)
		})
	}
	if after := c.Query("continue"); after != "" {
		at := slices.IndexFunc(list.Items, func(i catalog.Item) bool { return chartKey(i) == after })
		if at < 0 {
			return httpapi.BadContinue()
		}
		list.Items = list.Items[at+1:]
	}
	if len(list.Items) > limit {
		list.Items = list.Items[:limit]
		list.Continue = chartKey(list.Items[limit-1])
	}
	httpapi.WriteJSON(c, http.StatusOK, list)
	return nil
}

// chartKey identifies a listed chart.
func chartKey(i catalog.Item) string { return i.Repo + " " + i.Ref }

// describe answers with the parts of a chart that its form needs. The reference may
// contain slashes, escaped or not.
func (s chartRoutes) describe(c *gin.Context) error {
	if s.charts == nil {
		return httpapi.ErrNoRoute
	}
	chart := helmtrail.Chart{Ref: strings.TrimPrefix(c.Param("ref"), "/"), Repo: c.Query("repo"), Version: c.Query("version")}
	scope, denied, err := s.uploads(c)
	if err != nil {
		return err
	}
	if err := s.checkSource(c, chart, c.Query("namespace")); err != nil {
		return err
	}
	fetch := helmtrail.ChartFetch{Chart: chart, User: authz.CallerOf(c).User.Name}
	details, err := s.charts.DescribeChart(c.Request.Context(), scope, fetch)
	if invalid, ok := errors.AsType[*helmtrail.InvalidError](err); ok && invalid.Missing {
		if denied != nil && strings.HasPrefix(chart.Ref, "upload:") {
			return denied
		}
		return httpapi.NotFound(invalid.Message)
	}
	if err != nil {
		return err
	}
	httpapi.WriteJSON(c, http.StatusOK, details)
	return nil
}

// scope returns the scope of uploads that the query names, without a permission.
// Its cluster is the one that identified the caller.
func (s chartRoutes) scope(c *gin.Context) (catalog.Scope, error) {
	scope := catalog.Scope{Cluster: c.Query("cluster"), Namespace: c.Query("namespace")}
	if scope.Namespace == "" {
		if scope.Cluster != "" {
			return scope, httpapi.BadField("namespace", "namespace is required with cluster.")
		}
		return scope, nil
	}
	if len(validation.IsDNS1123Label(scope.Namespace)) > 0 {
		return scope, httpapi.BadField("namespace", "namespace must be the name of a namespace.")
	}
	cluster, err := s.clusters.defaultCluster()
	if scope.Cluster != "" {
		cluster, err = s.clusters.served(scope.Cluster)
	}
	if err != nil {
		return scope, err
	}
	scope.Cluster = cluster.ID
	return scope, cluster.CheckWatched(scope.Namespace)
}

// uploads returns the scope of the uploads that the caller may see: that of the
// query or, if denied says why not, the whole server.
func (s chartRoutes) uploads(c *gin.Context) (scope catalog.Scope, denied *helmtrail.ForbiddenError, err error) {
	if namespace := c.Query("namespace"); namespace != "" {
		// Check the permission first: not everybody may learn which namespaces are
		// watched.
		err := authz.CallerOf(c).Allows(c.Request.Context(), authz.UseUploads, namespace)
		if denied, ok := errors.AsType[*helmtrail.ForbiddenError](err); ok {
			return catalog.Scope{}, denied, nil
		}
		if err != nil {
			return catalog.Scope{}, nil, err
		}
	}
	scope, err = s.scope(c)
	return scope, nil, err
}

// checkSource returns an error unless the caller may have the chart fetched. A
// chart by URL is one that the caller adds, like an uploaded archive, so both need
// the same permission.
func (s chartRoutes) checkSource(c *gin.Context, chart helmtrail.Chart, namespace string) error {
	if s.charts == nil || !s.charts.FromElsewhere(chart) {
		return nil
	}
	return authz.CallerOf(c).Allows(c.Request.Context(), authz.Upload, namespace)
}

// upload stores the archive in the request's body.
func (s chartRoutes) upload(c *gin.Context) error {
	if s.charts == nil {
		return httpapi.ErrNoRoute
	}
	scope, err := s.scope(c)
	if err != nil {
		return err
	}
	item, err := s.charts.UploadChart(c.Request.Context(), scope, http.MaxBytesReader(c.Writer, c.Request.Body, maxArchive))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return httpapi.TooLarge("The archive is larger than " + strconv.Itoa(maxArchive) + " bytes.")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return httpapi.ErrBodyCut
	}
	if err != nil {
		return fmt.Errorf("upload a chart: %w", err)
	}
	location := s.basePath + "/charts/" + url.PathEscape(item.Ref)
	if scope.Namespace != "" {
		location += "?" + url.Values{"cluster": {scope.Cluster}, "namespace": {scope.Namespace}}.Encode()
	}
	c.Header("Location", location)
	httpapi.WriteJSON(c, http.StatusCreated, item)
	return nil
}

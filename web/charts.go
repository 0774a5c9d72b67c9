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

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// maxArchive bounds an uploaded chart, in bytes.
const maxArchive = 32 << 20

// Charts lists, describes and stores charts. Its methods may be called concurrently.
type Charts interface {
	// ListCharts returns all charts, sorted by name within each source, and the
	// problems of sources that could not be listed. It may request repositories.
	ListCharts(ctx context.Context) ([]catalog.Item, []catalog.Problem)
	// DescribeChart reads a chart; it may fetch it.
	DescribeChart(ctx context.Context, fetch helmtrail.ChartFetch) (*catalog.Details, error)
	// FromElsewhere reports whether a chart is named by a URL that is not one of a
	// configured repository's server.
	FromElsewhere(chart helmtrail.Chart) bool
	// UploadChart stores an archive.
	UploadChart(ctx context.Context, archive io.Reader) (*catalog.Item, error)
}

// chartRoutes serves the charts. If charts is nil, there are none.
type chartRoutes struct {
	charts   Charts
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
	items, problems := s.charts.ListCharts(c.Request.Context())
	list.Problems = append(list.Problems, problems...)
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
	if err := s.checkSource(c, chart, c.Query("namespace")); err != nil {
		return err
	}
	fetch := helmtrail.ChartFetch{Chart: chart, User: authz.CallerOf(c).User.Name}
	details, err := s.charts.DescribeChart(c.Request.Context(), fetch)
	if invalid, ok := errors.AsType[*helmtrail.InvalidError](err); ok && invalid.Missing {
		return httpapi.NotFound(invalid.Message)
	}
	if err != nil {
		return err
	}
	httpapi.WriteJSON(c, http.StatusOK, details)
	return nil
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
	item, err := s.charts.UploadChart(c.Request.Context(), http.MaxBytesReader(c.Writer, c.Request.Body, maxArchive))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return httpapi.TooLarge("The archive is larger than " + strconv.Itoa(maxArchive) + " bytes.")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return httpapi.ErrBodyCut
	}
	if err != nil {
		return fmt.Errorf("upload a chart: %w", err)
	}
	c.Header("Location", s.basePath+"/charts/"+url.PathEscape(item.Ref))
	httpapi.WriteJSON(c, http.StatusCreated, item)
	return nil
}

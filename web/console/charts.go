package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// In these annotations of a chart's metadata, the console's upgrade form looks
// for the origin of the chart (pkg/helm/actions/install_chart.go in its
// repository).
const (
	annotationURL          = "chart_url"
	annotationInstallation = "installation"
	annotationSecret       = "helm.openshift.io/auth-secret"
	installedByURL         = "url_install"
	// noSecret in an upgrade removes the stored Secret's name.
	noSecret = "__none__"
)

// errNoArchives is returned when the server offers no charts.
var errNoArchives = &statusError{http.StatusBadGateway, "this server offers no charts"}

// installable fetches the chart of an install and stores it with the annotations
// that an upgrade needs. A chart that is already on the server is used unchanged.
func (s *Server) installable(call *apiCall, body requestBody) (helmtrail.Chart, error) {
	if !strings.Contains(body.ChartURL, "://") {
		return helmtrail.Chart{Ref: body.ChartURL, Version: body.ChartVersion}, nil
	}
	archive, err := s.fetch(call, body)
	if err != nil {
		return helmtrail.Chart{}, err
	}
	annotations := map[string]string{annotationURL: body.ChartURL}
	if body.NoRepo {
		annotations[annotationInstallation] = installedByURL
		if body.BasicAuthSecret != "" {
			annotations[annotationSecret] = body.BasicAuthSecret
		}
	}
	if archive, err = annotate(archive, annotations); err != nil {
		return helmtrail.Chart{}, err
	}
	return s.keep(call, body, archive)
}

// upgradable returns the chart of an upgrade. Without a URL it is the chart in
// the newest revision's record. A chart with subcharts, which records do not
// contain, is fetched again from its origin.
func (s *Server) upgradable(call *apiCall, body requestBody, newest *decoder.Revision) (helmtrail.Chart, error) {
	if body.ChartURL != "" && body.BasicAuthSecret != "" && body.BasicAuthSecret != noSecret {
		return s.installable(call, body)
	}
	record, err := call.cluster.Records.Record(call.ctx, newest.Namespace, newest.Name, newest.Number)
	if err != nil {
		return helmtrail.Chart{}, call.cluster.Explain(err)
	}
	known := map[string]string{}
	if record.Metadata != nil {
		known = record.Metadata.Annotations
	}
	if body.BasicAuthSecret == noSecret {
		body.BasicAuthSecret = ""
	} else {
		body.BasicAuthSecret = cmp.Or(body.BasicAuthSecret, known[annotationSecret])
	}
	if body.ChartURL != "" {
		return s.installable(call, body)
	}
	if s.Archives == nil {
		return helmtrail.Chart{}, errNoArchives
	}
	archive, err := rebuild(record)
	if errors.Is(err, errSubcharts) && known[annotationURL] != "" {
		body.ChartURL, body.NoRepo = known[annotationURL], known[annotationInstallation] == installedByURL
		return s.installable(call, body)
	}
	if err != nil {
		return helmtrail.Chart{}, err
	}
	return s.keep(call, body, archive)
}

// keep uploads an archive to the release's namespace, so that it can be installed
// there.
func (s *Server) keep(call *apiCall, body requestBody, archive []byte) (helmtrail.Chart, error) {
	release := body.release(call)
	scope := catalog.Scope{Cluster: release.Cluster, Namespace: release.Namespace}
	kept, err := s.Archives.UploadChart(call.ctx, scope, bytes.NewReader(archive))
	if err != nil {
		return helmtrail.Chart{}, err
	}
	return helmtrail.Chart{Ref: kept.Ref}, nil
}

// fetch fetches the archive of a chart with the credentials of the repository, or
// with those in the Secret named by the request.
func (s *Server) fetch(call *apiCall, body requestBody) ([]byte, error) {
	if s.Archives == nil {
		return nil, errNoArchives
	}
	if !strings.Contains(body.ChartURL, "://") {
		return nil, httpapi.BadField("chart_url", "the chart's address must begin with https://, http:// or oci://.")
	}
	namespace := cmp.Or(body.Namespace, defaultNamespace)
	fetch := helmtrail.ChartFetch{Chart: helmtrail.Chart{Ref: body.ChartURL}, User: call.caller.User.Name}
	if strings.HasPrefix(body.ChartURL, "oci://") {
		fetch.Chart.Version = body.ChartVersion
	}
	if s.Archives.FromElsewhere(fetch.Chart) {
		if err := call.caller.Allows(call.ctx, authz.Upload, namespace); err != nil {
			return nil, err
		}
	}
	switch {
	case body.BasicAuthSecret != "":
		secret, err := call.cluster.API.SecretData(call.ctx, call.caller.Credentials, namespace, body.BasicAuthSecret)
		if err != nil {
			return nil, err
		}
		fetch.Access = secret
	case body.IndexEntry != "" && !body.NoRepo:
		repository, err := s.repository(call, namespace, body.IndexEntry)
		if err != nil {
			return nil, err
		}
		// The caller chooses the chart's URL, not where the login is sent.
		fetch.Access, fetch.AccessFor = repository.Access, repository.URL
	}
	return s.Archives.FetchChart(call.ctx, fetch)
}

// repository returns the repository of an entry of index.yaml. The entry's key
// ends with the repository's name.
func (s *Server) repository(call *apiCall, namespace, entry string) (helmtrail.ChartRepository, error) {
	at := strings.LastIndex(entry, entrySeparator)
	if at < 0 {
		return helmtrail.ChartRepository{}, httpapi.BadField("indexEntry", "indexEntry must be <chart>--<repository>.")
	}
	repositories, err := s.repositories(call, namespace)
	if err != nil {
		return helmtrail.ChartRepository{}, err
	}
	for _, r := range repositories {
		if r.Name != entry[at+len(entrySeparator):] {
			continue
		}
		if r.Problem != "" {
			return r, &statusError{call.status, "chart repository " + r.Name + ": " + r.Problem}
		}
		return r, nil
	}
	return helmtrail.ChartRepository{}, httpapi.BadField("indexEntry", "indexEntry names a chart repository that does not exist.")
}

// repositories returns the cluster's own repositories, those of a namespace and
// the configured ones. If several have the same name, the first one is used.
func (s *Server) repositories(call *apiCall, namespace string) ([]helmtrail.ChartRepository, error) {
	own, err := call.cluster.API.ChartRepositories(call.ctx, call.caller.Credentials, namespace)
	if err != nil {
		return nil, call.cluster.Explain(err)
	}
	return append(own, s.Archives.Repositories()...), nil
}

// getChart answers with a chart as Helm encodes it.
func (s *Server) getChart(call *apiCall) error {
	call.status = http.StatusBadRequest
	noRepo := false
	if text := call.Query("noRepo"); text != "" {
		var err error
		if noRepo, err = strconv.ParseBool(text); err != nil {
			return httpapi.BadField("noRepo", "noRepo must be true or false.")
		}
	}
	body := requestBody{
		ChartURL: call.Query("url"), Namespace: call.Query("namespace"), IndexEntry: call.Query("indexEntry"),
		NoRepo: noRepo, BasicAuthSecret: call.Query("basic_auth_secret_name"), ChartVersion: call.Query("chart_version"),
	}
	archive, err := s.fetch(call, body)
	if err != nil {
		return err
	}
	read, err := s.Archives.LoadChart(call.ctx, archive)
	if err != nil {
		return err
	}
	if read.Metadata.Annotations == nil {
		read.Metadata.Annotations = map[string]string{}
	}
	read.Metadata.Annotations[annotationURL] = body.ChartURL
	encoded, err := json.Marshal(encodableChart(read))
	if err != nil {
		return err
	}
	httpapi.WriteJSON(call.Context, http.StatusOK, json.RawMessage(encoded))
	return nil
}

// encodableChart returns a chart whose lists are encoded as [], never as null.
func encodableChart(c *chart.Chart) *chart.Chart {
	shown := *c
	if shown.Templates == nil {
		shown.Templates = []*chart.File{}
	}
	if shown.Files == nil {
		shown.Files = []*chart.File{}
	}
	return &shown
}

// postTemplate renders a chart without installing it.
func (s *Server) postTemplate(call *apiCall) error {
	var body requestBody
	if decodeBody(call.Context, &body) != nil {
		call.Data(http.StatusBadRequest, "text/plain; charset=utf-8", []byte("Failed to parse request"))
		return nil
	}
	if err := call.checkMay(authz.Get, body.release(call).Namespace); err != nil {
		return err
	}
	archive, err := s.fetch(call, body)
	if err != nil {
		return err
	}
	version, err := s.kubeVersion(call.ctx, call.cluster)
	if err != nil {
		return call.cluster.Explain(err)
	}
	text, err := s.Archives.RenderChart(call.ctx, archive, body.release(call), requestValues(body.Values), version)
	if err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store")
	call.Data(http.StatusOK, "text/yaml", text)
	return nil
}

// postVerify refuses to verify charts.
func (s *Server) postVerify(*apiCall) error {
	return &statusError{http.StatusNotImplemented, "helmtrail does not verify charts; use chart-verifier"}
}

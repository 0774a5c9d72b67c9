package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// The annotations of a chart's metadata by which the console's upgrade form
// finds again where the chart came from (pkg/helm/actions/install_chart.go in
// its repository).
const (
	annotationURL          = "chart_url"
	annotationInstallation = "installation"
	annotationSecret       = "helm.openshift.io/auth-secret"
	installedByURL         = "url_install"
	// noSecret in an upgrade forgets the stored Secret.
	noSecret = "__none__"
)

// noArchives is why charts cannot be had.
var noArchives = &consoleError{http.StatusBadGateway, "this server offers no charts"}

// consoleInstallable fetches the chart of an install and keeps it with the
// annotations that an upgrade needs. A chart that is on the server is used as
// it is.
func (s *Server) consoleInstallable(call *consoleCall, body consoleBody) (stream.Chart, error) {
	if !strings.Contains(body.ChartURL, "://") {
		return stream.Chart{Ref: body.ChartURL, Version: body.ChartVersion}, nil
	}
	archive, err := s.consoleFetch(call, body)
	if err != nil {
		return stream.Chart{}, err
	}
	annotations := map[string]string{annotationURL: body.ChartURL}
	if body.NoRepo {
		annotations[annotationInstallation] = installedByURL
		if body.BasicAuthSecret != "" {
			annotations[annotationSecret] = body.BasicAuthSecret
		}
	}
	if archive, err = annotate(archive, annotations); err != nil {
		return stream.Chart{}, err
	}
	return s.consoleKeep(call.ctx, archive)
}

// consoleUpgradable is the chart of an upgrade. Without an address it is the
// chart of the newest revision, from its record; only a chart with subcharts,
// which records do not hold, is fetched again from where it came.
func (s *Server) consoleUpgradable(call *consoleCall, body consoleBody, newest *decoder.Revision) (stream.Chart, error) {
	if body.ChartURL != "" && body.BasicAuthSecret != "" && body.BasicAuthSecret != noSecret {
		return s.consoleInstallable(call, body)
	}
	record, err := call.cluster.Objects.Record(call.ctx, newest.Namespace, newest.Name, newest.Number)
	if err != nil {
		return stream.Chart{}, call.cluster.asked(err)
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
		return s.consoleInstallable(call, body)
	}
	if s.options.Archives == nil {
		return stream.Chart{}, noArchives
	}
	archive, err := rebuild(record)
	if errors.Is(err, errSubcharts) && known[annotationURL] != "" {
		body.ChartURL, body.NoRepo = known[annotationURL], known[annotationInstallation] == installedByURL
		return s.consoleInstallable(call, body)
	}
	if err != nil {
		return stream.Chart{}, err
	}
	return s.consoleKeep(call.ctx, archive)
}

// consoleKeep makes an archive a chart that can be installed.
func (s *Server) consoleKeep(ctx context.Context, archive []byte) (stream.Chart, error) {
	kept, err := s.options.Archives.UploadChart(ctx, bytes.NewReader(archive))
	if err != nil {
		return stream.Chart{}, err
	}
	return stream.Chart{Ref: kept.Ref}, nil
}

// consoleFetch fetches the archive of a chart, with the access of the
// repository or the Secret that the request names.
func (s *Server) consoleFetch(call *consoleCall, body consoleBody) ([]byte, error) {
	if s.options.Archives == nil {
		return nil, noArchives
	}
	if !strings.Contains(body.ChartURL, "://") {
		return nil, badRequest("chart_url", "the chart's address must begin with https://, http:// or oci://.")
	}
	namespace := cmp.Or(body.Namespace, defaultNamespace)
	var access map[string][]byte
	switch {
	case body.BasicAuthSecret != "":
		secret, err := call.cluster.API.SecretData(call.ctx, call.credentials(), namespace, body.BasicAuthSecret)
		if err != nil {
			return nil, err
		}
		access = secret
	case body.IndexEntry != "" && !body.NoRepo:
		repository, err := s.consoleRepository(call, namespace, body.IndexEntry)
		if err != nil {
			return nil, err
		}
		access = repository.Access
	}
	chart := stream.Chart{Ref: body.ChartURL}
	if strings.HasPrefix(body.ChartURL, "oci://") {
		chart.Version = body.ChartVersion
	}
	return s.options.Archives.FetchChart(call.ctx, chart, access)
}

// consoleRepository finds the repository of an entry of index.yaml, whose key
// ends with the repository's name.
func (s *Server) consoleRepository(call *consoleCall, namespace, entry string) (stream.ChartRepository, error) {
	at := strings.LastIndex(entry, entrySeparator)
	if at < 0 {
		return stream.ChartRepository{}, badRequest("indexEntry", "indexEntry must be <chart>--<repository>.")
	}
	repositories, err := s.consoleRepositories(call, namespace)
	if err != nil {
		return stream.ChartRepository{}, err
	}
	for _, r := range repositories {
		if r.Name != entry[at+len(entrySeparator):] {
			continue
		}
		if r.Problem != "" {
			return r, &consoleError{call.status, "chart repository " + r.Name + ": " + r.Problem}
		}
		return r, nil
	}
	return stream.ChartRepository{}, badRequest("indexEntry", "indexEntry names no chart repository that there is.")
}

// consoleRepositories are the cluster's own repositories, those of a namespace
// and the configured ones; the first of a name counts.
func (s *Server) consoleRepositories(call *consoleCall, namespace string) ([]stream.ChartRepository, error) {
	own, err := call.cluster.API.ChartRepositories(call.ctx, call.credentials(), namespace)
	if err != nil {
		return nil, call.cluster.asked(err)
	}
	return append(own, s.options.Archives.Repositories()...), nil
}

// consoleChart answers with a chart as Helm encodes it.
func (s *Server) consoleChart(call *consoleCall) error {
	call.status = http.StatusBadRequest
	noRepo := false
	if text := call.Query("noRepo"); text != "" {
		var err error
		if noRepo, err = strconv.ParseBool(text); err != nil {
			return badRequest("noRepo", "noRepo must be true or false.")
		}
	}
	body := consoleBody{
		ChartURL: call.Query("url"), Namespace: call.Query("namespace"), IndexEntry: call.Query("indexEntry"),
		NoRepo: noRepo, BasicAuthSecret: call.Query("basic_auth_secret_name"), ChartVersion: call.Query("chart_version"),
	}
	archive, err := s.consoleFetch(call, body)
	if err != nil {
		return err
	}
	read, err := s.options.Archives.LoadChart(call.ctx, archive)
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
	writeJSON(call.Context, http.StatusOK, json.RawMessage(encoded))
	return nil
}

// encodableChart is a chart whose lists are never null.
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

// consoleTemplate renders a chart without installing it.
func (s *Server) consoleTemplate(call *consoleCall) error {
	var body consoleBody
	if decodeConsole(call.Context, &body) != nil {
		call.Data(http.StatusBadRequest, "text/plain; charset=utf-8", []byte("Failed to parse request"))
		return nil
	}
	if err := call.may(needGet, body.release(call).Namespace); err != nil {
		return err
	}
	archive, err := s.consoleFetch(call, body)
	if err != nil {
		return err
	}
	version, err := s.kubeVersion(call.ctx, call.cluster)
	if err != nil {
		return call.cluster.asked(err)
	}
	text, err := s.options.Archives.RenderChart(call.ctx, archive, body.release(call), consoleValues(body.Values), version)
	if err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store")
	call.Data(http.StatusOK, "text/yaml", text)
	return nil
}

// consoleVerify says that charts are not verified here.
func (s *Server) consoleVerify(*consoleCall) error {
	return &consoleError{http.StatusNotImplemented, "helmtrail does not verify charts; use chart-verifier"}
}

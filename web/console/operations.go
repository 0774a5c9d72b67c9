package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/web/internal/authz"
	"github.com/helmtrail/helmtrail/web/internal/httpapi"
)

// sessionHeader is the response header with the id of the session that a request
// started.
const sessionHeader = "X-Helmtrail-Session"

// requestBody is the body of all requests in the contract.
type requestBody struct {
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	ChartURL  string          `json:"chart_url"`
	Values    json.RawMessage `json:"values"`
	// Version is the revision that a rollback restores.
	Version int `json:"version"`
	// IndexEntry is a chart's key in index.yaml.
	IndexEntry string `json:"indexEntry"`
	// NoRepo means that ChartURL does not belong to a repository.
	NoRepo          bool   `json:"noRepo"`
	ChartVersion    string `json:"chart_version"`
	BasicAuthSecret string `json:"basic_auth_secret_name"`
}

// defaultNamespace is used for bodies that name no namespace.
const defaultNamespace = "default"

func (b requestBody) release(call *apiCall) helmtrail.ReleaseRef {
	return call.release(cmp.Or(b.Namespace, defaultNamespace), b.Name)
}

func (s *Server) install(call *apiCall) error {
	_, session, err := s.startInstall(call)
	if err != nil {
		return err
	}
	return s.answerDone(call, session, 0)
}

// installAsync answers once Helm has stored the release's first Secret.
func (s *Server) installAsync(call *apiCall) error {
	body, session, err := s.startInstall(call)
	if body.NoRepo {
		call.status = http.StatusBadRequest
	}
	if err != nil {
		return err
	}
	return s.answerBegun(call, session, 0)
}

func (s *Server) startInstall(call *apiCall) (requestBody, helmtrail.Session, error) {
	var body requestBody
	if err := decodeBody(call.Context, &body); err != nil {
		return body, helmtrail.Session{}, err
	}
	ref := body.release(call)
	if err := call.checkMay(authz.Create, ref.Namespace); err != nil {
		return body, helmtrail.Session{}, err
	}
	values, err := s.Secrets.RestoreValues(call.ctx, call.caller, ref, requestValues(body.Values))
	if err != nil {
		return body, helmtrail.Session{}, err
	}
	chart, err := s.installable(call, body)
	if err != nil {
		return body, helmtrail.Session{}, err
	}
	session, err := s.start(call, helmtrail.Request{Operation: helmtrail.OperationInstall, Release: ref, Chart: chart, Values: values})
	return body, session, err
}

func (s *Server) upgrade(call *apiCall) error {
	session, err := s.startUpgrade(call)
	if err != nil {
		return err
	}
	return s.answerDone(call, session, 0)
}

// upgradeAsync answers once Helm has stored the new revision's Secret.
func (s *Server) upgradeAsync(call *apiCall) error {
	session, err := s.startUpgrade(call)
	if err != nil {
		return err
	}
	return s.answerBegun(call, session, 0)
}

func (s *Server) startUpgrade(call *apiCall) (helmtrail.Session, error) {
	var body requestBody
	if err := decodeBody(call.Context, &body); err != nil {
		call.status = http.StatusBadRequest
		return helmtrail.Session{}, err
	}
	ref := body.release(call)
	if err := call.checkMay(authz.Update, ref.Namespace); err != nil {
		return helmtrail.Session{}, err
	}
	newest, err := call.existing(ref)
	if err != nil {
		return helmtrail.Session{}, err
	}
	values, err := s.Secrets.RestoreValues(call.ctx, call.caller, ref, requestValues(body.Values))
	if err != nil {
		return helmtrail.Session{}, err
	}
	chart, err := s.upgradable(call, body, newest)
	if err != nil {
		return helmtrail.Session{}, err
	}
	return s.start(call, helmtrail.Request{Operation: helmtrail.OperationUpgrade, Release: ref, Chart: chart, Values: values})
}

func (s *Server) rollback(call *apiCall) error {
	session, target, err := s.startRollback(call)
	if err != nil {
		return err
	}
	return s.answerDone(call, session, target)
}

// rollbackAsync is an addition to the contract, which has only a synchronous rollback.
func (s *Server) rollbackAsync(call *apiCall) error {
	session, target, err := s.startRollback(call)
	if err != nil {
		return err
	}
	return s.answerBegun(call, session, target)
}

func (s *Server) startRollback(call *apiCall) (session helmtrail.Session, target int, err error) {
	var body requestBody
	if err := decodeBody(call.Context, &body); err != nil {
		return helmtrail.Session{}, 0, err
	}
	ref := body.release(call)
	if err := call.checkMay(authz.Update, ref.Namespace); err != nil {
		return helmtrail.Session{}, 0, err
	}
	newest, err := call.existing(ref)
	if err != nil {
		return helmtrail.Session{}, 0, err
	}
	if body.Version < 1 {
		return helmtrail.Session{}, 0, httpapi.BadField("version", "version must be the number of a revision.")
	}
	call.start = newest.Number
	session, err = s.start(call, helmtrail.Request{Operation: helmtrail.OperationRollback, Release: ref, Revision: body.Version})
	return session, body.Version, err
}

// uninstalledBody is Helm's answer to an uninstall
// (helm.sh/helm/v4/pkg/release/response.go).
type uninstalledBody struct {
	Release *release `json:"release"`
	Info    string   `json:"info"`
}

func (s *Server) uninstall(call *apiCall) error {
	ref, newest, err := s.removable(call)
	if err != nil {
		return err
	}
	record, err := call.cluster.Records.Record(call.ctx, ref.Namespace, ref.Name, newest.Number)
	if err != nil {
		return call.cluster.Explain(err)
	}
	shown, err := newRelease(record, newest)
	if err != nil {
		return err
	}
	session, err := s.startUninstall(call, ref)
	if err != nil {
		return err
	}
	end, err := s.follow(call, session, 0, true)
	if err != nil {
		return err
	}
	if err := s.reveal(call, ref, newest.Number, "uninstalled release"); err != nil {
		return err
	}
	httpapi.WriteJSON(call.Context, http.StatusOK, uninstalledBody{Release: shown.uninstalled(end.at)})
	return nil
}

// uninstallAsync answers once the session is stored. Its stream reports the
// rest.
func (s *Server) uninstallAsync(call *apiCall) error {
	ref, _, err := s.removable(call)
	if err != nil {
		return err
	}
	if _, err := s.startUninstall(call, ref); err != nil {
		return err
	}
	call.Status(http.StatusNoContent)
	call.Writer.WriteHeaderNow()
	return nil
}

// removable returns the release that the query names, and its newest revision.
func (s *Server) removable(call *apiCall) (helmtrail.ReleaseRef, *decoder.Revision, error) {
	ref := call.release(call.Query("ns"), call.Query("name"))
	if err := call.checkMay(authz.Delete, ref.Namespace); err != nil {
		return ref, nil, err
	}
	newest, err := call.existing(ref)
	if missing, ok := errors.AsType[*statusError](err); ok {
		return ref, nil, &statusError{http.StatusNotFound, missing.text}
	}
	return ref, newest, err
}

// existing returns the newest revision of a release.
func (call *apiCall) existing(ref helmtrail.ReleaseRef) (*decoder.Revision, error) {
	if err := call.cluster.CheckSyncedIn(ref.Namespace); err != nil {
		return nil, err
	}
	if newest := call.cluster.Newest(ref); newest != nil {
		return newest, nil
	}
	return nil, &statusError{call.status, errNotFound.text}
}

// requestValues returns a body's values in the form that helm reads: JSON is YAML.
func requestValues(values json.RawMessage) []byte {
	if trimmed := bytes.TrimSpace(values); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil
	}
	return values
}

// answerBegun answers with the Secret of the revision that the session creates.
func (s *Server) answerBegun(call *apiCall, session helmtrail.Session, target int) error {
	begun, err := s.follow(call, session, target, false)
	if err != nil {
		return err
	}
	if err := s.reveal(call, session.Release, begun.revision, "Secret"); err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store")
	call.Data(http.StatusCreated, "application/json", begun.secret)
	return nil
}

// answerDone answers with the release once its session has completed.
func (s *Server) answerDone(call *apiCall, session helmtrail.Session, target int) error {
	done, err := s.follow(call, session, target, true)
	if err != nil {
		return err
	}
	ref := session.Release
	record, err := call.cluster.Records.Record(call.ctx, ref.Namespace, ref.Name, done.revision)
	if err != nil {
		return call.cluster.Explain(err)
	}
	shown, err := newRelease(record, &decoder.Revision{Namespace: ref.Namespace, Name: ref.Name, Number: done.revision})
	if err != nil {
		return err
	}
	if err := s.reveal(call, ref, done.revision, "revision"); err != nil {
		return err
	}
	httpapi.WriteJSON(call.Context, http.StatusOK, shown)
	return nil
}

package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

// sessionHeader names the session that a request of the contract has started.
const sessionHeader = "X-Helmtrail-Session"

// consoleBody is the body of every request in the contract.
type consoleBody struct {
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	ChartURL  string          `json:"chart_url"`
	Values    json.RawMessage `json:"values"`
	// Version is the revision to which a rollback goes back.
	Version int `json:"version"`
	// IndexEntry is a chart's key in index.yaml.
	IndexEntry string `json:"indexEntry"`
	// NoRepo means that ChartURL is no repository's.
	NoRepo          bool   `json:"noRepo"`
	ChartVersion    string `json:"chart_version"`
	BasicAuthSecret string `json:"basic_auth_secret_name"`
}

// defaultNamespace is the contract's for bodies that name none.
const defaultNamespace = "default"

func (b consoleBody) release(call *consoleCall) stream.ReleaseRef {
	return call.release(cmp.Or(b.Namespace, defaultNamespace), b.Name)
}

func (s *Server) consoleInstall(call *consoleCall) error {
	_, session, err := s.consoleStartInstall(call)
	if err != nil {
		return err
	}
	return s.consoleDone(call, session, 0)
}

// consoleInstallAsync answers once Helm has stored the release's first Secret.
func (s *Server) consoleInstallAsync(call *consoleCall) error {
	body, session, err := s.consoleStartInstall(call)
	if body.NoRepo {
		call.status = http.StatusBadRequest
	}
	if err != nil {
		return err
	}
	return s.consoleBegun(call, session, 0)
}

func (s *Server) consoleStartInstall(call *consoleCall) (consoleBody, stream.Session, error) {
	var body consoleBody
	if err := decodeConsole(call.Context, &body); err != nil {
		return body, stream.Session{}, err
	}
	ref := body.release(call)
	if err := call.may(needCreate, ref.Namespace); err != nil {
		return body, stream.Session{}, err
	}
	values, err := s.restore(call.Context, call.cluster, ref, consoleValues(body.Values))
	if err != nil {
		return body, stream.Session{}, err
	}
	chart, err := s.consoleInstallable(call, body)
	if err != nil {
		return body, stream.Session{}, err
	}
	session, err := s.consoleStart(call, stream.Request{Operation: stream.OperationInstall, Release: ref, Chart: chart, Values: values})
	return body, session, err
}

func (s *Server) consoleUpgrade(call *consoleCall) error {
	session, err := s.consoleStartUpgrade(call)
	if err != nil {
		return err
	}
	return s.consoleDone(call, session, 0)
}

// consoleUpgradeAsync answers once Helm has stored the new revision's Secret.
func (s *Server) consoleUpgradeAsync(call *consoleCall) error {
	session, err := s.consoleStartUpgrade(call)
	if err != nil {
		return err
	}
	return s.consoleBegun(call, session, 0)
}

func (s *Server) consoleStartUpgrade(call *consoleCall) (stream.Session, error) {
	var body consoleBody
	if err := decodeConsole(call.Context, &body); err != nil {
		call.status = http.StatusBadRequest
		return stream.Session{}, err
	}
	ref := body.release(call)
	if err := call.may(needUpdate, ref.Namespace); err != nil {
		return stream.Session{}, err
	}
	newest, err := call.existing(ref)
	if err != nil {
		return stream.Session{}, err
	}
	values, err := s.restore(call.Context, call.cluster, ref, consoleValues(body.Values))
	if err != nil {
		return stream.Session{}, err
	}
	chart, err := s.consoleUpgradable(call, body, newest)
	if err != nil {
		return stream.Session{}, err
	}
	return s.consoleStart(call, stream.Request{Operation: stream.OperationUpgrade, Release: ref, Chart: chart, Values: values})
}

func (s *Server) consoleRollback(call *consoleCall) error {
	session, target, err := s.consoleStartRollback(call)
	if err != nil {
		return err
	}
	return s.consoleDone(call, session, target)
}

// consoleRollbackAsync is an addition to the contract, which rolls back
// synchronously only.
func (s *Server) consoleRollbackAsync(call *consoleCall) error {
	session, target, err := s.consoleStartRollback(call)
	if err != nil {
		return err
	}
	return s.consoleBegun(call, session, target)
}

func (s *Server) consoleStartRollback(call *consoleCall) (session stream.Session, target int, err error) {
	var body consoleBody
	if err := decodeConsole(call.Context, &body); err != nil {
		return stream.Session{}, 0, err
	}
	ref := body.release(call)
	if err := call.may(needUpdate, ref.Namespace); err != nil {
		return stream.Session{}, 0, err
	}
	newest, err := call.existing(ref)
	if err != nil {
		return stream.Session{}, 0, err
	}
	if body.Version < 1 {
		return stream.Session{}, 0, badRequest("version", "version must be the number of a revision.")
	}
	call.start = newest.Number
	session, err = s.consoleStart(call, stream.Request{Operation: stream.OperationRollback, Release: ref, Revision: body.Version})
	return session, body.Version, err
}

// uninstalledBody is what Helm answers an uninstall with
// (helm.sh/helm/v4/pkg/release/response.go).
type uninstalledBody struct {
	Release *consoleRelease `json:"release"`
	Info    string          `json:"info"`
}

func (s *Server) consoleUninstall(call *consoleCall) error {
	ref, newest, err := s.consoleRemovable(call)
	if err != nil {
		return err
	}
	record, err := call.cluster.Objects.Record(call.ctx, ref.Namespace, ref.Name, newest.Number)
	if err != nil {
		return call.cluster.asked(err)
	}
	shown, err := newConsoleRelease(record, newest)
	if err != nil {
		return err
	}
	session, err := s.consoleStartUninstall(call, ref)
	if err != nil {
		return err
	}
	end, err := s.consoleFollow(call, session, 0, true)
	if err != nil {
		return err
	}
	if err := s.consoleRevealing(call, ref, newest.Number, "uninstalled release"); err != nil {
		return err
	}
	writeJSON(call.Context, http.StatusOK, uninstalledBody{Release: shown.uninstalled(end.at)})
	return nil
}

// consoleUninstallAsync answers once the session is stored; its stream tells
// the rest.
func (s *Server) consoleUninstallAsync(call *consoleCall) error {
	ref, _, err := s.consoleRemovable(call)
	if err != nil {
		return err
	}
	if _, err := s.consoleStartUninstall(call, ref); err != nil {
		return err
	}
	call.Status(http.StatusNoContent)
	call.Writer.WriteHeaderNow()
	return nil
}

// consoleRemovable finds the release that the query names.
func (s *Server) consoleRemovable(call *consoleCall) (stream.ReleaseRef, *decoder.Revision, error) {
	ref := call.release(call.Query("ns"), call.Query("name"))
	if err := call.may(needDelete, ref.Namespace); err != nil {
		return ref, nil, err
	}
	newest, err := call.existing(ref)
	if missing, ok := errors.AsType[*consoleError](err); ok {
		return ref, nil, &consoleError{http.StatusNotFound, missing.text}
	}
	return ref, newest, err
}

// existing returns the newest revision of a release.
func (call *consoleCall) existing(ref stream.ReleaseRef) (*decoder.Revision, error) {
	if err := call.cluster.syncedIn(ref.Namespace); err != nil {
		return nil, err
	}
	if newest := call.cluster.newest(ref); newest != nil {
		return newest, nil
	}
	return nil, &consoleError{call.status, errConsoleNotFound.text}
}

// consoleValues are a body's values as helm reads them; JSON is YAML.
func consoleValues(values json.RawMessage) []byte {
	if trimmed := bytes.TrimSpace(values); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil
	}
	return values
}

// consoleBegun answers with the Secret of the revision that the session makes.
func (s *Server) consoleBegun(call *consoleCall, session stream.Session, target int) error {
	begun, err := s.consoleFollow(call, session, target, false)
	if err != nil {
		return err
	}
	if err := s.consoleRevealing(call, session.Release, begun.revision, "Secret"); err != nil {
		return err
	}
	call.Header("Cache-Control", "no-store")
	call.Data(http.StatusCreated, "application/json", begun.secret)
	return nil
}

// consoleDone answers with the release once its session has reached its aim.
func (s *Server) consoleDone(call *consoleCall, session stream.Session, target int) error {
	done, err := s.consoleFollow(call, session, target, true)
	if err != nil {
		return err
	}
	ref := session.Release
	record, err := call.cluster.Objects.Record(call.ctx, ref.Namespace, ref.Name, done.revision)
	if err != nil {
		return call.cluster.asked(err)
	}
	shown, err := newConsoleRelease(record, &decoder.Revision{Namespace: ref.Namespace, Name: ref.Name, Number: done.revision})
	if err != nil {
		return err
	}
	if err := s.consoleRevealing(call, ref, done.revision, "revision"); err != nil {
		return err
	}
	writeJSON(call.Context, http.StatusOK, shown)
	return nil
}

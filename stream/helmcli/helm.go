package helmcli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/internal/bounded"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/repository"
	"github.com/helmtrail/helmtrail/stream/uploads"
)

// Config configures a Helm.
type Config struct {
	// Binary is helm's path, or a name to look up in PATH.
	Binary string
	// Folder is the folder of the sessions' private folders.
	Folder string
	// Rendered is the folder for the manifests of dry runs.
	Rendered string
	// ChartDir is the folder of the charts that plain references name, "" for none.
	ChartDir string
	// Repositories are the chart repositories that requests may name.
	Repositories []Repository
	// ChartHosts are the hosts that charts may be fetched from, beside those of the
	// Repositories.
	ChartHosts repository.Hosts
	// Uploads keeps the uploaded charts; nil for no uploads. Its folder must be on
	// the same file system as Folder.
	Uploads *uploads.Store
	// Environment is added to helm's environment, as KEY=value.
	Environment []string
	// Supervisor is the command line of the supervisor, without its last argument,
	// the session's folder. See Supervise.
	Supervisor []string
	Logger     *slog.Logger
}

// Helm implements stream.Helm with an installed helm.
type Helm struct {
	config  Config
	path    string
	version string
	major   int
	minor   int
	problem error // why there is no helm to run, nil if there is one

	remote   *repository.Client
	metadata *bounded.Cache[*chart.Metadata] // of archives
	readers  chan struct{}                   // a place for each chart that is read
	renders  chan struct{}                   // a place for each chart that is rendered
}

// versionTimeout bounds `helm version`.
const versionTimeout = 20 * time.Second

// oldestMinor is the first minor release of Helm 3 with --labels, which sessions
// need to find their own revisions.
const oldestMinor = 13

var versionPattern = regexp.MustCompile(`^v([34])\.(\d+)\.\d+\S*$`)

// New finds helm and reads its version. Without a usable helm it still returns a
// Helm, which refuses every request with the reason. It fails only if the
// sessions' folder cannot be used.
func New(ctx context.Context, config Config) (*Helm, error) {
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	folder, err := filepath.Abs(config.Folder)
	if err != nil {
		return nil, fmt.Errorf("find the sessions' folder: %w", err)
	}
	config.Folder = folder
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("create the sessions' folder: %w", err)
	}
	if config.ChartDir != "" {
		if config.ChartDir, err = filepath.Abs(config.ChartDir); err != nil {
			return nil, fmt.Errorf("find the chart directory: %w", err)
		}
	}
	addresses := make([]string, len(config.Repositories))
	for i, r := range config.Repositories {
		addresses[i] = r.URL
	}
	h := &Helm{
		config: config, remote: repository.NewClient(config.ChartHosts.With(addresses...)),
		metadata: bounded.New(bounded.Options[*chart.Metadata]{Limit: maxListed}),
		readers:  make(chan struct{}, maxReaders), renders: make(chan struct{}, maxReaders),
	}
	h.problem = h.find(ctx)
	if h.problem != nil {
		config.Logger.Warn("no operation can be run", "error", h.problem)
	}
	return h, nil
}

// find finds helm and reads its version.
func (h *Helm) find(ctx context.Context) error {
	const advice = "install Helm 3 or 4 and name it with --helm"
	path, err := exec.LookPath(h.config.Binary)
	if err != nil {
		return fmt.Errorf("%w: %w; %s", helmtrail.ErrNoHelm, err, advice)
	}
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("%w: %w; %s", helmtrail.ErrNoHelm, err, advice)
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, "version", "--template={{.Version}}")
	command.Env = []string{"HOME=" + h.config.Folder, "PATH=" + os.Getenv("PATH")}
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("%w: %s version: %w; %s", helmtrail.ErrNoHelm, path, err, advice)
	}
	version := strings.TrimSpace(string(out))
	match := versionPattern.FindStringSubmatch(version)
	if match == nil {
		return fmt.Errorf("%w: %s reports the unknown version %.40q; %s", helmtrail.ErrNoHelm, path, version, advice)
	}
	major, minor := int(match[1][0]-'0'), 0
	if minor, err = strconv.Atoi(match[2]); err != nil || major == 3 && minor < oldestMinor {
		return fmt.Errorf("%w: %s is version %.40s, and the oldest supported version is v3.%d; %s", helmtrail.ErrNoHelm, path, version, oldestMinor, advice)
	}
	h.path, h.version, h.major, h.minor = path, version, major, minor
	return nil
}

// Version implements stream.Helm.
func (h *Helm) Version() string { return h.version }

// Problem returns why no operation can be run, nil if they can.
func (h *Helm) Problem() error { return h.problem }

// Prepare implements stream.Helm.
func (h *Helm) Prepare(session helmtrail.SessionRef, request helmtrail.Request) (backend.Process, error) {
	p := &Process{helm: h, folder: h.folderOf(session.ID), session: session, request: request}
	if err := os.Mkdir(string(p.folder), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of session %s: %w", session.ID, err)
	}
	err := p.folder.writeJSON(sessionFile, sessionContent{session, withoutValues(request)})
	if err == nil && request.Values != nil {
		err = p.folder.write(valuesFile, request.Values)
	}
	if err == nil {
		err = h.linkUpload(p.folder, scopeOf(request.Release), request.Chart.Ref)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// sessionContent is the content of session.json.
type sessionContent struct {
	Session helmtrail.SessionRef
	Request helmtrail.Request
}

func withoutValues(request helmtrail.Request) helmtrail.Request {
	request.Values, request.Credentials = nil, helmtrail.Credentials{}
	return request
}

// Left implements stream.Helm. A folder that cannot be read is logged and
// skipped.
func (h *Helm) Left() ([]backend.Process, error) {
	entries, err := os.ReadDir(h.config.Folder)
	if err != nil {
		return nil, fmt.Errorf("list the sessions' folders: %w", err)
	}
	var left []backend.Process
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		p := &Process{helm: h, folder: folder(filepath.Join(h.config.Folder, e.Name()))}
		var content sessionContent
		if err := p.folder.readJSON(sessionFile, &content); err != nil {
			h.config.Logger.Warn("cannot read a session's folder", "folder", p.folder, "error", err)
			continue
		}
		p.session, p.request = content.Session, content.Request
		left = append(left, p)
	}
	return left, nil
}

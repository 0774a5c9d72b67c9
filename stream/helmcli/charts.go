package helmcli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
)

// Repository is a configured chart repository.
type Repository struct {
	// Name is the repository's name in requests.
	Name string
	URL  string
}

var (
	// chartPattern is a chart's name or a path below the chart directory.
	chartPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)
	// repositoryPattern distinguishes a configured repository's name from a URL.
	repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	uploadPattern     = regexp.MustCompile(`^upload:[0-9a-f]{64}$`)
	// secretPattern is a DNS subdomain, as names of Secrets are.
	secretPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

const (
	chartLimit   = 1024
	versionLimit = 128
	secretLimit  = 253
	uploadPrefix = "upload:"
)

// CheckRepository returns an *helmtrail.InvalidError unless the repository can be
// configured.
func CheckRepository(r Repository) error {
	if !repositoryPattern.MatchString(r.Name) {
		return invalid("name", "must consist of letters, digits, '.', '_' and '-'")
	}
	return checkAddress("url", r.URL, "https", "http")
}

// checkChart accepts the forms of a chart that [helmtrail.Chart] lists. The scope
// is that of the uploads that it may be one of.
func (h *Helm) checkChart(scope catalog.Scope, chart helmtrail.Chart) error {
	switch {
	case chart.Ref == "":
		return invalid("chart.ref", "is required")
	case len(chart.Ref) > chartLimit:
		return invalid("chart.ref", fmt.Sprintf("must be at most %d bytes", chartLimit))
	case len(chart.Version) > versionLimit || (chart.Version != "" && !rangePattern.MatchString(chart.Version)):
		return invalid("chart.version", "must be a version or a range of versions")
	case chart.CredentialsSecret != "" && (len(chart.CredentialsSecret) > secretLimit || !secretPattern.MatchString(chart.CredentialsSecret)):
		return invalid("chart.credentialsSecret", "must be the name of a Secret in the release's namespace")
	case chart.Repo != "":
		return h.checkRepositoryChart(chart)
	case strings.Contains(chart.Ref, "://"):
		return h.checkRemote("chart.ref", chart.Ref, "oci", "https", "http")
	case chart.CredentialsSecret != "":
		return invalid("chart.credentialsSecret", "must be empty for a chart that is on the server")
	}
	_, err := h.localChart(scope, chart.Ref)
	return err
}

func (h *Helm) checkRepositoryChart(chart helmtrail.Chart) error {
	if strings.Contains(chart.Ref, "/") || !chartPattern.MatchString(chart.Ref) {
		return invalid("chart.ref", "must be the name of a chart in the repository")
	}
	if _, known := h.repository(chart.Repo); !known && repositoryPattern.MatchString(chart.Repo) {
		return invalid("chart.repo", "must be the name of a configured repository (--repo) or a URL")
	} else if known {
		return nil
	}
	return h.checkRemote("chart.repo", chart.Repo, "https", "http")
}

// checkRemote is checkAddress for an address that a caller names, which must be on
// an allowed host.
func (h *Helm) checkRemote(field, address string, schemes ...string) error {
	if err := checkAddress(field, address, schemes...); err != nil {
		return err
	}
	if err := h.remote.Hosts().Check(address); err != nil {
		return invalid(field, err.Error())
	}
	return nil
}

// FromElsewhere reports whether a chart is named by a URL that is not one of a
// configured repository's server. Callers need the right to add charts for it.
func (h *Helm) FromElsewhere(chart helmtrail.Chart) bool {
	address := chart.Ref
	if chart.Repo != "" {
		address = h.repositoryURL(chart.Repo)
	}
	return strings.Contains(address, "://") && !h.remote.Hosts().Configured(address)
}

// repository returns the address of a configured repository.
func (h *Helm) repository(name string) (address string, ok bool) {
	i := slices.IndexFunc(h.config.Repositories, func(r Repository) bool { return r.Name == name })
	if i < 0 {
		return "", false
	}
	return h.config.Repositories[i].URL, true
}

// repositoryURL returns the address of a repository, given its name or address.
func (h *Helm) repositoryURL(repo string) string {
	if address, ok := h.repository(repo); ok {
		return address
	}
	return repo
}

// checkAddress accepts absolute URLs without any part that may be a credential,
// since they appear in helm's command line.
func checkAddress(field, address string, schemes ...string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Host == "" || strings.ContainsAny(address, " \\\"'"):
		return invalid(field, "must be a URL")
	case parsed.User != nil:
		return invalid(field, "must not contain a user name or password; use chart.credentialsSecret")
	case parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return invalid(field, "must not have a query or a fragment, which may contain a credential")
	case !slices.Contains(schemes, parsed.Scheme):
		return invalid(field, "must begin with "+strings.Join(schemes, "://, ")+"://")
	}
	return nil
}

// localChart finds a chart of the chart directory, or one uploaded to the scope.
func (h *Helm) localChart(scope catalog.Scope, ref string) (string, error) {
	if strings.HasPrefix(ref, uploadPrefix) {
		return h.uploadedChart(scope, ref)
	}
	if h.config.ChartDir == "" {
		return "", invalid("chart.ref", "the server has no chart directory (--chart-dir); use chart.repo, an oci:// or https:// URL, or upload the chart")
	}
	if !chartPattern.MatchString(ref) {
		return "", invalid("chart.ref", "must be the name of a chart in the chart directory, the reference of an uploaded chart, or an oci:// or https:// URL")
	}
	absent := missing("chart.ref", fmt.Sprintf("the chart directory has no chart %q", ref))
	base, err := filepath.EvalSymlinks(h.config.ChartDir)
	if err != nil {
		return "", absent
	}
	path, err := filepath.EvalSymlinks(filepath.Join(base, ref))
	if err != nil || !strings.HasPrefix(path, base+string(os.PathSeparator)) {
		return "", absent
	}
	return path, nil
}

// chartPath returns where helm finds a session's chart.
func (h *Helm) chartPath(session string, chart helmtrail.Chart) string {
	if isRemote(chart) || strings.HasPrefix(chart.Ref, uploadPrefix) {
		return h.folderOf(session).path(archiveFile)
	}
	path, err := h.localChart(catalog.Scope{}, chart.Ref)
	if err != nil {
		// It was deleted after the check; helm reports that.
		return filepath.Join(h.config.ChartDir, chart.Ref)
	}
	return path
}

// isRemote reports whether a chart has to be fetched.
func isRemote(chart helmtrail.Chart) bool {
	return chart.Repo != "" || strings.Contains(chart.Ref, "://")
}

// shownChart returns the flags and the reference with which a person would have
// helm find the chart.
func (h *Helm) shownChart(chart helmtrail.Chart) (flags []string, ref string) {
	if chart.Repo != "" {
		flags = append(flags, "--repo="+h.repositoryURL(chart.Repo))
	}
	if chart.Version != "" {
		flags = append(flags, "--version="+chart.Version)
	}
	return flags, chart.Ref
}

func (h *Helm) folderOf(session string) folder {
	return folder(filepath.Join(h.config.Folder, session))
}

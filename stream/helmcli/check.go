package helmcli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

var (
	// releasePattern and releaseLimit are helm's (pkg/chartutil/validate_name.go).
	releasePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// namespacePattern is a label of RFC 1123, at most 63 characters.
	namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	// rangePattern allows versions and ranges of them (SemVer 2.0, Masterminds/semver constraints).
	rangePattern = regexp.MustCompile(`^[0-9A-Za-z^~<>=*!|][0-9A-Za-z.+*<>=~^!|, -]*$`)
	// chartPattern is a chart's name or a path below the chart directory.
	chartPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)
	labelKey     = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	labelValue   = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
)

const (
	releaseLimit     = 53
	namespaceLimit   = 63
	labelLimit       = 63
	descriptionLimit = 512
	versionLimit     = 128
	chartLimit       = 1024
	// maxTimeout bounds timeoutSeconds and deadlineSeconds, in seconds.
	maxTimeout = 24 * 60 * 60
)

// Check implements stream.Helm.
func (h *Helm) Check(request stream.Request) error {
	if h.problem != nil {
		return h.problem
	}
	if err := CheckRelease(request.Release.Namespace, request.Release.Name); err != nil {
		return err
	}
	if err := checkTimes(request.Options); err != nil {
		return err
	}
	if err := checkTexts(request.Options); err != nil {
		return err
	}
	switch request.Operation {
	case stream.OperationInstall, stream.OperationUpgrade:
		if err := h.checkChart(request.Chart); err != nil {
			return err
		}
		if err := checkValues(request.Values); err != nil {
			return err
		}
	case stream.OperationRollback:
		if request.Revision < 1 {
			return invalid("revision", "must be the number of the revision to go back to, 1 or higher")
		}
	case stream.OperationUninstall:
	default:
		return invalid("operation", fmt.Sprintf("%q is none of helm's", request.Operation))
	}
	return h.checkOptions(request)
}

func invalid(field, message string) error {
	return &stream.InvalidError{Field: field, Message: message}
}

// CheckRelease returns an *stream.InvalidError unless helm accepts the names.
func CheckRelease(namespace, name string) error {
	if len(name) > releaseLimit || !releasePattern.MatchString(name) {
		return invalid("name", fmt.Sprintf("a release name has at most %d lower case letters, digits, '-' and '.', and begins and ends with a letter or digit", releaseLimit))
	}
	if len(namespace) > namespaceLimit || !namespacePattern.MatchString(namespace) {
		return invalid("namespace", fmt.Sprintf("a namespace has at most %d lower case letters, digits and '-', and begins and ends with a letter or digit", namespaceLimit))
	}
	return nil
}

func checkTimes(o stream.Options) error {
	if o.TimeoutSeconds < 0 || o.TimeoutSeconds > maxTimeout {
		return invalid("options.timeoutSeconds", fmt.Sprintf("must be 1 to %d", maxTimeout))
	}
	if o.DeadlineSeconds < 0 || o.DeadlineSeconds > 2*maxTimeout {
		return invalid("options.deadlineSeconds", fmt.Sprintf("must be 1 to %d", 2*maxTimeout))
	}
	if o.HistoryMax != nil && *o.HistoryMax < 0 {
		return invalid("options.historyMax", "must be 0 (no limit) or higher")
	}
	return nil
}

func checkTexts(o stream.Options) error {
	if len(o.Description) > descriptionLimit || strings.ContainsFunc(o.Description, func(r rune) bool { return r < ' ' }) {
		return invalid("options.description", fmt.Sprintf("must be one line of at most %d bytes", descriptionLimit))
	}
	for key, value := range o.Labels {
		if key == decoder.SessionLabel {
			return invalid("options.labels", key+" is set by helmtrail itself")
		}
		if len(key) > 253+1+labelLimit || !labelKey.MatchString(key) || len(value) > labelLimit || !labelValue.MatchString(value) {
			return invalid("options.labels", "keys and values must be those of Kubernetes labels")
		}
	}
	return nil
}

// checkValues refuses what helm could not read, before helm is run for it.
func checkValues(values []byte) error {
	var parsed map[string]any
	if err := yaml.Unmarshal(values, &parsed); err != nil {
		// The parser's error quotes the text, which may be a secret.
		return invalid("values", "must be a YAML mapping")
	}
	return nil
}

// checkChart accepts the forms of a chart reference that README.md lists.
func (h *Helm) checkChart(chart stream.Chart) error {
	if chart.Ref == "" {
		return invalid("chart.ref", "name the chart")
	}
	if len(chart.Ref) > chartLimit {
		return invalid("chart.ref", fmt.Sprintf("is longer than %d bytes", chartLimit))
	}
	if len(chart.Version) > versionLimit || (chart.Version != "" && !rangePattern.MatchString(chart.Version)) {
		return invalid("chart.version", "must be a version or a range of versions")
	}
	if chart.Repo != "" {
		if err := checkAddress("chart.repo", chart.Repo, "https", "http"); err != nil {
			return err
		}
		if strings.Contains(chart.Ref, "/") || !chartPattern.MatchString(chart.Ref) {
			return invalid("chart.ref", "must be the plain name of a chart in the repository")
		}
		return nil
	}
	if strings.Contains(chart.Ref, "://") {
		return checkAddress("chart.ref", chart.Ref, "oci", "https", "http")
	}
	_, err := h.localChart(chart.Ref)
	return err
}

// checkAddress accepts absolute URLs without credentials, which would end up
// in helm's command line.
func checkAddress(field, address string, schemes ...string) error {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || strings.HasPrefix(address, "-") {
		return invalid(field, "must be a URL")
	}
	if parsed.User != nil {
		return invalid(field, "must not hold a user name or password")
	}
	for _, s := range schemes {
		if parsed.Scheme == s {
			return nil
		}
	}
	return invalid(field, "must begin with "+strings.Join(schemes, "://, ")+"://")
}

// localChart finds a chart of the chart directory.
func (h *Helm) localChart(ref string) (string, error) {
	if h.config.ChartDir == "" {
		return "", invalid("chart.ref", "there is no chart directory (--chart-dir); give chart.repo, or an oci:// or https:// address")
	}
	if !chartPattern.MatchString(ref) {
		return "", invalid("chart.ref", "must be the name of a chart in the chart directory, or an oci:// or https:// address")
	}
	missing := invalid("chart.ref", fmt.Sprintf("the chart directory has no chart %q", ref))
	base, err := filepath.EvalSymlinks(h.config.ChartDir)
	if err != nil {
		return "", missing
	}
	path, err := filepath.EvalSymlinks(filepath.Join(base, ref))
	if err != nil || !strings.HasPrefix(path, base+string(os.PathSeparator)) {
		return "", missing
	}
	return path, nil
}

// chartArgument is the chart as helm is told, for a request that passed Check.
func (h *Helm) chartArgument(chart stream.Chart) string {
	if chart.Repo != "" || strings.Contains(chart.Ref, "://") {
		return chart.Ref
	}
	path, err := h.localChart(chart.Ref)
	if err != nil {
		// It has gone since it was checked; helm says so.
		return filepath.Join(h.config.ChartDir, chart.Ref)
	}
	return path
}

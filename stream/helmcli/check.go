package helmcli

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

var (
	// releasePattern and releaseLimit are helm's (pkg/chartutil/validate_name.go).
	releasePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// namespacePattern is a label of RFC 1123, at most 63 characters.
	namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	// rangePattern allows versions and ranges of them (SemVer 2.0, Masterminds/semver constraints).
	rangePattern = regexp.MustCompile(`^[0-9A-Za-z^~<>=*!|][0-9A-Za-z.+*<>=~^!|, -]*$`)
	labelKey     = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	labelValue   = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`)
)

const (
	releaseLimit     = 53
	namespaceLimit   = 63
	labelLimit       = 63
	descriptionLimit = 512
	// rollbackLimit is helm 4's (helm.sh/helm/v4/pkg/action/rollback.go), in characters.
	rollbackLimit = 256
	retriesLimit  = 10
	// maxTimeout bounds timeoutSeconds and deadlineSeconds, in seconds.
	maxTimeout = 24 * 60 * 60
)

// Check implements stream.Helm.
func (h *Helm) Check(request helmtrail.Request) error {
	if h.problem != nil {
		return h.problem
	}
	if err := CheckRelease(request.Release.Namespace, request.Release.Name); err != nil {
		return err
	}
	if err := checkTimes(request.Options); err != nil {
		return err
	}
	if err := checkTexts(request); err != nil {
		return err
	}
	switch request.Operation {
	case helmtrail.OperationInstall, helmtrail.OperationUpgrade:
		if err := h.checkChart(scopeOf(request.Release), request.Chart); err != nil {
			return err
		}
		if err := checkValues(request.Values); err != nil {
			return err
		}
	case helmtrail.OperationRollback:
		if request.Revision < 1 {
			return invalid("revision", "must be the number of a revision, 1 or higher")
		}
	case helmtrail.OperationUninstall:
	default:
		return invalid("operation", fmt.Sprintf("%q is not an operation of helm", request.Operation))
	}
	return h.checkOptions(request)
}

func invalid(field, message string) error {
	return &helmtrail.InvalidError{Field: field, Message: message}
}

func missing(field, message string) error {
	return &helmtrail.InvalidError{Field: field, Message: message, Missing: true}
}

// CheckRelease returns an *helmtrail.InvalidError unless helm accepts both names.
func CheckRelease(namespace, name string) error {
	if len(name) > releaseLimit || !releasePattern.MatchString(name) {
		return invalid("name", fmt.Sprintf("a release name has at most %d lower case letters, digits, '-' and '.', and begins and ends with a letter or digit", releaseLimit))
	}
	if len(namespace) > namespaceLimit || !namespacePattern.MatchString(namespace) {
		return invalid("namespace", fmt.Sprintf("a namespace has at most %d lower case letters, digits and '-', and begins and ends with a letter or digit", namespaceLimit))
	}
	return nil
}

func checkTimes(o helmtrail.Options) error {
	if o.TimeoutSeconds < 0 || o.TimeoutSeconds > maxTimeout {
		return invalid("options.timeoutSeconds", fmt.Sprintf("must be 1 to %d", maxTimeout))
	}
	if o.DeadlineSeconds < 0 || o.DeadlineSeconds > 2*maxTimeout {
		return invalid("options.deadlineSeconds", fmt.Sprintf("must be 1 to %d", 2*maxTimeout))
	}
	if o.HistoryMax != nil && *o.HistoryMax < 0 {
		return invalid("options.historyMax", "must be 0 (no limit) or higher")
	}
	if o.Retries != nil && (*o.Retries < 0 || *o.Retries > retriesLimit) {
		return invalid("options.retries", fmt.Sprintf("must be 0 to %d", retriesLimit))
	}
	return nil
}

func checkTexts(request helmtrail.Request) error {
	o := request.Options
	if request.Operation == helmtrail.OperationRollback && utf8.RuneCountInString(o.Description) > rollbackLimit {
		return invalid("options.description", fmt.Sprintf("must be at most %d characters for a rollback", rollbackLimit))
	}
	if len(o.Description) > descriptionLimit || strings.ContainsFunc(o.Description, func(r rune) bool { return r < ' ' }) {
		return invalid("options.description", fmt.Sprintf("must be one line of at most %d bytes", descriptionLimit))
	}
	for key, value := range o.Labels {
		if key == decoder.SessionLabel {
			return invalid("options.labels", key+" is set by helmtrail")
		}
		if len(key) > 253+1+labelLimit || !labelKey.MatchString(key) || len(value) > labelLimit || !labelValue.MatchString(value) {
			return invalid("options.labels", "keys and values must be valid Kubernetes labels")
		}
	}
	return nil
}

// checkValues refuses values that helm could not read.
func checkValues(values []byte) error {
	var parsed map[string]any
	if err := yaml.Unmarshal(values, &parsed); err != nil {
		// The parser's error quotes the text, which may be a secret.
		return invalid("values", "must be a YAML mapping")
	}
	return nil
}

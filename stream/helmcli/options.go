package helmcli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helmtrail/helmtrail/stream"
)

// option maps one field of a request's options to helm's flag.
type option struct {
	field string
	// helm3 and helm4 are the flag's names, "" where that helm has none.
	helm3, helm4 string
	operations   []stream.Operation
	// value returns what to give the flag, and whether to give the flag at all.
	value func(stream.Options) (value string, set bool)
}

var (
	installs = []stream.Operation{stream.OperationInstall}
	upgrades = []stream.Operation{stream.OperationUpgrade}
	makes    = []stream.Operation{stream.OperationInstall, stream.OperationUpgrade}
	changes  = []stream.Operation{stream.OperationInstall, stream.OperationUpgrade, stream.OperationRollback}
	all      = []stream.Operation{stream.OperationInstall, stream.OperationUpgrade, stream.OperationRollback, stream.OperationUninstall}
)

// options is the whole mapping. The names of flags are those that `helm
// COMMAND --help` prints.
var options = []option{
	{"createNamespace", "create-namespace", "create-namespace", installs, toggle(func(o stream.Options) bool { return o.CreateNamespace })},
	{"wait", "wait", "wait", all, toggle(func(o stream.Options) bool { return o.Wait })},
	{"waitForJobs", "wait-for-jobs", "wait-for-jobs", changes, toggle(func(o stream.Options) bool { return o.WaitForJobs })},
	{"rollbackOnFailure", "atomic", "rollback-on-failure", makes, toggle(func(o stream.Options) bool { return o.RollbackOnFailure })},
	{"cleanupOnFail", "cleanup-on-fail", "cleanup-on-fail", []stream.Operation{stream.OperationUpgrade, stream.OperationRollback}, toggle(func(o stream.Options) bool { return o.CleanupOnFail })},
	{"historyMax", "history-max", "history-max", []stream.Operation{stream.OperationUpgrade, stream.OperationRollback}, func(o stream.Options) (string, bool) {
		if o.HistoryMax == nil {
			return "", false
		}
		return strconv.Itoa(*o.HistoryMax), true
	}},
	{"noHooks", "no-hooks", "no-hooks", all, toggle(func(o stream.Options) bool { return o.NoHooks })},
	{"skipCRDs", "skip-crds", "skip-crds", makes, toggle(func(o stream.Options) bool { return o.SkipCRDs })},
	{"keepHistory", "keep-history", "keep-history", []stream.Operation{stream.OperationUninstall}, toggle(func(o stream.Options) bool { return o.KeepHistory })},
	{"resetValues", "reset-values", "reset-values", upgrades, toggle(func(o stream.Options) bool { return o.ResetValues })},
	{"reuseValues", "reuse-values", "reuse-values", upgrades, toggle(func(o stream.Options) bool { return o.ReuseValues })},
	{"resetThenReuseValues", "reset-then-reuse-values", "reset-then-reuse-values", upgrades, toggle(func(o stream.Options) bool { return o.ResetThenReuseValues })},
	{"description", "description", "description", makes, func(o stream.Options) (string, bool) { return o.Description, o.Description != "" }},
	{"labels", "labels", "labels", makes, func(o stream.Options) (string, bool) { return joinLabels(o.Labels), len(o.Labels) > 0 }},
}

func toggle(on func(stream.Options) bool) func(stream.Options) (string, bool) {
	return func(o stream.Options) (string, bool) { return "", on(o) }
}

// flag is the option's flag in the given helm, "" where it has none.
func (o option) flag(major int) string {
	if major == 3 {
		return o.helm3
	}
	return o.helm4
}

// checkOptions refuses an option that the operation or the installed helm lacks.
func (h *Helm) checkOptions(request stream.Request) error {
	for _, o := range options {
		if _, set := o.value(request.Options); !set {
			continue
		}
		if !slices.Contains(o.operations, request.Operation) {
			return &stream.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s has no such option", request.Operation)}
		}
		if o.flag(h.major) == "" {
			return &stream.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s does not have it", h.version)}
		}
	}
	return nil
}

// flags translates the request's options to the installed helm's flags, one
// argument each, so that a value can never become a flag of its own.
func (h *Helm) flags(request stream.Request) []string {
	var flags []string
	for _, o := range options {
		value, set := o.value(request.Options)
		switch {
		case !set:
		case value == "":
			flags = append(flags, "--"+o.flag(h.major))
		default:
			flags = append(flags, "--"+o.flag(h.major)+"="+value)
		}
	}
	return append(flags, "--timeout="+request.Options.Timeout().String())
}

// joinLabels writes labels the way helm's --labels reads them.
func joinLabels(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

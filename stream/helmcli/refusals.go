package helmcli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmtrail/helmtrail"
)

// conflict is a combination of options that Helm rejects, or in which it would
// silently ignore one of them.
type conflict struct {
	// first and second are the options' names.
	first, second string
	// major is the affected major version of Helm, 0 for both.
	major      int
	operations []helmtrail.Operation
	reason     string
	// exclusive means that the two never go together, whatever their values.
	exclusive bool
	// meets reports whether the options conflict.
	meets func(helmtrail.Options) bool
}

// conflicts are from helm.sh/helm/v4/pkg/cmd (flags that exclude each other),
// pkg/kube/client.go (Update), pkg/action/upgrade.go (reuseValues) and
// pkg/cmd/upgrade.go (--install).
var conflicts = []conflict{
	{
		first: "forceReplace", second: "forceConflicts", major: 4, operations: installUpgradeRollback, exclusive: true,
		reason: "helm accepts only one of the two",
		meets:  func(o helmtrail.Options) bool { return o.ForceReplace && o.ForceConflicts },
	},
	{
		first: "forceReplace", second: "serverSide", major: 4, operations: installUpgradeRollback,
		reason: "helm does not replace objects with server-side apply; set serverSide to false",
		meets:  func(o helmtrail.Options) bool { return o.ForceReplace && o.ServerSide != helmtrail.ChoiceFalse },
	},
	{
		first: "forceConflicts", second: "serverSide", major: 4, operations: installUpgradeRollback,
		reason: "only server-side apply has conflicts; serverSide must not be false",
		meets:  func(o helmtrail.Options) bool { return o.ForceConflicts && o.ServerSide == helmtrail.ChoiceFalse },
	},
	{
		first: "resetValues", second: "reuseValues", operations: upgradeOnly, exclusive: true,
		reason: "helm would ignore reuseValues",
		meets:  func(o helmtrail.Options) bool { return o.ResetValues && o.ReuseValues },
	},
	{
		first: "resetValues", second: "resetThenReuseValues", operations: upgradeOnly, exclusive: true,
		reason: "helm would ignore resetThenReuseValues",
		meets:  func(o helmtrail.Options) bool { return o.ResetValues && o.ResetThenReuseValues },
	},
	{
		first: "reuseValues", second: "resetThenReuseValues", operations: upgradeOnly, exclusive: true,
		reason: "helm would ignore resetThenReuseValues",
		meets:  func(o helmtrail.Options) bool { return o.ReuseValues && o.ResetThenReuseValues },
	},
	{
		first: "createNamespace", second: "install", operations: upgradeOnly,
		reason: "on upgrade, helm creates the namespace only with install",
		meets:  func(o helmtrail.Options) bool { return o.CreateNamespace && !o.Install },
	},
}

// checkOptions refuses unknown words, options that the operation or the
// installed Helm does not have, and combinations that conflict.
func (h *Helm) checkOptions(request helmtrail.Request) error {
	for _, o := range options {
		value, set := o.value(request.Options)
		if !set {
			continue
		}
		if words := wordsOf(o.field); words != nil && !slices.Contains(words, value) {
			return invalid("options."+o.field, "must be "+orList(words))
		}
		if !offered(o.field, request.Operation) {
			return &helmtrail.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s has no such option", request.Operation)}
		}
		if o.own || !slices.Contains(o.operations, request.Operation) {
			continue
		}
		if err := h.checkFlag(o, value, request.Operation); err != nil {
			return err
		}
	}
	for _, c := range conflicts {
		if (c.major == 0 || c.major == h.major) && slices.Contains(c.operations, request.Operation) && c.meets(request.Options) {
			return &helmtrail.UnsupportedError{Option: c.first, Other: c.second, Reason: c.reason}
		}
	}
	return nil
}

// checkFlag refuses an option or a value that the installed Helm does not have.
func (h *Helm) checkFlag(o option, value string, operation helmtrail.Operation) error {
	f := o.flag(h.major)
	lacks := func(what string) error {
		return &helmtrail.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s %s", h.version, what)}
	}
	switch {
	case f.name == "" && o.flag(7-h.major).name != "":
		return lacks(fmt.Sprintf("does not have it for %s, Helm %d does", operation, 7-h.major))
	case h.older(f.since):
		return lacks("does not have it, " + f.since + " does")
	}
	if _, ok := f.translate(value); !ok {
		return lacks(fmt.Sprintf("takes only %s for %s", orList(f.ours()), operation))
	}
	return nil
}

// offered reports whether any Helm has the option for an operation.
func offered(field string, operation helmtrail.Operation) bool {
	return slices.ContainsFunc(options, func(o option) bool {
		return o.field == field && slices.Contains(o.operations, operation)
	})
}

// wordsOf returns the words that an option may have in any operation and Helm,
// nil for an option that takes any value.
func wordsOf(field string) []string {
	var words []string
	for _, o := range options {
		if o.field != field {
			continue
		}
		for _, word := range slices.Concat(o.helm4.ours(), o.helm3.ours()) {
			if !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

// orList joins words with commas and "or".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

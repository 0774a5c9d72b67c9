package helmcli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmtrail/helmtrail/stream"
)

// conflict is a combination of options that helm refuses, or of which it would
// silently ignore one.
type conflict struct {
	// first and second are the options' names.
	first, second string
	// major is the helm that it is about, 0 for both.
	major      int
	operations []stream.Operation
	reason     string
	meets      func(stream.Options) bool
}

// conflicts are from helm.sh/helm/v4/pkg/cmd (flags that exclude each other),
// pkg/kube/client.go (Update), pkg/action/upgrade.go (reuseValues) and
// pkg/cmd/upgrade.go (--install).
var conflicts = []conflict{
	{
		"forceReplace", "forceConflicts", 4, changes, "helm takes one of the two",
		func(o stream.Options) bool { return o.ForceReplace && o.ForceConflicts },
	},
	{
		"forceReplace", "serverSide", 4, changes, "helm does not replace objects with server-side apply; it needs serverSide false",
		func(o stream.Options) bool { return o.ForceReplace && o.ServerSide != stream.ChoiceFalse },
	},
	{
		"forceConflicts", "serverSide", 4, changes, "only server-side apply knows conflicts; it cannot go with serverSide false",
		func(o stream.Options) bool { return o.ForceConflicts && o.ServerSide == stream.ChoiceFalse },
	},
	{
		"resetValues", "reuseValues", 0, upgrades, "helm would ignore reuseValues",
		func(o stream.Options) bool { return o.ResetValues && o.ReuseValues },
	},
	{
		"resetValues", "resetThenReuseValues", 0, upgrades, "helm would ignore resetThenReuseValues",
		func(o stream.Options) bool { return o.ResetValues && o.ResetThenReuseValues },
	},
	{
		"reuseValues", "resetThenReuseValues", 0, upgrades, "helm would ignore resetThenReuseValues",
		func(o stream.Options) bool { return o.ReuseValues && o.ResetThenReuseValues },
	},
	{
		"createNamespace", "install", 0, upgrades, "helm makes the namespace on upgrade only with install",
		func(o stream.Options) bool { return o.CreateNamespace && !o.Install },
	},
}

// checkOptions refuses words that no option has, options that the operation or
// the installed helm lacks, and combinations that do not go together.
func (h *Helm) checkOptions(request stream.Request) error {
	for _, o := range options {
		value, set := o.value(request.Options)
		if !set {
			continue
		}
		if words := wordsOf(o.field); words != nil && !slices.Contains(words, value) {
			return invalid("options."+o.field, "must be "+orList(words))
		}
		if !offered(o.field, request.Operation) {
			return &stream.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s has no such option", request.Operation)}
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
			return &stream.UnsupportedError{Option: c.first, Other: c.second, Reason: c.reason}
		}
	}
	return nil
}

// checkFlag refuses an option, or its value, that the installed helm lacks.
func (h *Helm) checkFlag(o option, value string, operation stream.Operation) error {
	f := o.flag(h.major)
	lacks := func(what string) error {
		return &stream.UnsupportedError{Option: o.field, Reason: fmt.Sprintf("helm %s %s", h.version, what)}
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

// offered tells whether an option exists for an operation in any helm.
func offered(field string, operation stream.Operation) bool {
	return slices.ContainsFunc(options, func(o option) bool {
		return o.field == field && slices.Contains(o.operations, operation)
	})
}

// wordsOf are the words that an option may have in any operation and helm, nil
// when it is not chosen from words.
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

// orList writes words as a person would say them.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

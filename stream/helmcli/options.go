package helmcli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helmtrail/helmtrail"
)

// option maps one field of a request's options to Helm's flag. An option whose
// flag depends on the operation has several rows.
type option struct {
	field      string
	operations []helmtrail.Operation
	// meaning is a sentence for docs/options.md.
	meaning string
	// helm3 and helm4 are the flag in each Helm, empty where it has none.
	helm3, helm4 flag
	// own means that the option is helmtrail's, not Helm's.
	own bool
	// usual is a number's default, "" if it depends on other options; least is
	// the lowest number allowed.
	usual string
	least int
	// value returns the request's value and reports whether it has one.
	value func(helmtrail.Options) (value string, set bool)
}

// flag is an option's flag in one major version of Helm.
type flag struct {
	name string
	// since is the release that brought the flag, such as 3.17; "" if every
	// supported release has it.
	since string
	// bare flags take no value.
	bare bool
	// words are the values allowed, none for any. Helm's word for a value follows
	// after a '='; nothing there means that the flag is omitted.
	words []string
}

func on(is func(helmtrail.Options) bool) func(helmtrail.Options) (string, bool) {
	return func(o helmtrail.Options) (string, bool) { return "true", is(o) }
}

func word(of func(helmtrail.Options) helmtrail.Choice) func(helmtrail.Options) (string, bool) {
	return func(o helmtrail.Options) (string, bool) { return string(of(o)), of(o) != "" }
}

func text(of func(helmtrail.Options) string) func(helmtrail.Options) (string, bool) {
	return func(o helmtrail.Options) (string, bool) { return of(o), of(o) != "" }
}

func number(of func(helmtrail.Options) *int) func(helmtrail.Options) (string, bool) {
	return func(o helmtrail.Options) (string, bool) {
		if n := of(o); n != nil {
			return strconv.Itoa(*n), true
		}
		return "", false
	}
}

// flag returns the option's flag in a major version of Helm.
func (o option) flag(major int) flag {
	if major == 3 {
		return o.helm3
	}
	return o.helm4
}

// translate returns Helm's word for one of ours, and reports whether the flag
// accepts it.
func (f flag) translate(value string) (string, bool) {
	if f.words == nil {
		return value, true
	}
	for _, word := range f.words {
		if ours, helms, translated := strings.Cut(word, "="); ours == value {
			if translated {
				return helms, true
			}
			return ours, true
		}
	}
	return "", false
}

// ours returns the words that a request may use.
func (f flag) ours() []string {
	words := make([]string, len(f.words))
	for i, word := range f.words {
		words[i], _, _ = strings.Cut(word, "=")
	}
	return words
}

// flags translates the request's options to flags of the installed Helm, one
// argument each, so that a value can never become a flag of its own.
func (h *Helm) flags(request helmtrail.Request) []string {
	var flags []string
	for _, o := range options {
		value, set := o.value(request.Options)
		if !set || o.own || !slices.Contains(o.operations, request.Operation) {
			continue
		}
		f := o.flag(h.major)
		switch translated, _ := f.translate(value); {
		case translated == "":
		case f.bare:
			flags = append(flags, "--"+f.name)
		default:
			flags = append(flags, "--"+f.name+"="+translated)
		}
	}
	if renders(request) {
		flags = append(flags, "--output=json")
	}
	return flags
}

// renders reports whether Helm only renders the chart.
func renders(request helmtrail.Request) bool {
	return request.Options.DryRun != "" && slices.Contains(installUpgrade, request.Operation)
}

// joinLabels formats labels for Helm's --labels.
func joinLabels(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// older reports whether the installed Helm is older than a release, such as
// 3.17, of its own major version.
func (h *Helm) older(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return h.major == major && h.minor < minor
}

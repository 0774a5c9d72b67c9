package helmcli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/helmtrail/helmtrail/stream"
)

// option maps one field of a request's options to helm's flag. An option that
// has another flag in another operation has a row for each.
type option struct {
	field string
	// meaning is a sentence for docs/options.md.
	meaning    string
	operations []stream.Operation
	// helm3 and helm4 are the flag in each helm, empty where it has none.
	helm3, helm4 flag
	// own is true for what is not helm's but helmtrail's.
	own bool
	// value is what the request gives, and whether it gives anything.
	value func(stream.Options) (value string, set bool)
}

// flag is an option as one helm calls it.
type flag struct {
	name string
	// since is the release that brought it, as 3.17; "" when it is as old as
	// what helmtrail works with.
	since string
	// bare flags take no value.
	bare bool
	// words are the values that it takes, none for any. Helm's word for one of
	// ours stands behind a '='; nothing there means that the flag is left out.
	words []string
}

var (
	installs = []stream.Operation{stream.OperationInstall}
	upgrades = []stream.Operation{stream.OperationUpgrade}
	rolls    = []stream.Operation{stream.OperationRollback}
	removes  = []stream.Operation{stream.OperationUninstall}
	makes    = slices.Concat(installs, upgrades)
	returns  = slices.Concat(upgrades, rolls)
	changes  = slices.Concat(installs, upgrades, rolls)
	ends     = slices.Concat(rolls, removes)
	all      = slices.Concat(installs, upgrades, rolls, removes)
)

// options is the whole mapping, from which docs/options.md is made. The names
// of flags are those that `helm COMMAND --help` prints; the releases that
// brought them stand in Helm's release notes.
var options = []option{
	{
		"createNamespace", "Makes the namespace when it is missing; on upgrade only together with `install`.", makes,
		same("create-namespace"), same("create-namespace"), false, given(func(o stream.Options) bool { return o.CreateNamespace }),
	},
	{
		"install", "Installs the release when it does not exist.", upgrades,
		same("install"), same("install"), false, given(func(o stream.Options) bool { return o.Install }),
	},
	{
		"wait", "Waits for the objects. `true` is the installed helm's own way; the strategies are Helm 4's.", all,
		flag{name: "wait", bare: true, words: []string{"true", "false=", "legacy"}},
		flag{name: "wait", words: []string{"true=watcher", "false=", "watcher", "legacy", "hookOnly"}},
		false, chosen(func(o stream.Options) stream.Choice { return o.Wait }),
	},
	{
		"waitForJobs", "With `wait`, waits for Jobs too.", changes,
		same("wait-for-jobs"), same("wait-for-jobs"), false, given(func(o stream.Options) bool { return o.WaitForJobs }),
	},
	{
		"rollbackOnFailure", "Goes back to the last good revision when it fails, and uninstalls a failed install. Implies `wait`.", makes,
		same("atomic"), same("rollback-on-failure"), false, given(func(o stream.Options) bool { return o.RollbackOnFailure }),
	},
	{
		"cleanupOnFail", "Removes the objects that a failed operation has made.", returns,
		same("cleanup-on-fail"), same("cleanup-on-fail"), false, given(func(o stream.Options) bool { return o.CleanupOnFail }),
	},
	{
		"forceReplace", "Replaces objects instead of patching them.", changes,
		same("force"), same("force-replace"), false, given(func(o stream.Options) bool { return o.ForceReplace }),
	},
	{
		"forceConflicts", "Takes fields over from other field managers.", changes,
		flag{}, same("force-conflicts"), false, given(func(o stream.Options) bool { return o.ForceConflicts }),
	},
	{
		"serverSide", "Whether the API server merges (server-side apply); Helm's default is true.", installs,
		flag{}, flag{name: "server-side", words: []string{"true", "false"}}, false, chosen(func(o stream.Options) stream.Choice { return o.ServerSide }),
	},
	{
		"serverSide", "The same; `auto`, Helm's default, does what the revision before did.", returns,
		flag{}, flag{name: "server-side", words: []string{"true", "false", "auto"}}, false, chosen(func(o stream.Options) stream.Choice { return o.ServerSide }),
	},
	{
		"takeOwnership", "Adopts objects that exist and belong to no release.", makes,
		flag{name: "take-ownership", since: "3.17", bare: true}, same("take-ownership"), false, given(func(o stream.Options) bool { return o.TakeOwnership }),
	},
	{
		"historyMax", "How many revisions Helm keeps, 0 for all; Helm's default is 10.", returns,
		flag{name: "history-max"}, flag{name: "history-max"}, false, counted(func(o stream.Options) *int { return o.HistoryMax }),
	},
	{
		"noHooks", "Runs no hooks.", all,
		same("no-hooks"), same("no-hooks"), false, given(func(o stream.Options) bool { return o.NoHooks }),
	},
	{
		"skipCRDs", "Installs none of the chart's CRDs; on upgrade it matters only with `install`.", makes,
		same("skip-crds"), same("skip-crds"), false, given(func(o stream.Options) bool { return o.SkipCRDs }),
	},
	{
		"skipSchemaValidation", "Does not check the values against the chart's schema.", makes,
		flag{name: "skip-schema-validation", since: "3.16", bare: true}, same("skip-schema-validation"), false,
		given(func(o stream.Options) bool { return o.SkipSchemaValidation }),
	},
	{
		"disableOpenAPIValidation", "Does not check the manifest against the cluster's schemas.", makes,
		same("disable-openapi-validation"), same("disable-openapi-validation"), false,
		given(func(o stream.Options) bool { return o.DisableOpenAPIValidation }),
	},
	{
		"keepHistory", "Keeps the records; the release is then `uninstalled`.", removes,
		same("keep-history"), same("keep-history"), false, given(func(o stream.Options) bool { return o.KeepHistory }),
	},
	{
		"cascade", "What becomes of dependent objects; Helm's default is background.", removes,
		flag{name: "cascade", words: []string{"background", "foreground", "orphan"}},
		flag{name: "cascade", words: []string{"background", "foreground", "orphan"}},
		false, chosen(func(o stream.Options) stream.Choice { return o.Cascade }),
	},
	{
		"resetValues", "Starts from the chart's values alone. Without this and the next two, an upgrade that gives no values keeps those of the revision before; one that gives any starts from the chart's.", upgrades,
		same("reset-values"), same("reset-values"), false, given(func(o stream.Options) bool { return o.ResetValues }),
	},
	{
		"reuseValues", "Starts from the values of the revision before, its chart's defaults included.", upgrades,
		same("reuse-values"), same("reuse-values"), false, given(func(o stream.Options) bool { return o.ReuseValues }),
	},
	{
		"resetThenReuseValues", "Starts from the new chart's values, with the given ones of the revision before on top.", upgrades,
		flag{name: "reset-then-reuse-values", since: "3.14", bare: true}, same("reset-then-reuse-values"), false,
		given(func(o stream.Options) bool { return o.ResetThenReuseValues }),
	},
	{
		"dryRun", "Changes nothing; what is rendered becomes a part of the session, secrets masked. `server` lets templates look things up.", makes,
		flag{name: "dry-run", since: "3.15", words: []string{"client", "server"}}, flag{name: "dry-run", words: []string{"client", "server"}},
		false, chosen(func(o stream.Options) stream.Choice { return o.DryRun }),
	},
	{
		"dryRun", "Changes nothing; Helm 3 knows one way only.", rolls,
		flag{name: "dry-run", bare: true, words: []string{"client", "server"}}, flag{name: "dry-run", words: []string{"client", "server"}},
		false, chosen(func(o stream.Options) stream.Choice { return o.DryRun }),
	},
	{
		"dryRun", "Changes nothing; Helm knows one way only.", removes,
		flag{name: "dry-run", bare: true, words: []string{"client", "server"}}, flag{name: "dry-run", bare: true, words: []string{"client", "server"}},
		false, chosen(func(o stream.Options) stream.Choice { return o.DryRun }),
	},
	{
		"description", "What the record says about the revision, one line.", slices.Concat(makes, removes),
		flag{name: "description"}, flag{name: "description"}, false, text(func(o stream.Options) string { return o.Description }),
	},
	{
		"description", "The same, at most 256 characters.", rolls,
		flag{}, flag{name: "description", since: "4.2"}, false, text(func(o stream.Options) string { return o.Description }),
	},
	{
		"labels", "Labels for the release's records; `null` as a value removes one on upgrade.", makes,
		flag{name: "labels"}, flag{name: "labels"}, false, text(func(o stream.Options) string { return joinLabels(o.Labels) }),
	},
	{
		"timeoutSeconds", "How long each of Helm's waits may take, 300 by default.", all,
		flag{name: "timeout"}, flag{name: "timeout"}, false, text(func(o stream.Options) string { return o.Timeout().String() }),
	},
	{
		"deadlineSeconds", "Bounds the whole session, attempts included. By default the timeout and 15 s, and another timeout with `rollbackOnFailure`.", all,
		flag{}, flag{}, true, given(func(o stream.Options) bool { return o.DeadlineSeconds != 0 }),
	},
	{
		"retries", "How often Helm is run again after a known race, 2 by default, 0 for never.", changes,
		flag{}, flag{}, true, counted(func(o stream.Options) *int { return o.Retries }),
	},
	{
		"overridePending", "Goes on although somebody else is working on the release.", ends,
		flag{}, flag{}, true, given(func(o stream.Options) bool { return o.OverridePending }),
	},
}

// same is a flag without a value that has always been there.
func same(name string) flag { return flag{name: name, bare: true} }

func given(on func(stream.Options) bool) func(stream.Options) (string, bool) {
	return func(o stream.Options) (string, bool) { return "true", on(o) }
}

func chosen(choice func(stream.Options) stream.Choice) func(stream.Options) (string, bool) {
	return func(o stream.Options) (string, bool) { return string(choice(o)), choice(o) != "" }
}

func text(of func(stream.Options) string) func(stream.Options) (string, bool) {
	return func(o stream.Options) (string, bool) { return of(o), of(o) != "" }
}

func counted(number func(stream.Options) *int) func(stream.Options) (string, bool) {
	return func(o stream.Options) (string, bool) {
		if n := number(o); n != nil {
			return strconv.Itoa(*n), true
		}
		return "", false
	}
}

// flag is the option's flag in a helm of that major version.
func (o option) flag(major int) flag {
	if major == 3 {
		return o.helm3
	}
	return o.helm4
}

// translate returns helm's word for one of ours; false when the flag does not
// take it.
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

// ours are the words that a request may use.
func (f flag) ours() []string {
	words := make([]string, len(f.words))
	for i, word := range f.words {
		words[i], _, _ = strings.Cut(word, "=")
	}
	return words
}

// flags translates the request's options to the installed helm's flags, one
// argument each, so that a value can never become a flag of its own.
func (h *Helm) flags(request stream.Request) []string {
	var flags []string
	for _, o := range options {
		value, set := o.value(request.Options)
		if !set || o.own || !slices.Contains(o.operations, request.Operation) {
			continue
		}
		f := o.flag(h.major)
		switch word, _ := f.translate(value); {
		case word == "":
		case f.bare:
			flags = append(flags, "--"+f.name)
		default:
			flags = append(flags, "--"+f.name+"="+word)
		}
	}
	if renders(request) {
		flags = append(flags, "--output=json")
	}
	return flags
}

// renders tells whether helm only renders the chart.
func renders(request stream.Request) bool {
	return request.Options.DryRun != "" && slices.Contains(makes, request.Operation)
}

// joinLabels writes labels the way helm's --labels reads them.
func joinLabels(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, key+"="+labels[key])
	}
	return strings.Join(pairs, ",")
}

// older tells whether the installed helm is older than a release, as 3.17, of
// its own major version.
func (h *Helm) older(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return h.major == major && h.minor < minor
}

package helmcli

import (
	"slices"

	"github.com/helmtrail/helmtrail"
)

// The operations that share an option.
var (
	installOnly             = []helmtrail.Operation{helmtrail.OperationInstall}
	upgradeOnly             = []helmtrail.Operation{helmtrail.OperationUpgrade}
	rollbackOnly            = []helmtrail.Operation{helmtrail.OperationRollback}
	uninstallOnly           = []helmtrail.Operation{helmtrail.OperationUninstall}
	installUpgrade          = slices.Concat(installOnly, upgradeOnly)
	upgradeRollback         = slices.Concat(upgradeOnly, rollbackOnly)
	rollbackUninstall       = slices.Concat(rollbackOnly, uninstallOnly)
	installUpgradeRollback  = slices.Concat(installUpgrade, rollbackOnly)
	installUpgradeUninstall = slices.Concat(installUpgrade, uninstallOnly)
	allOperations           = slices.Concat(installUpgradeRollback, uninstallOnly)
)

// options is the whole mapping. docs/options.md and the table of the pages are
// generated from it. The names of flags are those that `helm COMMAND --help`
// prints; Helm's release notes say which release brought a flag.
var options = []option{
	{
		field: "createNamespace", operations: installUpgrade,
		meaning: "Creates the namespace if it does not exist. On upgrade it requires `install`.",
		helm3:   flag{name: "create-namespace", bare: true}, helm4: flag{name: "create-namespace", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.CreateNamespace }),
	},
	{
		field: "install", operations: upgradeOnly,
		meaning: "Installs the release if it does not exist.",
		helm3:   flag{name: "install", bare: true}, helm4: flag{name: "install", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.Install }),
	},
	{
		field: "wait", operations: allOperations,
		meaning: "Waits for the objects. `true` means the installed Helm's own way; the strategies are Helm 4's.",
		helm3:   flag{name: "wait", bare: true, words: []string{"true", "false=", "legacy"}},
		helm4:   flag{name: "wait", words: []string{"true=watcher", "false=", "watcher", "legacy", "hookOnly"}},
		value:   word(func(o helmtrail.Options) helmtrail.Choice { return o.Wait }),
	},
	{
		field: "waitForJobs", operations: installUpgradeRollback,
		meaning: "With `wait`, also waits for Jobs.",
		helm3:   flag{name: "wait-for-jobs", bare: true}, helm4: flag{name: "wait-for-jobs", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.WaitForJobs }),
	},
	{
		field: "rollbackOnFailure", operations: installUpgrade,
		meaning: "Rolls back to the last good revision on failure, and uninstalls a failed install. Implies `wait`.",
		helm3:   flag{name: "atomic", bare: true},
		helm4:   flag{name: "rollback-on-failure", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.RollbackOnFailure }),
	},
	{
		field: "cleanupOnFail", operations: upgradeRollback,
		meaning: "Deletes the objects that a failed operation created.",
		helm3:   flag{name: "cleanup-on-fail", bare: true}, helm4: flag{name: "cleanup-on-fail", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.CleanupOnFail }),
	},
	{
		field: "forceReplace", operations: installUpgradeRollback,
		meaning: "Replaces objects instead of patching them.",
		helm3:   flag{name: "force", bare: true},
		helm4:   flag{name: "force-replace", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.ForceReplace }),
	},
	{
		field: "forceConflicts", operations: installUpgradeRollback,
		meaning: "Takes over fields that other field managers own.",
		helm4:   flag{name: "force-conflicts", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.ForceConflicts }),
	},
	{
		field: "serverSide", operations: installOnly,
		meaning: "Whether the API server merges (server-side apply). Helm's default is true.",
		helm4:   flag{name: "server-side", words: []string{"true", "false"}},
		value:   word(func(o helmtrail.Options) helmtrail.Choice { return o.ServerSide }),
	},
	{
		field: "serverSide", operations: upgradeRollback,
		meaning: "As for install. `auto`, Helm's default, uses the method of the previous revision.",
		helm4:   flag{name: "server-side", words: []string{"true", "false", "auto"}},
		value:   word(func(o helmtrail.Options) helmtrail.Choice { return o.ServerSide }),
	},
	{
		field: "takeOwnership", operations: installUpgrade,
		meaning: "Adopts existing objects that belong to no release.",
		helm3:   flag{name: "take-ownership", since: "3.17", bare: true},
		helm4:   flag{name: "take-ownership", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.TakeOwnership }),
	},
	{
		field: "historyMax", operations: upgradeRollback,
		meaning: "How many revisions Helm keeps, 0 for all. Helm's default is 10.",
		helm3:   flag{name: "history-max"}, helm4: flag{name: "history-max"},
		usual: "10",
		value: number(func(o helmtrail.Options) *int { return o.HistoryMax }),
	},
	{
		field: "noHooks", operations: allOperations,
		meaning: "Skips hooks.",
		helm3:   flag{name: "no-hooks", bare: true}, helm4: flag{name: "no-hooks", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.NoHooks }),
	},
	{
		field: "skipCRDs", operations: installUpgrade,
		meaning: "Skips the chart's CRDs. On upgrade it has an effect only with `install`.",
		helm3:   flag{name: "skip-crds", bare: true}, helm4: flag{name: "skip-crds", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.SkipCRDs }),
	},
	{
		field: "skipSchemaValidation", operations: installUpgrade,
		meaning: "Does not check the values against the chart's schema.",
		helm3:   flag{name: "skip-schema-validation", since: "3.16", bare: true},
		helm4:   flag{name: "skip-schema-validation", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.SkipSchemaValidation }),
	},
	{
		field: "disableOpenAPIValidation", operations: installUpgrade,
		meaning: "Does not check the manifest against the cluster's schemas.",
		helm3:   flag{name: "disable-openapi-validation", bare: true}, helm4: flag{name: "disable-openapi-validation", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.DisableOpenAPIValidation }),
	},
	{
		field: "keepHistory", operations: uninstallOnly,
		meaning: "Keeps the records. The release is then `uninstalled`.",
		helm3:   flag{name: "keep-history", bare: true}, helm4: flag{name: "keep-history", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.KeepHistory }),
	},
	{
		field: "cascade", operations: uninstallOnly,
		meaning: "How dependent objects are deleted. Helm's default is background.",
		helm3:   flag{name: "cascade", words: []string{"background", "foreground", "orphan"}}, helm4: flag{name: "cascade", words: []string{"background", "foreground", "orphan"}},
		value: word(func(o helmtrail.Options) helmtrail.Choice { return o.Cascade }),
	},
	{
		field: "resetValues", operations: upgradeOnly,
		meaning: "Starts from the chart's values. Without this and the next two options, an upgrade that gives no values keeps those of the previous revision; one that gives values starts from the chart's.",
		helm3:   flag{name: "reset-values", bare: true}, helm4: flag{name: "reset-values", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.ResetValues }),
	},
	{
		field: "reuseValues", operations: upgradeOnly,
		meaning: "Starts from the values of the previous revision, including its chart's defaults.",
		helm3:   flag{name: "reuse-values", bare: true}, helm4: flag{name: "reuse-values", bare: true},
		value: on(func(o helmtrail.Options) bool { return o.ReuseValues }),
	},
	{
		field: "resetThenReuseValues", operations: upgradeOnly,
		meaning: "Starts from the new chart's values, with the user-supplied values of the previous revision on top.",
		helm3:   flag{name: "reset-then-reuse-values", since: "3.14", bare: true},
		helm4:   flag{name: "reset-then-reuse-values", bare: true},
		value:   on(func(o helmtrail.Options) bool { return o.ResetThenReuseValues }),
	},
	{
		field: "dryRun", operations: installUpgrade,
		meaning: "Changes nothing. The rendered manifest becomes part of the session, with its secrets masked. `server` lets templates look up objects.",
		helm3:   flag{name: "dry-run", since: "3.15", words: []string{"client", "server"}},
		helm4:   flag{name: "dry-run", words: []string{"client", "server"}},
		value:   word(func(o helmtrail.Options) helmtrail.Choice { return o.DryRun }),
	},
	{
		field: "dryRun", operations: rollbackOnly,
		meaning: "Changes nothing. Helm 3 makes no difference between the two.",
		helm3:   flag{name: "dry-run", bare: true, words: []string{"client", "server"}},
		helm4:   flag{name: "dry-run", words: []string{"client", "server"}},
		value:   word(func(o helmtrail.Options) helmtrail.Choice { return o.DryRun }),
	},
	{
		field: "dryRun", operations: uninstallOnly,
		meaning: "Changes nothing. Helm makes no difference between the two.",
		helm3:   flag{name: "dry-run", bare: true, words: []string{"client", "server"}}, helm4: flag{name: "dry-run", bare: true, words: []string{"client", "server"}},
		value: word(func(o helmtrail.Options) helmtrail.Choice { return o.DryRun }),
	},
	{
		field: "description", operations: installUpgradeUninstall,
		meaning: "The description in the record, one line.",
		helm3:   flag{name: "description"}, helm4: flag{name: "description"},
		value: text(func(o helmtrail.Options) string { return o.Description }),
	},
	{
		field: "description", operations: rollbackOnly,
		meaning: "The same, at most 256 characters.",
		helm4:   flag{name: "description", since: "4.2"},
		value:   text(func(o helmtrail.Options) string { return o.Description }),
	},
	{
		field: "labels", operations: installUpgrade,
		meaning: "Labels of the release's records. On upgrade, the value `null` removes a label.",
		helm3:   flag{name: "labels"}, helm4: flag{name: "labels"},
		value: text(func(o helmtrail.Options) string { return joinLabels(o.Labels) }),
	},
	{
		field: "timeoutSeconds", operations: allOperations,
		meaning: "How long each of Helm's waits may take, 300 by default.",
		helm3:   flag{name: "timeout"}, helm4: flag{name: "timeout"},
		usual: "300", least: 1,
		value: text(func(o helmtrail.Options) string { return o.Timeout().String() }),
	},
	{
		field: "deadlineSeconds", operations: allOperations,
		meaning: "Bounds the whole session, including all attempts. The default is the timeout plus 15 s, plus another timeout with `rollbackOnFailure`.",
		own:     true, least: 1,
		value: on(func(o helmtrail.Options) bool { return o.DeadlineSeconds != 0 }),
	},
	{
		field: "retries", operations: installUpgradeRollback,
		meaning: "How many times Helm is run again after a transient conflict. The default is 2; 0 means never.",
		own:     true, usual: "2",
		value: number(func(o helmtrail.Options) *int { return o.Retries }),
	},
	{
		field: "overridePending", operations: rollbackUninstall,
		meaning: "Proceeds although another operation may be running on the release.",
		own:     true,
		value:   on(func(o helmtrail.Options) bool { return o.OverridePending }),
	},
}

package helmcli

import (
	"errors"
	commandline "flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/stream"
)

var update = commandline.Bool("update", false, "write docs/options.md instead of comparing it")

// docs/options.md is made from the table, so that it cannot say anything else.
func TestOptionsAreDocumented(t *testing.T) {
	const path = "../../docs/options.md"
	want := optionsDocument()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/options.md (-table +file), run go test ./stream/helmcli -update:\n%s", diff)
	}
}

func optionsDocument() string {
	var b strings.Builder
	b.WriteString(`# Options

What stands under ` + "`options`" + ` in a request, and what Helm 3 and Helm 4 call it. An uninstall has them in its query. This file is
made from the table in stream/helmcli/options.go by ` + "`go test ./stream/helmcli -update`" + `.

A field that does not exist, an option that the operation or the installed Helm does not have and a combination that Helm
would refuse are refused before Helm is run: 400 with the code ` + "`unknown_field` or `unsupported_option`" + ` and the names.
Helm 3 works from 3.13 on.

| field | values | operations | Helm 3 | Helm 4 | what it does |
|---|---|---|---|---|---|
`)
	for _, o := range options {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", o.field, kindOf(o), operationsOf(o), flagText(o, o.helm3), flagText(o, o.helm4), o.meaning)
	}
	b.WriteString("\n## What does not go together\n\n| options | Helm | operations | why |\n|---|---|---|---|\n")
	for _, c := range conflicts {
		major := "3, 4"
		if c.major != 0 {
			major = fmt.Sprint(c.major)
		}
		fmt.Fprintf(&b, "| `%s`, `%s` | %s | %s | %s |\n", c.first, c.second, major, words(c.operations), c.reason)
	}
	return b.String()
}

func words(operations []stream.Operation) string {
	var list []string
	for _, o := range operations {
		list = append(list, string(o))
	}
	return strings.Join(list, ", ")
}

func operationsOf(o option) string {
	if len(o.operations) == len(all) {
		return "all"
	}
	return words(o.operations)
}

func kindOf(o option) string {
	if list := slices.Concat(o.helm4.ours(), o.helm3.ours()); len(list) > 0 {
		slices.Sort(list)
		return "`" + strings.Join(slices.Compact(list), "`, `") + "`"
	}
	switch optionType(o.field).Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "text"
	case reflect.Map:
		return "texts by name"
	}
	return "number"
}

func optionType(field string) reflect.Type {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[stream.Options]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == field {
			return f.Type
		}
	}
	panic("stream.Options has no field " + field)
}

func flagText(o option, f flag) string {
	switch {
	case o.own:
		return "helmtrail's own"
	case f.name == "":
		return "no"
	}
	text := "`--" + f.name + "`"
	if f.since != "" {
		text += " (" + f.since + ")"
	}
	if len(f.words) > 0 && !f.bare {
		return text
	}
	var taken []string
	for _, word := range f.ours() {
		if helms, _ := f.translate(word); helms != "" {
			taken = append(taken, word)
		}
	}
	if len(taken) > 0 {
		text += " for `" + strings.Join(taken, "`, `") + "`"
	}
	return text
}

func TestEveryOptionHasARow(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[stream.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.ContainsFunc(options, func(o option) bool { return o.field == name }) {
			t.Errorf("%s has no row", name)
		}
	}
	for _, o := range options {
		optionType(o.field) // panics when it does not exist
	}
}

// at returns a Helm of that version that runs nothing.
func at(major, minor int) *Helm {
	return &Helm{version: fmt.Sprintf("v%d.%d.0", major, minor), major: major, minor: minor}
}

func TestOptionsBecomeFlags(t *testing.T) {
	zero := 0
	tests := []struct {
		operation    stream.Operation
		options      stream.Options
		helm3, helm4 string // "" for no flag, the error's start when refused
	}{
		{"install", stream.Options{Wait: "true"}, "--wait", "--wait=watcher"},
		{"install", stream.Options{Wait: "false"}, "", ""},
		{"upgrade", stream.Options{Wait: "legacy"}, "--wait", "--wait=legacy"},
		{"rollback", stream.Options{Wait: "watcher"}, "option wait: helm v3.22.0 takes only true, false or legacy for rollback", "--wait=watcher"},
		{"uninstall", stream.Options{Wait: "hookOnly"}, "option wait: helm v3.22.0 takes only", "--wait=hookOnly"},
		{"install", stream.Options{Wait: "sometimes"}, "options.wait: must be true, false, watcher, legacy or hookOnly", "options.wait: must be"},
		{"install", stream.Options{WaitForJobs: true}, "--wait-for-jobs", "--wait-for-jobs"},
		{"uninstall", stream.Options{WaitForJobs: true}, "option waitForJobs: helm uninstall has no", "option waitForJobs: helm uninstall has no"},
		{"upgrade", stream.Options{RollbackOnFailure: true}, "--atomic", "--rollback-on-failure"},
		{"rollback", stream.Options{RollbackOnFailure: true}, "option rollbackOnFailure: helm rollback has no", "option rollbackOnFailure: helm rollback has no"},
		{"rollback", stream.Options{CleanupOnFail: true, HistoryMax: &zero}, "--cleanup-on-fail --history-max=0", "--cleanup-on-fail --history-max=0"},
		{"upgrade", stream.Options{ForceReplace: true}, "--force", "options forceReplace and serverSide: "},
		{"upgrade", stream.Options{ForceReplace: true, ServerSide: "auto"}, "option serverSide: helm v3.22.0 does not have it for upgrade, Helm 4 does", "options forceReplace and serverSide: "},
		{"install", stream.Options{ForceReplace: true, ServerSide: "false"}, "option serverSide: helm v3.22.0 does not have it", "--force-replace --server-side=false"},
		{"upgrade", stream.Options{ForceConflicts: true}, "option forceConflicts: helm v3.22.0 does not have it", "--force-conflicts"},
		{"upgrade", stream.Options{ForceConflicts: true, ServerSide: "false"}, "option forceConflicts: ", "options forceConflicts and serverSide: "},
		{"rollback", stream.Options{ForceConflicts: true, ForceReplace: true, ServerSide: "false"}, "option forceConflicts: ", "options forceReplace and forceConflicts: "},
		{"install", stream.Options{ServerSide: "auto"}, "option serverSide: ", "option serverSide: helm v4.3.0 takes only true or false for install"},
		{"rollback", stream.Options{ServerSide: "auto"}, "option serverSide: ", "--server-side=auto"},
		{"uninstall", stream.Options{ServerSide: "true"}, "option serverSide: helm uninstall has no", "option serverSide: helm uninstall has no"},
		{"upgrade", stream.Options{TakeOwnership: true}, "--take-ownership", "--take-ownership"},
		{"upgrade", stream.Options{Install: true, CreateNamespace: true}, "--create-namespace --install", "--create-namespace --install"},
		{"upgrade", stream.Options{CreateNamespace: true}, "options createNamespace and install: ", "options createNamespace and install: "},
		{"install", stream.Options{Install: true}, "option install: helm install has no", "option install: helm install has no"},
		{"install", stream.Options{SkipCRDs: true, NoHooks: true}, "--no-hooks --skip-crds", "--no-hooks --skip-crds"},
		{"install", stream.Options{SkipSchemaValidation: true, DisableOpenAPIValidation: true}, "--skip-schema-validation --disable-openapi-validation", "--skip-schema-validation --disable-openapi-validation"},
		{"uninstall", stream.Options{KeepHistory: true, Cascade: "orphan"}, "--keep-history --cascade=orphan", "--keep-history --cascade=orphan"},
		{"uninstall", stream.Options{Cascade: "waterfall"}, "options.cascade: must be background, foreground or orphan", "options.cascade: must be"},
		{"upgrade", stream.Options{ReuseValues: true}, "--reuse-values", "--reuse-values"},
		{"upgrade", stream.Options{ReuseValues: true, ResetValues: true}, "options resetValues and reuseValues: ", "options resetValues and reuseValues: "},
		{"upgrade", stream.Options{ResetThenReuseValues: true, ReuseValues: true}, "options reuseValues and resetThenReuseValues: ", "options reuseValues and resetThenReuseValues: "},
		{"install", stream.Options{DryRun: "server"}, "--dry-run=server --output=json", "--dry-run=server --output=json"},
		{"rollback", stream.Options{DryRun: "client"}, "--dry-run", "--dry-run=client"},
		{"uninstall", stream.Options{DryRun: "server"}, "--dry-run", "--dry-run"},
		{"install", stream.Options{DryRun: "true"}, "options.dryRun: must be client or server", "options.dryRun: must be"},
		{"install", stream.Options{Description: "-x", Labels: map[string]string{"b": "2", "a": "1"}}, "--description=-x --labels=a=1,b=2", "--description=-x --labels=a=1,b=2"},
		{"rollback", stream.Options{Description: "why"}, "option description: helm v3.22.0 does not have it for rollback", "--description=why"},
		{"install", stream.Options{Retries: &zero, DeadlineSeconds: 9}, "", ""},
		{"uninstall", stream.Options{Retries: &zero}, "option retries: helm uninstall has no", "option retries: helm uninstall has no"},
		{"rollback", stream.Options{OverridePending: true}, "", ""},
		{"install", stream.Options{OverridePending: true}, "option overridePending: helm install has no", "option overridePending: helm install has no"},
	}
	for _, test := range tests {
		for _, h := range []*Helm{at(3, 22), at(4, 3)} {
			want := test.helm3
			if h.major == 4 {
				want = test.helm4
			}
			request := stream.Request{Operation: test.operation, Options: test.options}
			got := ""
			if err := h.checkOptions(request); err != nil {
				got = err.Error()
				if !strings.HasPrefix(got, want) || want == "" {
					t.Errorf("helm %d %s %+v is refused with %q, want %q", h.major, test.operation, test.options, got, want)
				}
				continue
			}
			for _, f := range h.flags(request) {
				if !strings.HasPrefix(f, "--timeout=") {
					got = strings.TrimSpace(got + " " + f)
				}
			}
			if got != want {
				t.Errorf("helm %d %s %+v becomes %q, want %q", h.major, test.operation, test.options, got, want)
			}
		}
	}
}

func TestAnOlderHelmLacksWhatCameLater(t *testing.T) {
	for _, test := range []struct {
		minor   int
		options stream.Options
		lacks   string
	}{
		{16, stream.Options{TakeOwnership: true}, "3.17"},
		{17, stream.Options{TakeOwnership: true}, ""},
		{15, stream.Options{SkipSchemaValidation: true}, "3.16"},
		{14, stream.Options{DryRun: "client"}, "3.15"},
		{13, stream.Options{ResetThenReuseValues: true}, "3.14"},
	} {
		err := at(3, test.minor).checkOptions(stream.Request{Operation: stream.OperationUpgrade, Options: test.options})
		unsupported := (*stream.UnsupportedError)(nil)
		if test.lacks == "" && err != nil || test.lacks != "" && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), test.lacks)) {
			t.Errorf("helm 3.%d and %+v: %v, want %q named", test.minor, test.options, err, test.lacks)
		}
	}
}

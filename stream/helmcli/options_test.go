package helmcli

import (
	"encoding/json"
	"errors"
	commandline "flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/repository"
)

var update = commandline.Bool("update", false, "write the generated files instead of comparing them")

// The documentation of the options and the forms are generated from the table, so
// they cannot differ from it.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for path, want := range map[string]string{
		"../../docs/options.md":                 optionsDocument(),
		"../../web/ui/src/options/generated.ts": optionsScript(t),
	} {
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
			t.Errorf("%s differs from the table; run go test ./stream/helmcli -update (-table +file):\n%s", path, diff)
		}
	}
}

// formOption is a row of the table in the form that the pages need.
type formOption struct {
	Name       string                `json:"name"`
	Operations []helmtrail.Operation `json:"operations"`
	Input      string                `json:"input"`
	Values     []string              `json:"values,omitempty"`
	Usual      string                `json:"usual,omitempty"`
	Flag       string                `json:"flag,omitempty"`
	Helm3      string                `json:"helm3,omitempty"`
	Min        *int                  `json:"min,omitempty"`
	Since      string                `json:"since,omitempty"`
	Excludes   []string              `json:"excludes,omitempty"`
}

func optionsScript(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`// Code generated from stream/helmcli/options_table.go by "go test ./stream/helmcli -update". DO NOT EDIT.

/** A Helm option for some operations. An option whose flag depends on the operation has several rows. */
export interface HelmOption {
  name: string;
  operations: readonly string[];
  input: 'flag' | 'choice' | 'number' | 'text' | 'labels';
  /** The words of a choice. */
  values?: readonly string[];
  /** The default of a number, absent if it depends on other options. */
  usual?: string;
  min?: number;
  /** The flag of Helm 4, absent for an option of helmtrail itself. */
  flag?: string;
  /** The flag of Helm 3 where it has another name. */
  helm3?: string;
  /** The first Helm release that has the option, absent if every supported one has it. */
  since?: string;
  /** The options that Helm refuses beside this one. */
  excludes?: readonly string[];
}

export const HELM_OPTIONS = [
`)
	for _, o := range options {
		data, err := json.Marshal(formOptionOf(o))
		if err != nil {
			t.Fatal(err)
		}
		line := strings.ReplaceAll(regexp.MustCompile(`"(\w+)":`).ReplaceAllString(string(data), " $1: "), `,`, `, `)
		line = strings.ReplaceAll(strings.ReplaceAll(line, `,  `, `, `), `"`, `'`)
		fmt.Fprintf(&b, "  %s },\n", strings.TrimSuffix(line, "}"))
	}
	b.WriteString("] as const satisfies readonly HelmOption[];\n")
	return b.String()
}

func formOptionOf(o option) formOption {
	f := formOption{Name: o.field, Operations: o.operations, Input: "number", Values: o.words(), Usual: o.usual}
	switch kind := optionType(o.field).Kind(); {
	case len(f.Values) > 0:
		f.Input = "choice"
	case kind == reflect.Bool:
		f.Input = "flag"
	case kind == reflect.String:
		f.Input = "text"
	case kind == reflect.Map:
		f.Input = "labels"
	default:
		f.Min = &o.least
	}
	if o.helm4.name != "" {
		f.Flag = "--" + o.helm4.name
	}
	if o.helm3.name != "" && o.helm3.name != o.helm4.name {
		f.Helm3 = "--" + o.helm3.name
	}
	switch {
	case o.own:
	case o.helm3.name != "":
		f.Since = o.helm3.since
	case o.helm4.since != "":
		f.Since = o.helm4.since
	default:
		f.Since = "4.0"
	}
	for _, c := range conflicts {
		switch {
		case !c.exclusive:
		case c.first == o.field:
			f.Excludes = append(f.Excludes, c.second)
		case c.second == o.field:
			f.Excludes = append(f.Excludes, c.first)
		}
	}
	return f
}

// words returns the values that any of the Helms accepts, sorted.
func (o option) words() []string {
	list := slices.Concat(o.helm4.ours(), o.helm3.ours())
	slices.Sort(list)
	return slices.Compact(list)
}

func optionsDocument() string {
	var b strings.Builder
	b.WriteString(`# Options

The fields of ` + "`options`" + ` in a request, and their flags in Helm 3 and Helm 4. An uninstall takes them in its query. This file is
generated from the table in stream/helmcli/options_table.go by ` + "`go test ./stream/helmcli -update`" + `.

A request is refused before Helm is run if it has an unknown field, an option that the operation or the installed Helm does
not have, or a combination that Helm would refuse: 400 with the code ` + "`unknown_field` or `unsupported_option`" + ` and the names.
Helm 3 is supported from 3.13 on.

| field | values | operations | Helm 3 | Helm 4 | what it does |
|---|---|---|---|---|---|
`)
	for _, o := range options {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", o.field, kindOf(o), operationsOf(o), flagText(o, o.helm3), flagText(o, o.helm4), o.meaning)
	}
	b.WriteString("\n## Conflicts\n\n| options | Helm | operations | why |\n|---|---|---|---|\n")
	for _, c := range conflicts {
		major := "3, 4"
		if c.major != 0 {
			major = fmt.Sprint(c.major)
		}
		fmt.Fprintf(&b, "| `%s`, `%s` | %s | %s | %s |\n", c.first, c.second, major, words(c.operations), c.reason)
	}
	return b.String()
}

func words(operations []helmtrail.Operation) string {
	var list []string
	for _, o := range operations {
		list = append(list, string(o))
	}
	return strings.Join(list, ", ")
}

func operationsOf(o option) string {
	if len(o.operations) == len(allOperations) {
		return "all"
	}
	return words(o.operations)
}

func kindOf(o option) string {
	if list := o.words(); len(list) > 0 {
		return "`" + strings.Join(list, "`, `") + "`"
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
	for _, f := range reflect.VisibleFields(reflect.TypeFor[helmtrail.Options]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == field {
			return f.Type
		}
	}
	panic("helmtrail.Options has no field " + field)
}

func flagText(o option, f flag) string {
	switch {
	case o.own:
		return "helmtrail only"
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
	for _, f := range reflect.VisibleFields(reflect.TypeFor[helmtrail.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.ContainsFunc(options, func(o option) bool { return o.field == name }) {
			t.Errorf("%s has no row", name)
		}
	}
	for _, o := range options {
		optionType(o.field) // panics when it does not exist
	}
}

// A row reads only the field that it names.
func TestEveryOptionReadsItsField(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[helmtrail.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		var request helmtrail.Options
		setAny(reflect.ValueOf(&request).Elem().FieldByIndex(f.Index))
		for _, o := range options {
			before, wasSet := o.value(helmtrail.Options{})
			after, isSet := o.value(request)
			if reads := isSet && (after != before || !wasSet); reads != (o.field == name) {
				t.Errorf("with only %s set, the row of %s reads %q (given: %t)", name, o.field, after, isSet)
			}
		}
	}
}

// setAny gives a field some value that is not its zero value.
func setAny(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAny(v.Elem())
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"x": "y"}))
	}
}

// at returns a Helm of that version without a binary.
func at(major, minor int) *Helm {
	everywhere, err := repository.ParseHosts([]string{"*"})
	if err != nil {
		panic(err)
	}
	return &Helm{version: fmt.Sprintf("v%d.%d.0", major, minor), major: major, minor: minor, remote: repository.NewClient(everywhere)}
}

func TestOptionsBecomeFlags(t *testing.T) {
	zero := 0
	tests := []struct {
		operation    helmtrail.Operation
		options      helmtrail.Options
		helm3, helm4 string // the flags, or the start of the error; "" for no flag
	}{
		{"install", helmtrail.Options{Wait: "true"}, "--wait", "--wait=watcher"},
		{"install", helmtrail.Options{Wait: "false"}, "", ""},
		{"upgrade", helmtrail.Options{Wait: "legacy"}, "--wait", "--wait=legacy"},
		{"rollback", helmtrail.Options{Wait: "watcher"}, "option wait: helm v3.22.0 takes only true, false or legacy for rollback", "--wait=watcher"},
		{"uninstall", helmtrail.Options{Wait: "hookOnly"}, "option wait: helm v3.22.0 takes only", "--wait=hookOnly"},
		{"install", helmtrail.Options{Wait: "sometimes"}, "options.wait: must be true, false, watcher, legacy or hookOnly", "options.wait: must be"},
		{"install", helmtrail.Options{WaitForJobs: true}, "--wait-for-jobs", "--wait-for-jobs"},
		{"uninstall", helmtrail.Options{WaitForJobs: true}, "option waitForJobs: helm uninstall has no", "option waitForJobs: helm uninstall has no"},
		{"upgrade", helmtrail.Options{RollbackOnFailure: true}, "--atomic", "--rollback-on-failure"},
		{"rollback", helmtrail.Options{RollbackOnFailure: true}, "option rollbackOnFailure: helm rollback has no", "option rollbackOnFailure: helm rollback has no"},
		{"rollback", helmtrail.Options{CleanupOnFail: true, HistoryMax: &zero}, "--cleanup-on-fail --history-max=0", "--cleanup-on-fail --history-max=0"},
		{"upgrade", helmtrail.Options{ForceReplace: true}, "--force", "options forceReplace and serverSide: "},
		{"upgrade", helmtrail.Options{ForceReplace: true, ServerSide: "auto"}, "option serverSide: helm v3.22.0 does not have it for upgrade, Helm 4 does", "options forceReplace and serverSide: "},
		{"install", helmtrail.Options{ForceReplace: true, ServerSide: "false"}, "option serverSide: helm v3.22.0 does not have it", "--force-replace --server-side=false"},
		{"upgrade", helmtrail.Options{ForceConflicts: true}, "option forceConflicts: helm v3.22.0 does not have it", "--force-conflicts"},
		{"upgrade", helmtrail.Options{ForceConflicts: true, ServerSide: "false"}, "option forceConflicts: ", "options forceConflicts and serverSide: "},
		{"rollback", helmtrail.Options{ForceConflicts: true, ForceReplace: true, ServerSide: "false"}, "option forceConflicts: ", "options forceReplace and forceConflicts: "},
		{"install", helmtrail.Options{ServerSide: "auto"}, "option serverSide: ", "option serverSide: helm v4.3.0 takes only true or false for install"},
		{"rollback", helmtrail.Options{ServerSide: "auto"}, "option serverSide: ", "--server-side=auto"},
		{"uninstall", helmtrail.Options{ServerSide: "true"}, "option serverSide: helm uninstall has no", "option serverSide: helm uninstall has no"},
		{"upgrade", helmtrail.Options{TakeOwnership: true}, "--take-ownership", "--take-ownership"},
		{"upgrade", helmtrail.Options{Install: true, CreateNamespace: true}, "--create-namespace --install", "--create-namespace --install"},
		{"upgrade", helmtrail.Options{CreateNamespace: true}, "options createNamespace and install: ", "options createNamespace and install: "},
		{"install", helmtrail.Options{Install: true}, "option install: helm install has no", "option install: helm install has no"},
		{"install", helmtrail.Options{SkipCRDs: true, NoHooks: true}, "--no-hooks --skip-crds", "--no-hooks --skip-crds"},
		{"install", helmtrail.Options{SkipSchemaValidation: true, DisableOpenAPIValidation: true}, "--skip-schema-validation --disable-openapi-validation", "--skip-schema-validation --disable-openapi-validation"},
		{"uninstall", helmtrail.Options{KeepHistory: true, Cascade: "orphan"}, "--keep-history --cascade=orphan", "--keep-history --cascade=orphan"},
		{"uninstall", helmtrail.Options{Cascade: "waterfall"}, "options.cascade: must be background, foreground or orphan", "options.cascade: must be"},
		{"upgrade", helmtrail.Options{ReuseValues: true}, "--reuse-values", "--reuse-values"},
		{"upgrade", helmtrail.Options{ReuseValues: true, ResetValues: true}, "options resetValues and reuseValues: ", "options resetValues and reuseValues: "},
		{"upgrade", helmtrail.Options{ResetThenReuseValues: true, ReuseValues: true}, "options reuseValues and resetThenReuseValues: ", "options reuseValues and resetThenReuseValues: "},
		{"install", helmtrail.Options{DryRun: "server"}, "--dry-run=server --output=json", "--dry-run=server --output=json"},
		{"rollback", helmtrail.Options{DryRun: "client"}, "--dry-run", "--dry-run=client"},
		{"uninstall", helmtrail.Options{DryRun: "server"}, "--dry-run", "--dry-run"},
		{"install", helmtrail.Options{DryRun: "true"}, "options.dryRun: must be client or server", "options.dryRun: must be"},
		{"install", helmtrail.Options{Description: "-x", Labels: map[string]string{"b": "2", "a": "1"}}, "--description=-x --labels=a=1,b=2", "--description=-x --labels=a=1,b=2"},
		{"rollback", helmtrail.Options{Description: "why"}, "option description: helm v3.22.0 does not have it for rollback", "--description=why"},
		{"install", helmtrail.Options{Retries: &zero, DeadlineSeconds: 9}, "", ""},
		{"uninstall", helmtrail.Options{Retries: &zero}, "option retries: helm uninstall has no", "option retries: helm uninstall has no"},
		{"rollback", helmtrail.Options{OverridePending: true}, "", ""},
		{"install", helmtrail.Options{OverridePending: true}, "option overridePending: helm install has no", "option overridePending: helm install has no"},
	}
	for _, test := range tests {
		for _, h := range []*Helm{at(3, 22), at(4, 3)} {
			want := test.helm3
			if h.major == 4 {
				want = test.helm4
			}
			request := helmtrail.Request{Operation: test.operation, Options: test.options}
			got := ""
			if err := h.checkOptions(request); err != nil {
				got = err.Error()
				if !strings.HasPrefix(got, want) || want == "" {
					t.Errorf("helm %d %s %+v is rejected with %q, want %q", h.major, test.operation, test.options, got, want)
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

func TestAnOlderHelmLacksNewerOptions(t *testing.T) {
	for _, test := range []struct {
		minor   int
		options helmtrail.Options
		lacks   string
	}{
		{16, helmtrail.Options{TakeOwnership: true}, "3.17"},
		{17, helmtrail.Options{TakeOwnership: true}, ""},
		{15, helmtrail.Options{SkipSchemaValidation: true}, "3.16"},
		{14, helmtrail.Options{DryRun: "client"}, "3.15"},
		{13, helmtrail.Options{ResetThenReuseValues: true}, "3.14"},
	} {
		err := at(3, test.minor).checkOptions(helmtrail.Request{Operation: helmtrail.OperationUpgrade, Options: test.options})
		unsupported := (*helmtrail.UnsupportedError)(nil)
		if test.lacks == "" && err != nil || test.lacks != "" && (!errors.As(err, &unsupported) || !strings.Contains(err.Error(), test.lacks)) {
			t.Errorf("helm 3.%d and %+v: %v, want %q named", test.minor, test.options, err, test.lacks)
		}
	}
}

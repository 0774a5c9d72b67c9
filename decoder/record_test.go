package decoder_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"

	"github.com/helmtrail/helmtrail/decoder"
)

const hookJSON = `{"name":"web-test","kind":"Pod","path":"web/templates/test.yaml","manifest":"kind: Pod\n","events":["test","pre-party"],` +
	`"last_run":{"started_at":"","completed_at":"","phase":""},"weight":-5,"delete_policies":["before-hook-creation"],"output_log_policies":["hook-failed"]}`

func TestDecodeRecord(t *testing.T) {
	raw := strings.Replace(webRecord, `"version":2`, `"hooks":[`+hookJSON+`],"version":2`, 1)
	want := &decoder.Record{
		Header:      *webHeader,
		Namespace:   "prod",
		Version:     2,
		ApplyMethod: "ssa",
		Manifest:    "---\nkind: Pod\n",
		Notes:       "Hello\n",
		Hooks: []decoder.Hook{{
			Name: "web-test", Kind: "Pod", Path: "web/templates/test.yaml", Manifest: "kind: Pod\n",
			Events: []release.HookEvent{release.HookTest, "pre-party"}, LastRun: json.RawMessage(`{"started_at":"","completed_at":"","phase":""}`),
			Weight: -5, DeletePolicies: []release.HookDeletePolicy{release.HookBeforeHookCreation},
			OutputLogPolicies: []release.HookOutputLogPolicy{release.HookOutputOnFailed},
		}},
		Config:      json.RawMessage(`{"replicas":3}`),
		Metadata:    &chart.Metadata{Name: "nginx", Version: "1.2.3", Description: "A server", APIVersion: "v2", AppVersion: "1.27"},
		ChartValues: json.RawMessage(`{"replicas":1}`),
		Raw:         json.RawMessage(raw),
	}
	for name, data := range map[string][]byte{"compressed": compressed(t, raw), "plain": plainJSON(raw)} {
		t.Run(name, func(t *testing.T) {
			got, err := decoder.DecodeRecord(data, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryDigitAndEveryUnknownFieldIsKept(t *testing.T) {
	const config = `{"id":12345678901234567890123, "ratio":0.10000000000000000000000001,"big":1E+400,"one":1.0}`
	raw := strings.NewReplacer(`{"replicas":3}`, config, `{"replicas":1}`, config, `"notes"`, `"mood":{"a":[1e0]},"notes"`).Replace(webRecord)
	record, err := decoder.DecodeRecord(compressed(t, raw), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if string(record.Config) != config || string(record.ChartValues) != config {
		t.Errorf("config %s\nvalues %s\nwant %s", record.Config, record.ChartValues, config)
	}
	if string(record.Raw) != raw {
		t.Errorf("raw %s\nwant %s", record.Raw, raw)
	}
}

func TestEveryEscapeIsRead(t *testing.T) {
	const escaped = `\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\uDE00 \ud83d\ud83d\udE00 \ud83dx\ud83d`
	const want = "\"\\/\b\f\n\r\tAé😀 \ufffd😀 \ufffdx\ufffd"
	record, err := decoder.DecodeRecord(compressed(t, strings.Replace(webRecord, `Rollback to 1`, escaped, 1)), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if record.Description != want {
		t.Errorf("description %q, want %q", record.Description, want)
	}
}

// https://github.com/kubermatic/kubermatic/issues/16209
func TestApplyMethodMayBeMissingOrUnknown(t *testing.T) {
	for _, tt := range []struct{ replace, with, method, status string }{
		{`,"apply_method":"ssa"`, ``, "", "deployed"},
		{`"ssa"`, `"csa"`, "csa", "deployed"},
		{`"ssa"`, `"ssa"`, "ssa", "deployed"},
		{`"ssa"`, `"xyz","weather":{"sky":["blue"]}`, "xyz", "deployed"},
		{`"deployed"`, `"pending-test"`, "ssa", "pending-test"},
	} {
		record, err := decoder.DecodeRecord(compressed(t, strings.Replace(webRecord, tt.replace, tt.with, 1)), decoder.Limits{})
		if err != nil {
			t.Errorf("with %s: %v", tt.with, err)
			continue
		}
		if record.ApplyMethod != tt.method || string(record.Status) != tt.status {
			t.Errorf("with %s: method %q and status %q, want %q and %q", tt.with, record.ApplyMethod, record.Status, tt.method, tt.status)
		}
	}
	// An unknown future status is neither pending nor terminal.
	if status := decoder.Status("pending-test"); decoder.Busy(status) {
		t.Errorf("%s counts as busy", status)
	}
}

func TestRecordIsCheckedToItsEnd(t *testing.T) {
	const secret = "hunter2"
	packed := compressed(t, webRecord)
	for name, data := range map[string][]byte{
		"data after the end":       compressed(t, webRecord+secret),
		"manifest twice":           plainJSON(strings.Replace(webRecord, `"version":2`, `"version":2,"manifest":"`+secret+`"`, 1)),
		"name twice":               plainJSON(strings.Replace(webRecord, `"version":2`, `"version":2,"Name":"`+secret+`"`, 1)),
		"chart twice":              plainJSON(strings.Replace(webRecord, `"version":2`, `"version":2,"chart":{}`, 1)),
		"metadata version twice":   plainJSON(strings.Replace(webRecord, `"appVersion"`, `"version":"9","appVersion"`, 1)),
		"version is a text":        plainJSON(strings.Replace(webRecord, `"version":2`, `"version":"`+secret+`"`, 1)),
		"manifest is a number":     plainJSON(strings.Replace(webRecord, `"---\nkind: Pod\n"`, `1234567`, 1)),
		"hook weight is a text":    plainJSON(strings.Replace(webRecord, `"version":2`, `"hooks":[{"weight":"`+secret+`"}],"version":2`, 1)),
		"metadata of another kind": plainJSON(strings.Replace(webRecord, `"description":"A server"`, `"keywords":1234567`, 1)),
		"checksum does not match":  append(packed[:len(packed)-12:len(packed)-12], "AAAA"+string(packed[len(packed)-8:])...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decoder.DecodeRecord(data, decoder.Limits{})
			if !errors.Is(err, decoder.ErrNotRecord) {
				t.Errorf("error %v, want one that is %q", err, decoder.ErrNotRecord)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "1234567")) {
				t.Errorf("error quotes the content: %v", err)
			}
		})
	}
}

func TestPlainRecordBeyondTheLimitIsRefused(t *testing.T) {
	_, err := decoder.DecodeRecord(plainJSON(webRecord), decoder.Limits{Inflated: len(webRecord) - 1})
	if !errors.Is(err, decoder.ErrTooLarge) {
		t.Errorf("error %v, want one that is %q", err, decoder.ErrTooLarge)
	}
	if _, err := decoder.DecodeRecord(plainJSON(webRecord), decoder.Limits{Inflated: len(webRecord)}); err != nil {
		t.Errorf("a record of exactly the limit: %v", err)
	}
	if _, err := decoder.DecodeRecord(compressed(t, webRecord), decoder.Limits{Inflated: len(webRecord)}); err != nil {
		t.Errorf("a compressed record of exactly the limit: %v", err)
	}
}

func TestRecordsOfMoreThan16MiBAreRefusedByDefault(t *testing.T) {
	record := webRecord + strings.Repeat(" ", 16<<20-len(webRecord)+1)
	if _, err := decoder.DecodeRecord(plainJSON(record), decoder.Limits{}); !errors.Is(err, decoder.ErrTooLarge) {
		t.Errorf("error %v, want one that is %q", err, decoder.ErrTooLarge)
	}
}

package decoder_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

// webRecord is a record in Helm's own field order.
const webRecord = `{"name":"web","info":{"first_deployed":"2026-11-30T09:00:00.123456789+08:00",` +
	`"last_deployed":"2026-11-30T02:00:00Z","deleted":"","description":"Rollback to 1","status":"deployed",` +
	`"rollback_revision":1,"notes":"Hello\n"},"chart":{"metadata":{"name":"nginx","version":"1.2.3",` +
	`"description":"A server","apiVersion":"v2","appVersion":"1.27"},"lock":null,"templates":[],` +
	`"values":{"replicas":1},"schema":null,"files":[]},"config":{"replicas":3},"manifest":"---\nkind: Pod\n",` +
	`"version":2,"namespace":"prod","apply_method":"ssa"}`

var webHeader = &decoder.Header{
	Name:             "web",
	Status:           decoder.StatusDeployed,
	Description:      "Rollback to 1",
	FirstDeployed:    time.Date(2026, 11, 30, 1, 0, 0, 123456789, time.UTC),
	LastDeployed:     time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC),
	RollbackRevision: 1,
	Chart:            "nginx", ChartVersion: "1.2.3", AppVersion: "1.27",
}

func TestDecodeHeader(t *testing.T) {
	for name, data := range map[string][]byte{
		"compressed":                     compressed(t, webRecord),
		"plain":                          plainJSON(webRecord),
		"white space everywhere":         compressed(t, spaced(webRecord)),
		"gzip header with all its parts": compressedWith(t, webRecord, gzip.Header{Name: "a", Comment: "b", Extra: []byte("cd")}),
		"gzip header with a checksum":    withHeaderChecksum(t, webRecord),
		"base64 in lines":                inLines(compressed(t, webRecord), 76, "\n"),
		"base64 in odd lines":            inLines(plainJSON(webRecord), 7, "\r\n"),
		"another order": compressed(t, `{"manifest":"`+strings.Repeat("x", 100_000)+`","chart":{"values":{"a":[1,{"b":null}]},`+
			`"metadata":{"appVersion":"1.27","keywords":["a"],"version":"1.2.3","name":"nginx"}},"info":{"notes":"n","rollback_revision":1,`+
			`"status":"deployed","description":"Rollback to 1","last_deployed":"2026-11-30T02:00:00Z",`+
			`"first_deployed":"2026-11-30T01:00:00.123456789Z"},"name":"web"}`),
		"keys in another case": plainJSON(`{"Name":"web","INFO":{"first_deployed":"2026-11-30T01:00:00.123456789Z",` +
			`"Last_Deployed":"2026-11-30T02:00:00Z","description":"Rollback to 1","ſtatus":"deployed","roll\u0062ac\u212a_revision":1},` +
			`"chart":{"metadata":{"name":"nginx","version":"1.2.3","appversion":"1.27"}}}`),
		"escapes": compressed(t, strings.Replace(webRecord, "Rollback", `\u0052oll\u0062ack`, 1)),
		"null means absent": compressed(t, strings.Replace(strings.Replace(webRecord, `"deleted":""`, `"deleted":null`, 1),
			`"chart":{`, `"hooks":null,"chart":{`, 1)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decoder.DecodeHeader(data, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(webHeader, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			record, err := decoder.DecodeRecord(data, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*webHeader, record.Header); diff != "" {
				t.Errorf("header of the whole record (-want +got):\n%s", diff)
			}
		})
	}
}

// https://github.com/helm/helm/pull/1420
func TestRecordFromBeforeCompressionIsRead(t *testing.T) {
	data := plainJSON(`{"name":"old","info":{"first_deployed":"2019-01-01T00:00:00Z","last_deployed":"2019-01-01T00:00:00Z",` +
		`"deleted":"","description":"Install complete","status":"deployed"},"chart":{"metadata":{"name":"c","version":"1"}},` +
		`"manifest":"kind: Pod\n","version":1,"namespace":"default"}`)
	old, ok := decoder.NewRevision(decoder.Secret{Namespace: "default", Name: "sh.helm.release.v1.old.v1", UID: "u", ResourceVersion: "1",
		Labels: map[string]string{"owner": "helm", "name": "old", "status": "deployed", "version": "1"}}, data, decoder.Limits{})
	if !ok || old.Problem != "" {
		t.Fatalf("no revision, or one with a problem: %+v", old)
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*old.Header, record.Header); diff != "" {
		t.Errorf("header of the record (-header +record):\n%s", diff)
	}
	if record.Manifest != "kind: Pod\n" || record.Version != 1 {
		t.Errorf("manifest %q, version %d", record.Manifest, record.Version)
	}
	// Transitions work exactly as for a compressed record: the second state
	// differs only in its encoding and its status.
	later, _ := decoder.NewRevision(decoder.Secret{Namespace: "default", Name: "sh.helm.release.v1.old.v1", UID: "u", ResourceVersion: "2",
		Labels: map[string]string{"owner": "helm", "name": "old", "status": "superseded", "version": "1"}},
		compressed(t, strings.Replace(string(record.Raw), "deployed\"}", "superseded\"}", 1)), decoder.Limits{})
	got, ok := decoder.Compare(old, later)
	want := decoder.Transition{Change: decoder.ChangeStatus, Revision: later, Previous: decoder.StatusDeployed}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("transition %v (-want +got):\n%s", ok, diff)
	}
}

func TestHeaderStopsWhenItIsComplete(t *testing.T) {
	front, _, _ := strings.Cut(webRecord, `,"lock"`)
	for name, data := range map[string][]byte{
		"not JSON any more":    compressed(t, front+"}!!!"),
		"cut off":              plainJSON(front + `},"templates":[`),
		"far beyond the limit": compressed(t, front+`},"manifest":"`+strings.Repeat("x", 1<<20)+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			limits := decoder.Limits{Inflated: 64 << 10}
			got, err := decoder.DecodeHeader(data, limits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(webHeader, got); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			if _, err := decoder.DecodeRecord(data, limits); err == nil {
				t.Error("the whole record was accepted")
			}
		})
	}
}

func TestBrokenRecords(t *testing.T) {
	// The secret is in places that errors of the standard library would quote.
	const secret = "hunter2"
	info := func(fields string) string { return `{"name":"x","info":{` + fields + `}}` }
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"empty":                      {nil, decoder.ErrNotRecord},
		"one byte":                   {plainJSON("x"), decoder.ErrNotRecord},
		"two bytes":                  {plainJSON("\x1f\x8b"), decoder.ErrNotRecord},
		"three bytes":                {plainJSON("\x1f\x8b\x08"), decoder.ErrNotRecord},
		"an empty object":            {compressed(t, `{}`), decoder.ErrNotRecord},
		"not base64":                 {[]byte("{\"" + secret + "\"}"), decoder.ErrNotRecord},
		"base64 after its padding":   {append(plainJSON(`{"a":1} `), plainJSON(secret)...), decoder.ErrNotRecord},
		"base64 cut off":             {plainJSON(webRecord)[:101], decoder.ErrNotRecord},
		"not JSON":                   {plainJSON(secret), decoder.ErrNotRecord},
		"not an object":              {compressed(t, `["`+secret+`"]`), decoder.ErrNotRecord},
		"null":                       {compressed(t, "null"), decoder.ErrNotRecord},
		"no info":                    {compressed(t, `{"name":"`+secret+`"}`), decoder.ErrNotRecord},
		"info is null":               {compressed(t, `{"name":"x","info":null}`), decoder.ErrNotRecord},
		"info is a text":             {compressed(t, `{"info":"`+secret+`"}`), decoder.ErrNotRecord},
		"status is a number":         {compressed(t, info(`"status":1234567`)), decoder.ErrNotRecord},
		"time is not a time":         {compressed(t, info(`"deleted":"`+secret+`"`)), decoder.ErrNotRecord},
		"rollback is a fraction":     {compressed(t, info(`"rollback_revision":1.5`)), decoder.ErrNotRecord},
		"rollback is too big":        {compressed(t, info(`"rollback_revision":99999999999999999999`)), decoder.ErrNotRecord},
		"status twice":               {compressed(t, info(`"status":"deployed","status":"`+secret+`"`)), decoder.ErrNotRecord},
		"status twice, another case": {compressed(t, info(`"status":"deployed","Status":"failed"`)), decoder.ErrNotRecord},
		"literal cut short":          {compressed(t, `{"x":nul,"name":"x"}`), decoder.ErrNotRecord},
		"control character":          {compressed(t, "{\"na\nme\":1}"), decoder.ErrNotRecord},
		"invalid escape":             {compressed(t, `{"na\x":1}`), decoder.ErrNotRecord},
		"number with a leading zero": {compressed(t, `{"x":01}`), decoder.ErrNotRecord},
		"number without digits":      {compressed(t, `{"x":-}`), decoder.ErrNotRecord},
		"no comma":                   {compressed(t, `{"x":1 "y":2}`), decoder.ErrNotRecord},
		"comma before the end":       {compressed(t, `{"x":[1,],"y":2}`), decoder.ErrNotRecord},
		"no colon":                   {compressed(t, `{"x" 1}`), decoder.ErrNotRecord},
		"only the gzip magic":        {[]byte("H4sIAA=="), decoder.ErrNotRecord},
		"corrupt compression":        {corrupted(compressed(t, webRecord)), decoder.ErrNotRecord},
		"nested too deep":            {compressed(t, `{"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)+`}`), decoder.ErrTooLarge},
		"more JSON than the limit":   {compressed(t, `{"x":"`+strings.Repeat(" ", 1<<20)+`","name":"x","info":{}}`), decoder.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			limits := decoder.Limits{Inflated: 1 << 20}
			_, headerErr := decoder.DecodeHeader(tt.data, limits)
			_, recordErr := decoder.DecodeRecord(tt.data, limits)
			for _, err := range []error{headerErr, recordErr} {
				if !errors.Is(err, tt.want) {
					t.Errorf("error %v, want one that is %q", err, tt.want)
				}
				if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "1234567")) {
					t.Errorf("error quotes the content: %v", err)
				}
			}
		})
	}
}

func TestARecordWithoutAChartIsRead(t *testing.T) {
	data := compressed(t, `{"name":"web","info":{"status":"word-of-the-future"},"manifest":"kind: Pod\n","version":1}`)
	want := &decoder.Header{Name: "web", Status: "word-of-the-future"}
	got, err := decoder.DecodeHeader(data, decoder.Limits{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("header, %v (-want +got):\n%s", err, diff)
	}
	record, err := decoder.DecodeRecord(data, decoder.Limits{})
	if err != nil || record.Metadata != nil || record.Manifest != "kind: Pod\n" {
		t.Errorf("record %+v, %v", record, err)
	}
}

func TestNestingUpToTheLimitIsRead(t *testing.T) {
	record := strings.Replace(webRecord, `"name"`, `"x":`+strings.Repeat("[", 999)+strings.Repeat("]", 999)+`,"name"`, 1)
	if _, err := decoder.DecodeHeader(compressed(t, record), decoder.Limits{}); err != nil {
		t.Error(err)
	}
}

func TestCutAnywhereNeverPanics(t *testing.T) {
	for _, whole := range [][]byte{compressed(t, webRecord), plainJSON(webRecord)} {
		for n := range len(whole) {
			if _, err := decoder.DecodeRecord(whole[:n], decoder.Limits{}); err == nil {
				t.Errorf("the first %d of %d bytes made a record", n, len(whole))
			}
			if got, err := decoder.DecodeHeader(whole[:n], decoder.Limits{}); err == nil {
				if diff := cmp.Diff(webHeader, got); diff != "" {
					t.Errorf("header of the first %d bytes (-want +got):\n%s", n, diff)
				}
			}
		}
	}
}

func TestLongTextsOfAHeaderAreCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 5000), strings.Repeat("é", 3000), "x" + strings.Repeat("😀", 2000), strings.Repeat(`\ud83d\ude00`, 2000)} {
		record := strings.NewReplacer("Rollback to 1", text, "1.27", text).Replace(webRecord)
		header, err := decoder.DecodeHeader(compressed(t, record), decoder.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for field, limit := range map[string]int{header.Description: 1024, header.AppVersion: 128} {
			kept, ok := strings.CutSuffix(field, "…")
			if !ok || len(kept) > limit || len(kept) <= limit-utf8.UTFMax || !utf8.ValidString(kept) || strings.ContainsRune(kept, utf8.RuneError) {
				t.Errorf("%d bytes kept of %.5s..., cut %v, want just under %d", len(kept), text, ok, limit)
			}
		}
		record = strings.Replace(webRecord, "Rollback to 1", text, 1)
		full, err := decoder.DecodeRecord(compressed(t, record), decoder.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(full.Description, "…") {
			t.Error("the description of a whole record was cut")
		}
	}
}

func TestTextOfExactlyTheLimitIsNotCut(t *testing.T) {
	text := strings.Repeat("b", 1024)
	header, err := decoder.DecodeHeader(compressed(t, strings.Replace(webRecord, "Rollback to 1", text, 1)), decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if header.Description != text {
		t.Errorf("%d bytes, want all 1024", len(header.Description))
	}
}

func TestHeaderKeepsNoReferenceToTheData(t *testing.T) {
	data := plainJSON(webRecord)
	got, err := decoder.DecodeHeader(data, decoder.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	// Decode another record, which likely reuses the same buffers.
	if _, err := decoder.DecodeHeader(compressed(t, strings.ReplaceAll(webRecord, "e", "o")), decoder.Limits{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(webHeader, got); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

func TestConcurrentDecoding(t *testing.T) {
	var group sync.WaitGroup
	for i := range 16 {
		name := fmt.Sprintf("web-%d", i)
		data := compressed(t, strings.Replace(webRecord, `"web"`, `"`+name+`"`, 1))
		group.Go(func() {
			for range 50 {
				header, err := decoder.DecodeHeader(data, decoder.Limits{})
				if err != nil || header.Name != name {
					t.Errorf("header of %s: %+v, %v", name, header, err)
				}
				record, err := decoder.DecodeRecord(data, decoder.Limits{})
				if err != nil || record.Name != name || record.Manifest != "---\nkind: Pod\n" {
					t.Errorf("record of %s: %+v, %v", name, record, err)
				}
			}
		})
	}
	group.Wait()
}

// spaced puts white space around every structural character outside strings.
func spaced(record string) string {
	var out strings.Builder
	inString := false
	for i, c := range record {
		if c == '"' && record[i-1] != '\\' {
			inString = !inString
		}
		if !inString && strings.ContainsRune("{}[],:", c) {
			fmt.Fprintf(&out, " \n%c\t\r ", c)
			continue
		}
		out.WriteRune(c)
	}
	return out.String()
}

func inLines(data []byte, width int, end string) []byte {
	var out bytes.Buffer
	for len(data) > 0 {
		n := min(width, len(data))
		out.Write(data[:n])
		out.WriteString(end)
		data = data[n:]
	}
	return out.Bytes()
}

// withHeaderChecksum adds the part of a gzip header that Go's writer cannot
// write.
func withHeaderChecksum(t *testing.T, record string) []byte {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(string(compressed(t, record)))
	if err != nil {
		t.Fatal(err)
	}
	packed[3] |= 1 << 1
	checksum := binary.LittleEndian.AppendUint16(nil, uint16(crc32.ChecksumIEEE(packed[:10])))
	packed = slices.Insert(packed, 10, checksum...)
	return []byte(base64.StdEncoding.EncodeToString(packed))
}

// corrupted damages the compressed data after its header, where the first block
// states its compression method.
func corrupted(data []byte) []byte {
	return append([]byte("H4sIAAAAAAAC/////////////"), data[25:]...)
}

func TestHowARollbacksRevisionIsRecognized(t *testing.T) {
	tests := []struct {
		name   string
		header decoder.Header
		target int
		made   bool
	}{
		{"Helm 4's field", decoder.Header{RollbackRevision: 3, Description: "back to the old search"}, 3, true},
		{"Helm 3's description", decoder.Header{Description: "Rollback to 12"}, 12, true},
		{"a rollback that is pending", decoder.Header{Status: decoder.StatusPendingRollback, Description: "a custom description"}, 0, true},
		{"a rollback that failed", decoder.Header{Status: decoder.StatusFailed, Description: `Rollback "web" failed: no`}, 0, true},
		{"a number that is too large", decoder.Header{Description: "Rollback to 99999999999999999999"}, 0, false},
		{"a description that only starts like one", decoder.Header{Description: "Rollback to 12 and further"}, 0, false},
		{"an upgrade that mentions a rollback", decoder.Header{Description: "Rollback of the new search"}, 0, false},
		{"an upgrade", decoder.Header{Description: "Upgrade complete"}, 0, false},
	}
	for _, test := range tests {
		if target, made := test.header.Rollback(); target != test.target || made != test.made {
			t.Errorf("%s: the target is %d and made is %v, want %d and %v", test.name, target, made, test.target, test.made)
		}
	}
}

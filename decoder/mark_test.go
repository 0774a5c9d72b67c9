package decoder_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
)

func TestMarkFailedChangesStatusAndDescriptionAlone(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"all there": {
			`{"name":"web","info":{"first_deployed":"2026-11-30T12:00:00Z","status":"pending-upgrade","description":"Preparing \"upgrade\"","x":{"status":"kept"}},"config":{"n":12345678901234567890.10},"future":{"status":"kept"}}`,
			`{"name":"web","info":{"first_deployed":"2026-11-30T12:00:00Z","status":"failed","description":"Marked by a test","x":{"status":"kept"}},"config":{"n":12345678901234567890.10},"future":{"status":"kept"}}`,
		},
		"nothing there": {
			`{"info": { }, "version": 3}`,
			`{"info": {"description":"Marked by a test","status":"failed" }, "version": 3}`,
		},
		"info last": {
			`{"version": 3, "Info": {"status": "pending-install"}}`,
			`{"version": 3, "Info": {"description":"Marked by a test","status": "failed"}}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			data := []byte(base64.StdEncoding.EncodeToString([]byte(test.before)))
			marked, err := decoder.MarkFailed(data, "Marked by a test", decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			record, err := decoder.DecodeRecord(marked, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if string(record.Raw) != test.after {
				t.Errorf("got  %s\nwant %s", record.Raw, test.after)
			}
			if record.Status != decoder.StatusFailed || record.Description != "Marked by a test" {
				t.Errorf("the record reads %s %q", record.Status, record.Description)
			}
		})
	}
	if _, err := decoder.MarkFailed([]byte("secret text"), "", decoder.Limits{}); err == nil || strings.Contains(err.Error(), "secret text") {
		t.Errorf("got %v, want an error without the content", err)
	}
}

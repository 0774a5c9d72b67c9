package informer_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"

	"github.com/helmtrail/helmtrail/decoder"
)

// record makes a small record as Helm stores it.
func record(name string, revision int, status decoder.Status) []byte {
	return recordOf(name, revision, status, "")
}

// recordOf makes a record with a manifest.
func recordOf(name string, revision int, status decoder.Status, manifest string) []byte {
	content, err := json.Marshal(map[string]any{
		"name": name,
		"info": map[string]any{
			"first_deployed": "2026-01-02T03:04:05Z", "last_deployed": "2026-01-02T03:04:05Z", "deleted": "",
			"description": "made by a test", "status": status,
		},
		"chart":    map[string]any{"metadata": map[string]any{"name": "web", "version": "1.2.3", "appVersion": "4.5"}},
		"manifest": manifest,
		"version":  revision,
	})
	if err != nil {
		panic(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
}

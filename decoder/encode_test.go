package decoder_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"testing"

	"helm.sh/helm/v3/pkg/release"
)

// plainJSON encodes a record as Helm did before it compressed records.
func plainJSON(record string) []byte {
	return []byte(base64.StdEncoding.EncodeToString([]byte(record)))
}

// compressed encodes a record as Helm does.
func compressed(t testing.TB, record string) []byte {
	t.Helper()
	return compressedWith(t, record, gzip.Header{})
}

func compressedWith(t testing.TB, record string, header gzip.Header) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Header = header
	if _, err := io.WriteString(w, record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
}

// helmDecode decodes a record in the same three steps as Helm
// (helm.sh/helm/v3/pkg/storage/driver/util.go, decodeRelease).
func helmDecode(data []byte) (*release.Release, error) {
	content, err := base64.StdEncoding.DecodeString(string(data))
	if err != nil {
		return nil, err
	}
	if len(content) > 3 && bytes.Equal(content[:3], []byte{0x1f, 0x8b, 0x08}) {
		r, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		if content, err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	var rel release.Release
	if err := json.Unmarshal(content, &rel); err != nil {
		return nil, err
	}
	return &rel, nil
}

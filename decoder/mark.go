package decoder

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// MarkFailed returns the record with the status failed and the given
// description, encoded as Helm stores it. Everything else is preserved byte for
// byte: unknown fields, the order of fields, the digits of numbers. data is the
// same as for DecodeRecord, and so are the errors.
func MarkFailed(data []byte, description string, limits Limits) ([]byte, error) {
	if _, err := DecodeRecord(data, limits); err != nil {
		return nil, fmt.Errorf("mark a release record: %w", err)
	}
	raw, err := unpack(data, limits.withDefaults().Inflated)
	if err != nil {
		return nil, fmt.Errorf("mark a release record: %w", err)
	}
	info, err := member(raw, 0, "info")
	if err != nil {
		return nil, fmt.Errorf("mark a release record: %w", err)
	}
	for _, field := range []struct{ name, value string }{
		{"status", string(StatusFailed)}, {"description", description},
	} {
		if raw, err = setText(raw, info.start, field.name, field.value); err != nil {
			return nil, fmt.Errorf("mark a release record: %w", err)
		}
	}
	return pack(raw)
}

// extent is the position of a value in JSON. start is -1 if the value is
// absent.
type extent struct{ start, end int }

// member finds the value of a member of the object that begins at the offset.
func member(raw []byte, object int, name string) (extent, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw[object:]))
	if _, err := decoder.Token(); err != nil {
		return extent{}, fmt.Errorf("%w: %w", ErrNotRecord, err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return extent{}, fmt.Errorf("%w: %w", ErrNotRecord, err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return extent{}, fmt.Errorf("%w: %w", ErrNotRecord, err)
		}
		// Keys match as encoding/json matches them for Helm.
		if text, ok := key.(string); ok && strings.EqualFold(text, name) {
			end := object + int(decoder.InputOffset())
			return extent{end - len(value), end}, nil
		}
	}
	return extent{-1, -1}, nil
}

// setText sets a member of the object that begins at the offset.
func setText(raw []byte, object int, name, value string) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	at, err := member(raw, object, name)
	if err != nil {
		return nil, err
	}
	if at.start >= 0 {
		return splice(raw, at, text), nil
	}
	open := object + bytes.IndexByte(raw[object:], '{') + 1
	added := fmt.Appendf(nil, "%q:%s", name, text)
	if rest := bytes.TrimLeft(raw[open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
		added = append(added, ',')
	}
	return splice(raw, extent{open, open}, added), nil
}

func splice(raw []byte, at extent, text []byte) []byte {
	out := make([]byte, 0, len(raw)+len(text))
	out = append(out, raw[:at.start]...)
	out = append(out, text...)
	return append(out, raw[at.end:]...)
}

// pack encodes a record as Helm does
// (helm.sh/helm/v3/pkg/storage/driver/util.go, encodeRelease): gzip at the best
// compression, then base64.
func pack(raw []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress a release record: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("compress a release record: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress a release record: %w", err)
	}
	return base64.StdEncoding.AppendEncode(nil, compressed.Bytes()), nil
}

package decoder_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
)

// A Secret of 13 KB holds 10 MB of small numbers. Each number became a node of
// 200 bytes when the record was masked.
func TestASmallSecretOfMillionsOfValuesIsRefused(t *testing.T) {
	const million = 1 << 20
	for name, config := range map[string]string{
		"numbers":        `[` + strings.Repeat("1,", 5*million) + `1]`,
		"empty lists":    `[` + strings.Repeat("[],", million) + `1]`,
		"equal keys":     `{` + strings.Repeat(`"":1,`, million) + `"":1}`,
		"one long text":  `"` + strings.Repeat("a", 17*million) + `"`,
		"deep lists":     strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
		"in other order": `[` + strings.Repeat("1,", 5*million) + `1]`,
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"name":"web","info":{"status":"failed","description":"upgrade failed: x"},"chart":{"metadata":{"name":"web"}},"config":` + config + `}`
			if name == "in other order" {
				text = `{"config":` + config + `,"name":"web","info":{"status":"failed"}}`
				if _, err := decoder.DecodeHeader(compressed(t, text), decoder.Limits{}); !errors.Is(err, decoder.ErrTooLarge) {
					t.Errorf("the header's error is %v, want one of size", err)
				}
			}
			if _, err := decoder.DecodeRecord(compressed(t, text), decoder.Limits{}); !errors.Is(err, decoder.ErrTooLarge) {
				t.Errorf("the error is %v, want one of size", err)
			}
		})
	}
}

func TestMeasureCountsBytesAndNodes(t *testing.T) {
	text := `{"name":"web","info":{"status":"deployed"},"config":{"a":[1,2,{"b":"c"}]},"manifest":"kind: Secret\ndata:\n- x"}`
	for name, data := range map[string][]byte{"plain": plainJSON(text), "compressed": compressed(t, text)} {
		extent, err := decoder.Measure(data, decoder.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		const inJSON, inYAML = 16, 6
		if extent.Bytes != len(text) || extent.Nodes < inJSON+inYAML {
			t.Errorf("%s: the extent is %+v, want %d bytes and at least %d nodes", name, extent, len(text), inJSON+inYAML)
		}
	}
	large := compressed(t, `{"name":"`+strings.Repeat("x", decoder.DefaultInflated)+`"}`)
	if _, err := decoder.Measure(large, decoder.Limits{}); !errors.Is(err, decoder.ErrTooLarge) {
		t.Errorf("the error of a large record is %v", err)
	}
	for name, data := range map[string][]byte{"no base64": []byte("{}"), "cut off": compressed(t, text)[:100]} {
		if _, err := decoder.Measure(data, decoder.Limits{}); !errors.Is(err, decoder.ErrNotRecord) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

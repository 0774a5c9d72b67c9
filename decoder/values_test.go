package decoder_test

import (
	"encoding/json"
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
)

func TestValuesAreMergedLikeTheHelmThatWroteTheRecord(t *testing.T) {
	const defaults = `{"kept":1.10,"big":12345678901234567890123,"map":{"a":1,"b":{"c":2},"gone":3,"null":null},"list":[1,2],"table":{"x":1},"null":null,"both":null,"cut":5}`
	const config = `{"map":{"a":"<9>","gone":null,"new":null},"list":[3],"table":"text","both":null,"cut":null,"own":null}`
	for method, want := range map[string]string{
		"":    `{"big":12345678901234567890123,"kept":1.10,"list":[3],"map":{"a":"<9>","b":{"c":2},"new":null,"null":null},"null":null,"own":null,"table":"text"}`,
		"ssa": `{"big":12345678901234567890123,"kept":1.10,"list":[3],"map":{"a":"<9>","b":{"c":2},"new":null},"own":null,"table":"text"}`,
	} {
		record := &decoder.Record{Config: json.RawMessage(config), ChartValues: json.RawMessage(defaults), ApplyMethod: method}
		got, err := decoder.MergedValues(record)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("apply method %q: values\n%s\nwant\n%s", method, got, want)
		}
	}
	if got, err := decoder.MergedValues(&decoder.Record{}); err != nil || string(got) != "{}" {
		t.Errorf("values of nothing are %s, error %v", got, err)
	}
}

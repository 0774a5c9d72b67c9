package docs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/drift"
)

// The codes by which clients translate sentences are those of openapi.yaml.
func TestDescriptionHasTheCodesOfSentences(t *testing.T) {
	for schema, got := range map[string][]string{
		"NoteCode":  texts(drift.NoteCodes),
		"RetryCode": texts(helmtrail.RetryCodes),
	} {
		var want []string
		for _, code := range description(t).Components.Schemas[schema].Value.Enum {
			want = append(want, code.(string))
		}
		if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("%s (-openapi.yaml +code):\n%s", schema, diff)
		}
	}
}

func texts[T ~string](all []T) []string {
	got := make([]string, len(all))
	for i, each := range all {
		got[i] = string(each)
	}
	return got
}

package stream_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
)

func TestAStarterSurvivesEncoding(t *testing.T) {
	kept := helmtrail.User{Name: "ann", UID: "7", Groups: []string{"shop"}, Extra: map[string][]string{"scopes": {"a", "b"}}}
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]helmtrail.User{string(data): kept, `"ann"`: {Name: "ann"}, `""`: {}} {
		var got helmtrail.User
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if json.Unmarshal([]byte("7"), new(helmtrail.User)) == nil {
		t.Error("a number is read as a user")
	}
}

package stream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/decoder/mask"
	"github.com/helmtrail/helmtrail/health"
)

// A message was cut before it was masked, so that the beginning of a secret at the cut
// was shown.
func TestALongMessageDoesNotShowAPartOfASecret(t *testing.T) {
	for _, secret := range []string{"Xk7vQ2mZ9pLr4TwB", "correct horse battery staple", "a,b;c'd\"e,f;g'h"} {
		values, err := json.Marshal(map[string]string{"password": secret})
		if err != nil {
			t.Fatal(err)
		}
		secrets := mask.New([]byte("0123456789abcdef"), mask.Release{}).Collect(mask.Source{Values: []json.RawMessage{values}})
		for before := maxMessage - 2*len(secret); before <= maxMessage; before++ {
			message := strings.Repeat("#", before) + secret + strings.Repeat("~", 50)
			var row health.Resource
			row.Message, row.Cause.Detail = message, message
			row = MaskRow(row, secrets.Text)
			for _, shown := range []string{row.Message, row.Cause.Detail} {
				kept := strings.TrimSuffix(strings.TrimLeft(shown, "#"), " ...")
				if len(shown) > maxMessage+len(" ...") || kept != "" && !strings.HasPrefix(kept, "«masked:") || strings.Count(kept, "«") != strings.Count(kept, "»") {
					t.Fatalf("after %d bytes it ends with %q", before, kept)
				}
			}
		}
	}
}

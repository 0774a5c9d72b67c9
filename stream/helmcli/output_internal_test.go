package helmcli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/decoder/mask"
)

// A line of helm was cut before it was masked, so that the beginning of a secret at the
// cut was shown.
func TestALongLineDoesNotShowAPartOfASecret(t *testing.T) {
	long := strings.Repeat("Xk7vQ2mZ9pLr4TwB", 2000)
	for _, secret := range []string{"Xk7vQ2mZ9pLr4TwB", "correct horse battery staple", long[:maxLine-100], long} {
		values, err := json.Marshal(map[string]string{"password": secret})
		if err != nil {
			t.Fatal(err)
		}
		secrets := mask.New([]byte("0123456789abcdef"), mask.Release{}).Collect(mask.Source{Values: []json.RawMessage{values}})
		for _, before := range []int{10, maxLine - 20, maxLine - 10, maxLine - 1, maxHeld - 20, maxHeld - 5} {
			var spool bytes.Buffer
			line := strings.Repeat("# ", before/2) + secret + " " + strings.Repeat("~ ", maxLine) + "\n"
			if err := newLineWriter(&spool, secrets, nil).copy(strings.NewReader(line)); err != nil {
				t.Fatal(err)
			}
			for _, piece := range []string{"Xk7", "corr", "staple"} {
				if at := strings.Index(spool.String(), piece); at >= 0 {
					t.Errorf("after %d bytes, a part of a secret of %d bytes is shown: %.40s", before, len(secret), spool.String()[at:])
				}
			}
			if !strings.Contains(spool.String(), `"x":true`) || spool.Len() > recordLimit {
				t.Errorf("after %d bytes, the line is %.80q", before, spool.String())
			}
		}
	}
}

package stored_test

import (
	"testing"

	"github.com/helmtrail/helmtrail/decoder/stored"
)

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"kind: Secret\ntype: helm.sh/release.v1\nmetadata: {name: sh.helm.release.v1.web.v1}\ndata: {release: ZTMwPQ==}\n",
		`{"kind":"List","items":[{"kind":"ConfigMap","metadata":{"labels":{"owner":"helm"}},"data":{"release":"e30="}}]}`,
		`{"name":"web","info":{}}`, "H4sI", "e30=", "\x1f\x8b\x08", "a: &a [*a]\n", "--- \n---\nnull\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		found := 0
		for record, problem := range stored.Read(content) {
			found++
			if record == nil && problem == nil || record != nil && (record.Revision == nil || record.Item == "" || (record.Record == nil) != (problem != nil)) {
				t.Errorf("%q holds %+v, %v", content, record, problem)
			}
		}
		if found == 0 {
			t.Errorf("%q holds nothing, and no problem is reported", content)
		}
		stored.Read(content)(func(*stored.Record, error) bool { return false }) // stops after the first
	})
}

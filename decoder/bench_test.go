package decoder_test

import (
	"path/filepath"
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
)

// BenchmarkDecode compares the two readers with Helm's own on a small and on a
// large record, both as helm wrote them.
func BenchmarkDecode(b *testing.B) {
	for name, file := range map[string]string{"small": "helm3/web.v4", "large": "helm3/large.v1"} {
		data := load(b, filepath.Join("testdata", file+".yaml")).Data["release"]
		for reader, read := range map[string]func() error{
			"header": func() error { _, err := decoder.DecodeHeader(data, decoder.Limits{}); return err },
			"record": func() error { _, err := decoder.DecodeRecord(data, decoder.Limits{}); return err },
			"helm":   func() error { _, err := helmDecode(data); return err },
		} {
			b.Run(name+"/"+reader, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNewRevision is what the watcher pays for a changed Secret: the
// header and the digest of all its bytes.
func BenchmarkNewRevision(b *testing.B) {
	for name, file := range map[string]string{"small": "helm3/web.v4", "large": "helm3/large.v1"} {
		f := load(b, filepath.Join("testdata", file+".yaml"))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := decoder.NewRevision(f.secret(), f.Data["release"], decoder.Limits{}); !ok {
					b.Fatal("no revision")
				}
			}
		})
	}
}

package decoder_test

import (
	"testing"

	"github.com/helmtrail/helmtrail/decoder"
)

var benchmarked = []struct{ name, file string }{
	{"small", "testdata/helm3/web.v4.yaml"},
	{"large", "testdata/helm3/large.v1.yaml"},
}

// BenchmarkDecode compares the two readers with Helm's own on a small and a
// large record, both written by helm.
func BenchmarkDecode(b *testing.B) {
	for _, size := range benchmarked {
		data := load(b, size.file).Data["release"]
		for _, reader := range []struct {
			name string
			read func() error
		}{
			{"header", func() error { _, err := decoder.DecodeHeader(data, decoder.Limits{}); return err }},
			{"record", func() error { _, err := decoder.DecodeRecord(data, decoder.Limits{}); return err }},
			{"helm", func() error { _, err := helmDecode(data); return err }},
		} {
			b.Run(size.name+"/"+reader.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := reader.read(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNewRevision measures the watcher's cost of a changed Secret: the
// header and the digest of all its bytes.
func BenchmarkNewRevision(b *testing.B) {
	for _, size := range benchmarked {
		f := load(b, size.file)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := decoder.NewRevision(f.secret(), f.Data["release"], decoder.Limits{}); !ok {
					b.Fatal("no revision")
				}
			}
		})
	}
}

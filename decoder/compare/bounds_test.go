package compare_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/decoder/compare"
)

func TestMappingsOfManyKeysAreComparedInBoundedTime(t *testing.T) {
	var from, to strings.Builder
	for i := range 90_000 {
		fmt.Fprintf(&from, `"a%d":1,`, i)
		fmt.Fprintf(&to, `"b%d":1,`, i)
	}
	start := time.Now()
	found, err := compare.Values([]byte("{"+from.String()+`"z":1}`), []byte("{"+to.String()+`"z":1}`))
	if took := time.Since(start); err != nil || len(found) != 180_000 || took > 20*time.Second {
		t.Errorf("%d differences after %v: %v", len(found), took, err)
	}
}

func TestManifestsThatAliasesMakeHugeAreNotCompared(t *testing.T) {
	document := "kind: A\nmetadata: {name: %d}\na: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 100) + "*a]\n"
	var manifest strings.Builder
	for i := range 10 {
		fmt.Fprintf(&manifest, "---\n"+document, i)
	}
	_, err := compare.Objects(compare.Manifest{Text: manifest.String()}, compare.Manifest{})
	if !errors.Is(err, decoder.ErrTooLarge) {
		t.Errorf("the error is %v, want one of size", err)
	}
}

func TestTextsOfTooManyLinesAreNotComparedByLine(t *testing.T) {
	diff := compare.Text(strings.Repeat("a\n", 1<<20), strings.Repeat("b\n", 1<<20))
	if len(diff) > 1000 || !strings.Contains(diff, "too many lines") {
		t.Errorf("the diff has %d bytes: %.100q", len(diff), diff)
	}
}

package informer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRecordsAreDecodedOnceAndBounded(t *testing.T) {
	const limit, manifest = 1 << 20, 128 << 10
	r := newRecords(limit)
	big := func(n int) []byte {
		json := fmt.Sprintf(`{"name":"r%d","info":{"status":"deployed"},"chart":{"metadata":{"name":"c"}},"manifest":%q}`,
			n, strings.Repeat("m", manifest))
		return []byte(base64.StdEncoding.EncodeToString([]byte(json)))
	}
	first, err := r.decode(t.Context(), "0", big(0))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.decode(t.Context(), "0", nil)
	if err != nil || again != first {
		t.Errorf("the second decode gave another record, error %v", err)
	}

	// Each record costs twice the size of its manifest: once in the JSON, once decoded.
	for n := 1; n < 10; n++ {
		if _, err := r.decode(t.Context(), fmt.Sprint(n), big(n)); err != nil {
			t.Fatal(err)
		}
		if size := r.cache.Size(); size > limit {
			t.Fatalf("records of %d bytes are cached, more than %d", size, limit)
		}
	}
	if r.cache.Size() < 2*manifest {
		t.Error("nothing is cached")
	}

	_, err = r.decode(t.Context(), "broken", []byte("!"))
	if err == nil {
		t.Error("a broken record is no error")
	}
	if _, again := r.decode(t.Context(), "broken", nil); !errors.Is(again, err) {
		t.Errorf("the second time a broken record is %v, want %v", again, err)
	}
}

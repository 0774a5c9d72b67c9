package informer

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func TestRecordsAreDecodedOnceAndBounded(t *testing.T) {
	r := newRecords()
	big := func(n int) []byte {
		json := fmt.Sprintf(`{"name":"r%d","info":{"status":"deployed"},"chart":{"metadata":{"name":"c"}},"manifest":%q}`,
			n, strings.Repeat("m", 8<<20))
		return []byte(base64.StdEncoding.EncodeToString([]byte(json)))
	}
	first, err := r.decode("0", big(0))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.decode("0", nil)
	if err != nil || again != first {
		t.Errorf("the second decode gave another record, error %v", err)
	}

	// Each takes 16 MB, in its JSON and in its manifest.
	for n := 1; n < 10; n++ {
		if _, err := r.decode(fmt.Sprint(n), big(n)); err != nil {
			t.Fatal(err)
		}
		if r.size > recordsLimit || r.cache.ItemCount() > recordsLimit/(16<<20) {
			t.Fatalf("%d records of %d bytes are cached, more than %d", r.cache.ItemCount(), r.size, recordsLimit)
		}
	}
	if r.cache.ItemCount() == 0 {
		t.Error("nothing is cached")
	}

	if _, err := r.decode("broken", []byte("!")); err == nil {
		t.Error("a broken record is no error")
	}
	if _, cached := r.cache.Get("broken"); cached {
		t.Error("a broken record is cached")
	}
}

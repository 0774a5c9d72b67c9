package uploads_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/stream/uploads"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	everywhere = catalog.Scope{}
	shop       = catalog.Scope{Cluster: "dev", Namespace: "shop"}
	other      = catalog.Scope{Cluster: "dev", Namespace: "other"}
	shopOfProd = catalog.Scope{Cluster: "prod", Namespace: "shop"}
)

func open(t *testing.T, folder string, limits uploads.Limits) *uploads.Store {
	t.Helper()
	store, err := uploads.Open(folder, limits)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func accept(string) error { return nil }

// add stores a text as if it were an archive.
func add(t *testing.T, store *uploads.Store, scope catalog.Scope, text string) string {
	t.Helper()
	digest, err := store.Add(t.Context(), scope, strings.NewReader(text), accept)
	if err != nil {
		t.Fatalf("%v: %v", scope, err)
	}
	return digest
}

// use sets the time at which an archive was last used.
func use(t *testing.T, store *uploads.Store, scope catalog.Scope, digest string, ago time.Duration) {
	t.Helper()
	path, err := store.Find(scope, digest)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-ago)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func has(t *testing.T, store *uploads.Store, scope catalog.Scope, digest string) bool {
	t.Helper()
	archives, err := store.List(scope)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range archives {
		if a.Digest == digest {
			return true
		}
	}
	return false
}

func TestAnArchiveIsFoundInItsScopeOnly(t *testing.T) {
	folder := t.TempDir()
	store := open(t, filepath.Join(folder, "charts"), uploads.DefaultLimits)
	own, shared := add(t, store, shop, "own"), add(t, store, everywhere, "shared")
	add(t, store, shop, "shared") // It is listed once.
	for scope, want := range map[catalog.Scope][2]bool{everywhere: {false, true}, shop: {true, true}, other: {false, true}, shopOfProd: {false, true}} {
		for i, digest := range []string{own, shared} {
			path, err := store.Find(scope, digest)
			if (err == nil) != want[i] || err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: archive %d: %s, %v", scope, i, path, err)
			}
			if has(t, store, scope, digest) != want[i] {
				t.Errorf("%v: archive %d is listed: %v", scope, i, !want[i])
			}
		}
		if archives, _ := store.List(scope); len(archives) > 2 {
			t.Errorf("%v: %d archives are listed", scope, len(archives))
		}
	}
	for _, namespace := range []string{"", ".", "..", "../shop", "a/b", "Shop", strings.Repeat("x", 64)} {
		for _, cluster := range []string{"dev", ".."} {
			scope := catalog.Scope{Cluster: cluster, Namespace: namespace}
			invalid := (*helmtrail.InvalidError)(nil)
			if _, err := store.Add(t.Context(), scope, strings.NewReader("x"), accept); !errors.As(err, &invalid) {
				t.Errorf("%v: got %v, want an error about the namespace", scope, err)
			}
			if _, err := store.Find(scope, own); !errors.As(err, &invalid) {
				t.Errorf("%v: got %v, want an error about the namespace", scope, err)
			}
		}
	}
	if outside, _ := os.ReadDir(folder); len(outside) != 1 {
		t.Errorf("files outside the store: %v", outside)
	}
}

func TestARejectedArchiveIsNotKept(t *testing.T) {
	folder := t.TempDir()
	store := open(t, folder, uploads.DefaultLimits)
	rejected := errors.New("rejected")
	for what, archive := range map[string]io.Reader{
		"a file that the check rejects": strings.NewReader("x"),
		"an upload that is cut off":     io.MultiReader(strings.NewReader("x"), brokenReader{rejected}),
	} {
		if _, err := store.Add(t.Context(), shop, archive, func(string) error { return rejected }); !errors.Is(err, rejected) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	// What a crash leaves is removed at the next start.
	if err := os.WriteFile(filepath.Join(folder, ".upload-1.tgz"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := add(t, store, everywhere, "kept")
	store = open(t, folder, uploads.DefaultLimits)
	if left, _ := os.ReadDir(folder); len(left) != 1 || !has(t, store, everywhere, kept) {
		t.Errorf("after the next start: %v", left)
	}
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

func TestNobodysUploadsRemoveThoseOfOthers(t *testing.T) {
	limits := uploads.Limits{Archives: 3, Bytes: 10, AllArchives: 7, AllBytes: 1000, Kept: time.Hour}
	store := open(t, t.TempDir(), limits)
	foreign, shared := add(t, store, other, "foreign"), add(t, store, everywhere, "shared")
	use(t, store, other, foreign, 30*time.Minute)

	// The namespace's own archives are removed, the least recently used first.
	first, second := add(t, store, shop, "1"), add(t, store, shop, "2")
	use(t, store, shop, first, time.Minute)
	use(t, store, shop, second, 2*time.Minute)
	third, fourth := add(t, store, shop, "3"), add(t, store, shop, "4")
	if !has(t, store, shop, first) || has(t, store, shop, second) || !has(t, store, shop, third) || !has(t, store, shop, fourth) {
		t.Error("not the least recently used archive of the namespace was removed")
	}
	// The same archive again replaces itself.
	add(t, store, shop, "1")
	if !has(t, store, shop, third) {
		t.Error("an archive that was already there removed another")
	}
	// Bytes count as well.
	big := add(t, store, shop, "123456789")
	if !has(t, store, shop, big) || has(t, store, shop, third) && has(t, store, shop, fourth) {
		t.Error("the quota of bytes was not kept")
	}
	if _, err := store.Add(t.Context(), shop, strings.NewReader("12345678901"), accept); !errors.Is(err, helmtrail.ErrUploadsFull) || !has(t, store, shop, big) {
		t.Errorf("an archive beyond the quota: %v", err)
	}

	// When all is full, others' archives stay, unless nobody uses them.
	for i := range 10 {
		scope := catalog.Scope{Cluster: "dev", Namespace: fmt.Sprint("team-", i)}
		if _, err := store.Add(t.Context(), scope, strings.NewReader("x"), accept); errors.Is(err, helmtrail.ErrUploadsFull) {
			break
		} else if err != nil || i == 9 {
			t.Fatalf("upload %d: %v", i, err)
		}
	}
	if !has(t, store, other, foreign) || !has(t, store, everywhere, shared) || !has(t, store, shop, big) {
		t.Error("an archive that was used lately was removed for another namespace")
	}
	use(t, store, other, foreign, 2*time.Hour)
	late := add(t, store, catalog.Scope{Cluster: "dev", Namespace: "late"}, "x")
	if has(t, store, other, foreign) || !has(t, store, catalog.Scope{Cluster: "dev", Namespace: "late"}, late) {
		t.Error("an archive that nobody uses did not make room")
	}
}

func TestSlowUploadsHoldUpTheirNamespaceOnly(t *testing.T) {
	store := open(t, t.TempDir(), uploads.DefaultLimits)
	ctx, cancel := context.WithCancel(t.Context())
	reading := make(chan struct{}, 100)
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			_, err := store.Add(ctx, shop, &slowReader{ctx, reading}, accept)
			done <- err
		}()
	}
	for range cap(done) {
		<-reading
	}
	short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if _, err := store.Add(short, shop, bytes.NewReader(nil), accept); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fifth upload of the namespace: got %v, want that it waits", err)
	}
	add(t, store, other, "x")
	cancel()
	for range cap(done) {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a slow upload ended with %v", err)
		}
	}
	add(t, store, shop, "x")
}

// slowReader reports that it is read and blocks until its context ends.
type slowReader struct {
	ctx     context.Context
	reading chan<- struct{}
}

func (r *slowReader) Read([]byte) (int, error) {
	r.reading <- struct{}{}
	<-r.ctx.Done()
	return 0, r.ctx.Err()
}

package trail_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/journal/smalldisk"
)

// Entries that arrive while the disk is full wait, which is reported, and are
// stored once there is room again.
func TestAFullDiskLosesNothingOfTheTrail(t *testing.T) {
	folder, small := smalldisk.Folder()
	if !small {
		t.Parallel()
		smalldisk.Run(t)
		return
	}
	c := newCluster(t)
	r := start(t, filepath.Join(folder, "journal"), c)
	c.install(state{name: "web"})
	r.settle()
	fill := smalldisk.Fill(t, folder)
	for n := 2; n <= 20; n++ {
		c.upgrade(state{name: "web", number: n, padding: 20 << 10}, 30)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: timed out; %q, %+v", what, r.NotReady(), r.Stats())
			}
		}
	}
	until("it is said", func() bool {
		return len(r.NotReady()) == 1 && strings.Contains(r.NotReady()[0], "cannot be stored") && r.Stats()[0].Waiting > 0
	})
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	until("it is overcome", func() bool { return len(r.NotReady()) == 0 && r.Stats()[0].Waiting == 0 })
	r.settle()
	want := []string{"transition 1 pending-install", "transition 1 deployed"}
	for n := 2; n <= 20; n++ {
		want = append(want, line(entryOf(n, decoder.StatusPendingUpgrade)), line(entryOf(n-1, decoder.StatusSuperseded)), line(entryOf(n, decoder.StatusDeployed)))
	}
	if diff := cmp.Diff(want, r.lines("web")); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if state := r.state(true); !state.Verified {
		t.Errorf("the chain is %+v", state)
	}
	r.end()
	if f := check(t, filepath.Join(folder, "journal")); !f.Verified || f.Records != len(want) {
		t.Errorf("verify finds %+v, want %d records", f, len(want))
	}
}

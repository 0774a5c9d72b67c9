package trail_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// BenchmarkTrail stores the given number of revisions, in releases of twelve
// revisions each. Each revision is pending, deployed and superseded, with a
// record of 13 KB for each state. It then measures what a server does at
// startup and for its readers.
func BenchmarkTrail(b *testing.B) {
	for _, revisions := range []int{3_000, 6_000, 12_000} {
		b.Run(strconv.Itoa(revisions), func(b *testing.B) {
			for b.Loop() {
				benchmarkTrail(b, revisions)
			}
		})
	}
}

func benchmarkTrail(b *testing.B, revisions int) {
	folder, c := b.TempDir(), newCluster(b)
	r := start(b, folder, c)
	releases := revisions / 12
	begun := time.Now()
	for number := 1; number <= 12; number++ {
		for n := range releases {
			name := fmt.Sprintf("release-%04d", n)
			steps := []state{
				{name: name, number: number, status: decoder.StatusPendingUpgrade},
				{name: name, number: number, status: decoder.StatusDeployed},
			}
			if number > 1 {
				steps = slices.Insert(steps, 1, state{name: name, number: number - 1, status: decoder.StatusSuperseded})
			}
			for _, s := range steps {
				tell(b, c.keeper, s)
			}
		}
	}
	r.settle()
	entries := r.state(false).Entries
	b.ReportMetric(float64(entries)/time.Since(begun).Seconds(), "entries/s")
	r.end()

	// The journal is not part of the trail.
	j, err := journal.Open(b.Context(), folder, trail.GuardedStream)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	}()
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	begun = time.Now()
	opened, err := trail.Open(b.Context(), trail.Setup{Journal: j, Folder: filepath.Join(folder, "trail"), Clusters: []string{"dev"}})
	if err != nil {
		b.Fatal(err)
	}
	opening := time.Since(begun)
	b.ReportMetric(float64(heap()-before)/float64(revisions), "B/revision")
	b.ReportMetric(float64(opening.Milliseconds()), "ms/open")
	measure := func(unit string, f func() error) {
		begun := time.Now()
		const times = 20
		for range times {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(begun).Microseconds())/times, unit)
	}
	ref := release("release-0007")
	measure("µs/lineages", func() error {
		if l := opened.Lineages(ref); len(l) != 1 || len(l[0].Revisions) != 12 {
			b.Fatal(l)
		}
		return nil
	})
	digest := opened.Lineages(ref)[0].Revisions[3].Digest
	measure("µs/record", func() error { _, err := opened.Record(b.Context(), digest); return err })
	measure("µs/page", func() error {
		_, _, err := opened.Entries(b.Context(), audit.Query{Cluster: "dev", Namespace: "shop", Release: ref.Name})
		return err
	})
	measure("µs/unreadable", func() error {
		nothing := func(context.Context, string) (bool, error) { return false, nil }
		found, _, err := opened.Entries(b.Context(), audit.Query{Cluster: "dev", Readable: nothing})
		if len(found) > 0 {
			b.Fatal(found)
		}
		return err
	})
	measure("µs/lost", func() error {
		if _, err := opened.Record(b.Context(), strings.Repeat("1", 64)); !errors.Is(err, helmtrail.ErrNotFound) {
			b.Fatal(err)
		}
		return nil
	})
	measure("µs/verify", func() error {
		state, err := opened.State(b.Context(), "dev", true)
		if err == nil && !state.Verified {
			b.Fatal(state)
		}
		return err
	})
}

// tell passes a state to a keeper as the watch does.
func tell(b *testing.B, keeper audit.Keeper, s state) {
	s.first, s.padding = begin, 10<<10
	version := s.number*3 + len(s.status)
	data := recordOf(s, version)
	rev, ok := decoder.NewRevision(decoder.Secret{
		Namespace: "shop", Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", s.name, s.number), UID: fmt.Sprintf("3f0c9d1e-0000-4000-8000-%s%04d", s.name[8:], s.number),
		ResourceVersion: strconv.Itoa(version), Created: begin,
		Labels: map[string]string{"name": s.name, "version": strconv.Itoa(s.number), "status": string(s.status)},
	}, data, decoder.Limits{})
	if !ok {
		b.Fatal("no revision")
	}
	keeper.Record(rev, data)
	keeper.See(decoder.Transition{Time: begin, Change: decoder.ChangeStatus, Revision: rev})
}

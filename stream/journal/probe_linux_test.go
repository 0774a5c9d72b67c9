package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/journal/smalldisk"
)

func TestAClosedJournalIsNotWritable(t *testing.T) {
	j := open(t, t.TempDir())
	if err := j.Writable(); err != nil {
		t.Errorf("an open journal: %v", err)
	}
	closed(t, j)
	journal.Forget(j)
	if err := j.Writable(); err == nil {
		t.Error("a closed journal is reported as writable")
	}
}

// After a failed write the embedded server accepts no more messages, even once
// there is room again, until its streams are reopened.
func TestStreamsAreReopenedAfterAFullDisk(t *testing.T) {
	folder, small := smalldisk.Folder()
	if !small {
		smalldisk.Run(t)
		return
	}
	j := open(t, filepath.Join(folder, "journal"))
	defer closed(t, j)
	session := sessionOf("web", "one")
	first, err := j.Append(t.Context(), session, 0, 0, []byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	fill := smalldisk.Fill(t, folder)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := j.Append(ctx, session, first, 0, make([]byte, backend.MaxEntry)); err == nil {
		t.Error("an entry was stored on a full disk")
	}
	if err := j.Writable(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("with a full disk, Writable returns %v", err)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	// The next writer does not need to know about the failure.
	second, err := j.Append(t.Context(), session, first, 0, []byte("after"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Writable(); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	if entry, err := j.Next(t.Context(), session, first); err != nil || entry.Position != second || string(entry.Data) != "after" {
		t.Errorf("after the first entry, got %+v, %v", entry, err)
	}
}

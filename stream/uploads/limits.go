package uploads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmtrail/helmtrail"
)

// Limits bound the archives that are kept.
type Limits struct {
	// Archives and Bytes are the quota of one scope. The least recently used
	// archives of the scope make room for its new ones.
	Archives int
	Bytes    int64
	// AllArchives and AllBytes bound the archives of all scopes together. Only
	// archives that were not used for Kept make room for those of other scopes.
	AllArchives int
	AllBytes    int64
	Kept        time.Duration
}

// DefaultLimits are the limits of a server.
var DefaultLimits = Limits{
	Archives: 50, Bytes: 64 << 20,
	AllArchives: 10_000, AllBytes: 4 << 30, Kept: 30 * 24 * time.Hour,
}

// makeRoom removes archives so that one of this size can be stored at path. It
// removes none if that is not enough, and fails with helmtrail.ErrUploadsFull.
func (s *Store) makeRoom(path string, size int64) error {
	archives, err := s.all()
	if err != nil {
		return err
	}
	archives = slices.DeleteFunc(archives, func(a Archive) bool { return a.Path == path })
	removed, ok := s.limits.choose(archives, filepath.Dir(path), size, time.Now())
	if !ok {
		return fmt.Errorf("%w: one that nobody uses for %d days makes room", helmtrail.ErrUploadsFull, int(s.limits.Kept.Hours()/24))
	}
	for _, a := range removed {
		if err := os.Remove(a.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an uploaded chart: %w", err)
		}
		if folder := filepath.Dir(a.Path); folder != s.folder && folder != filepath.Dir(path) {
			_ = os.Remove(folder) // It stays if it is not empty.
		}
	}
	return nil
}

// choose returns the archives to remove before one of this size is stored in a
// folder. It reports whether there is room then.
func (l Limits) choose(archives []Archive, folder string, size int64, now time.Time) (removed []Archive, ok bool) {
	var own, all usage
	for _, a := range archives {
		all.add(a)
		if filepath.Dir(a.Path) == folder {
			own.add(a)
		}
	}
	slices.SortFunc(archives, func(a, b Archive) int { return a.used.Compare(b.used) })
	archives = slices.DeleteFunc(archives, func(a Archive) bool {
		if filepath.Dir(a.Path) != folder || own.fits(l.Archives, l.Bytes, size) {
			return false
		}
		own.remove(a)
		all.remove(a)
		removed = append(removed, a)
		return true
	})
	for _, a := range archives {
		if all.fits(l.AllArchives, l.AllBytes, size) || now.Sub(a.used) < l.Kept {
			break
		}
		if filepath.Dir(a.Path) == folder {
			own.remove(a)
		}
		all.remove(a)
		removed = append(removed, a)
	}
	return removed, own.fits(l.Archives, l.Bytes, size) && all.fits(l.AllArchives, l.AllBytes, size)
}

// usage is the number and the size of archives.
type usage struct {
	archives int
	bytes    int64
}

func (u *usage) add(a Archive)    { u.archives, u.bytes = u.archives+1, u.bytes+a.size }
func (u *usage) remove(a Archive) { u.archives, u.bytes = u.archives-1, u.bytes-a.size }

// fits reports whether one more archive of this size keeps within the limits.
func (u usage) fits(archives int, bytes, size int64) bool {
	return u.archives < archives && u.bytes+size <= bytes
}

// all returns the archives of all scopes.
func (s *Store) all() ([]Archive, error) {
	var archives []Archive
	err := filepath.WalkDir(s.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		found, err := archivesIn(path)
		archives = append(archives, found...)
		return err
	})
	return archives, err
}

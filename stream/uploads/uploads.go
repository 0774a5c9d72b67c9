package uploads

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/catalog"
	"github.com/helmtrail/helmtrail/internal/slots"
	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

const (
	// unfinished is the pattern of the names of incomplete archives.
	unfinished = ".upload-*.tgz"
	extension  = ".tgz"
	// slotsPerScope and slotsInAll bound the archives that are received at a time,
	// of one scope and of all scopes.
	slotsPerScope = 4
	slotsInAll    = 32
)

// Store keeps archives in a folder. Its methods may be called concurrently.
type Store struct {
	folder string
	limits Limits
	slots  *slots.Slots
	mu     sync.Mutex // held while archives are added or removed
}

// Open returns the Store of a folder, which need not exist. It removes what
// interrupted uploads have left there.
func Open(folder string, limits Limits) (*Store, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("find interrupted uploads: %w", err)
	}
	for _, e := range entries {
		if interrupted, _ := filepath.Match(unfinished, e.Name()); !interrupted {
			continue
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil {
			return nil, fmt.Errorf("remove interrupted uploads: %w", err)
		}
	}
	return &Store{folder: folder, limits: limits, slots: slots.New(slotsPerScope, slotsInAll)}, nil
}

// Add stores an archive and returns its digest, 64 hexadecimal digits. Before
// that it calls check with the archive's file, and fails with its error. Add fails
// with helmtrail.ErrUploadsFull if there is no room. It blocks while others of the
// scope are received.
func (s *Store) Add(ctx context.Context, scope catalog.Scope, archive io.Reader, check func(file string) error) (digest string, err error) {
	folder, err := s.folderOf(scope)
	if err != nil {
		return "", err
	}
	release, err := s.slots.Take(ctx, folder)
	if err != nil {
		return "", err
	}
	defer release()
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return "", fmt.Errorf("keep a chart: %w", err)
	}
	file, err := atomicfile.New(s.folder, unfinished)
	if err != nil {
		return "", fmt.Errorf("keep a chart: %w", err)
	}
	defer file.Discard()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, hash), archive)
	if err != nil {
		return "", fmt.Errorf("keep a chart: %w", err)
	}
	if err := check(file.Path()); err != nil {
		return "", err
	}
	digest = hex.EncodeToString(hash.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(folder, digest+extension)
	if err := s.makeRoom(path, size); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("keep a chart: %w", err)
	}
	if err := file.Replace(path); err != nil {
		return "", fmt.Errorf("keep a chart: %w", err)
	}
	return digest, nil
}

// Find returns the file of an archive and marks the archive as used. It fails with
// fs.ErrNotExist if neither the scope nor the whole server has the archive. The
// file may be removed at any time.
func (s *Store) Find(scope catalog.Scope, digest string) (string, error) {
	folders, err := s.visible(scope)
	if err != nil {
		return "", err
	}
	now := time.Now()
	for _, folder := range folders {
		path := filepath.Join(folder, digest+extension)
		if err := os.Chtimes(path, now, now); err == nil {
			return path, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("find an uploaded chart: %w", err)
		}
	}
	return "", fs.ErrNotExist
}

// List returns the archives that can be used in a scope: its own and those of the
// whole server, each digest once.
func (s *Store) List(scope catalog.Scope) ([]Archive, error) {
	folders, err := s.visible(scope)
	if err != nil {
		return nil, err
	}
	var archives []Archive
	known := map[string]bool{}
	for _, folder := range folders {
		found, err := archivesIn(folder)
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			if !known[a.Digest] {
				known[a.Digest] = true
				archives = append(archives, a)
			}
		}
	}
	return archives, nil
}

// visible returns the folders of the archives that can be used in a scope.
func (s *Store) visible(scope catalog.Scope) ([]string, error) {
	folder, err := s.folderOf(scope)
	if err != nil || folder == s.folder {
		return []string{folder}, err
	}
	return []string{folder, s.folder}, nil
}

// folderOf returns the folder of a scope. A cluster's folder is named by a hash,
// because any text may be a cluster's id.
func (s *Store) folderOf(scope catalog.Scope) (string, error) {
	if scope == (catalog.Scope{}) {
		return s.folder, nil
	}
	if problems := validation.IsDNS1123Label(scope.Namespace); len(problems) > 0 {
		return "", &helmtrail.InvalidError{Field: "namespace", Message: "must be the name of a namespace"}
	}
	cluster := sha256.Sum256([]byte(scope.Cluster))
	return filepath.Join(s.folder, hex.EncodeToString(cluster[:16]), scope.Namespace), nil
}

// Archive is one stored archive.
type Archive struct {
	Digest string
	Path   string
	size   int64
	used   time.Time
}

// archivesIn returns the archives of one folder, which need not exist.
func archivesIn(folder string) ([]Archive, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the uploaded charts: %w", err)
	}
	var archives []Archive
	for _, e := range entries {
		digest, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || strings.HasPrefix(digest, ".") || !e.Type().IsRegular() {
			continue
		}
		// A file that was removed in between is not listed.
		if info, err := e.Info(); err == nil {
			archives = append(archives, Archive{digest, filepath.Join(folder, e.Name()), info.Size(), info.ModTime()})
		}
	}
	return archives, nil
}

package trail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/helmtrail/helmtrail/stream/atomicfile"
)

// mark is the note kept beside a cluster's chain, in a file of its own.
type mark struct {
	Cluster string `json:"cluster"`
	// Head is the noted head of the chain. It lags slightly behind, so that a
	// power failure, which can lose the last second, does not look like damage.
	Head head `json:"head"`
	// Watched is until when each namespace was watched; "" stands for all.
	Watched map[string]time.Time `json:"watched"`
}

func markPath(folder, cluster string) string { return filepath.Join(folder, cluster+".json") }

// readMark reads a cluster's mark. A mark that does not exist is empty.
func readMark(folder, cluster string) (mark, error) {
	m := mark{Cluster: cluster, Watched: map[string]time.Time{}}
	data, err := os.ReadFile(markPath(folder, cluster))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read how far the trail of %s had come: %w", cluster, err)
	}
	if m.Watched == nil {
		m.Watched = map[string]time.Time{}
	}
	return m, nil
}

// write replaces the file of the mark.
func (m *mark) write(folder string) error {
	data, err := json.Marshal(m)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = atomicfile.Write(markPath(folder, m.Cluster), data)
	}
	if err != nil {
		return fmt.Errorf("note how far the trail of %s has come: %w", m.Cluster, err)
	}
	return nil
}

func (m *mark) clone() *mark {
	return &mark{Cluster: m.Cluster, Head: m.Head, Watched: maps.Clone(m.Watched)}
}

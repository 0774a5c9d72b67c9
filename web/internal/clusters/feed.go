package clusters

import (
	"crypto/rand"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/internal/sse"
)

// feedBytes bounds the size of the frames kept for readers that reconnect.
const feedBytes = 4 << 20

// Feed holds the newest transitions of a cluster as encoded frames, shared by all
// readers. It is bounded: a reader that falls too far behind has to read the list
// again. Readers never block the writer. The methods may be called concurrently.
//
// A position is <epoch>-<number>. Each Feed has its own epoch, so it rejects
// positions from before a restart and of other clusters.
type Feed struct {
	cluster string
	epoch   string
	limit   int

	mu     sync.Mutex
	head   uint64  // the number of the newest frame, 0 if there is none
	frames []Frame // the newest frames; the last one has number head
	bytes  int
	wake   chan struct{} // closed by the next add
}

func newFeed(cluster string) *Feed {
	return &Feed{cluster: cluster, epoch: strings.ToLower(rand.Text()[:10]), limit: feedBytes, wake: make(chan struct{})}
}

// Frame is the encoded transition of a release in a namespace.
type Frame struct {
	Namespace string
	Data      []byte
}

// TransitionEvent is the data of TRANSITION.
type TransitionEvent struct {
	Type             string            `json:"type"`
	Cursor           string            `json:"cursor"`
	Time             time.Time         `json:"time"`
	Cluster          string            `json:"cluster"`
	Namespace        string            `json:"namespace"`
	Name             string            `json:"name"`
	Change           decoder.Change    `json:"change"`
	Revision         int               `json:"revision"`
	Status           decoder.Status    `json:"status"`
	PreviousStatus   decoder.Status    `json:"previousStatus,omitempty"`
	LabelStatus      decoder.Status    `json:"labelStatus,omitempty"`
	Description      string            `json:"description"`
	Chart            string            `json:"chart"`
	ChartVersion     string            `json:"chartVersion"`
	AppVersion       string            `json:"appVersion"`
	Updated          time.Time         `json:"updated"`
	RollbackRevision int               `json:"rollbackRevision,omitempty"`
	Problem          string            `json:"problem,omitempty"`
	Secret           decoder.SecretRef `json:"secret"`
	Late             bool              `json:"late,omitempty"`
}

// ResetEvent is the data of a cluster's RESET.
type ResetEvent struct {
	Type   string    `json:"type"`
	Cursor string    `json:"cursor"`
	Time   time.Time `json:"time"`
}

// HeartbeatEvent is the data of a cluster's HEARTBEAT.
type HeartbeatEvent struct {
	Type string    `json:"type"`
	Time time.Time `json:"time"`
}

const (
	typeTransition = "TRANSITION"
	typeReset      = "RESET"
	typeHeartbeat  = "HEARTBEAT"
)

// add encodes a transition and wakes the readers.
func (f *Feed) add(t decoder.Transition) {
	r := t.Revision
	e := TransitionEvent{
		Type: typeTransition, Time: t.Time.UTC(), Cluster: f.cluster, Namespace: r.Namespace, Name: r.Name,
		Change: t.Change, Revision: r.Number, Status: r.Status(), PreviousStatus: t.Previous,
		LabelStatus: LabelStatus(r), Updated: Updated(r), Problem: r.Problem, Secret: r.Secret, Late: t.Late,
	}
	if h := r.Header; h != nil {
		e.Description, e.Chart, e.ChartVersion, e.AppVersion = h.Description, h.Chart, h.ChartVersion, h.AppVersion
		e.RollbackRevision = h.RollbackRevision
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head++
	e.Cursor = f.at(f.head)
	encoded := frame(e.Cursor, typeTransition, e)
	f.frames = append(f.frames, Frame{r.Namespace, encoded})
	f.bytes += len(encoded)
	if f.bytes > f.limit {
		f.drop()
	}
	close(f.wake)
	f.wake = make(chan struct{})
}

// drop drops the older half of the frames, so that it runs rarely. It copies the rest,
// because readers may still hold the old slice.
func (f *Feed) drop() {
	kept := 0
	from := len(f.frames)
	for from > 0 && kept+len(f.frames[from-1].Data) <= f.limit/2 {
		from--
		kept += len(f.frames[from].Data)
	}
	f.frames = append([]Frame(nil), f.frames[from:]...)
	f.bytes = kept
}

// Position returns the present position of the feed.
func (f *Feed) Position() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at(f.head)
}

func (f *Feed) at(number uint64) string { return f.epoch + "-" + strconv.FormatUint(number, 10) }

// Parse returns the number in a position. It returns false for a position of
// another feed.
func (f *Feed) Parse(position string) (uint64, bool) {
	digits, ok := strings.CutPrefix(position, f.epoch+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}

// After returns the frames after a number, and the newest number. ok is false if
// some of them are no longer kept, or if the number does not exist. wake is
// closed when there are more.
func (f *Feed) After(number uint64) (frames []Frame, head uint64, ok bool, wake <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number > f.head || f.head-number > uint64(len(f.frames)) {
		return nil, f.head, false, f.wake
	}
	missing := int(f.head - number)
	return f.frames[len(f.frames)-missing:], f.head, true, f.wake
}

// Reset returns the frame that makes a reader read the list again and continue
// after the given number.
func (f *Feed) Reset(number uint64) []byte {
	position := f.at(number)
	return frame(position, typeReset, ResetEvent{typeReset, position, time.Now().UTC()})
}

// Heartbeat returns a heartbeat's frame.
func Heartbeat() []byte {
	return frame("", typeHeartbeat, HeartbeatEvent{typeHeartbeat, time.Now().UTC()})
}

// SetLimit sets the maximum size of the frames that the feed keeps.
func (f *Feed) SetLimit(bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = bytes
}

// frame encodes an event of this package.
func frame(id, kind string, event any) []byte {
	data, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return sse.Append(nil, id, kind, data)
}

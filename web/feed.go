package web

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// feedBytes bounds the frames that a feed keeps for readers who come back.
const feedBytes = 4 << 20

// feed is the newest transitions of a cluster as encoded frames, shared by all
// readers. It is bounded: a reader who falls too far behind has to read the
// list again. Readers never hold up the writer. Its methods may be called
// concurrently.
//
// A position is <epoch>-<number>. The epoch is this feed's own, so that a
// position from before a restart, or of another cluster, is told apart.
type feed struct {
	cluster string
	epoch   string
	limit   int

	mu     sync.Mutex
	head   uint64      // the number of the newest frame, 0 for none
	frames []feedFrame // the newest frames, the last of them is number head
	bytes  int
	wake   chan struct{} // closed by the next add
}

func newFeed(cluster string) *feed {
	return &feed{cluster: cluster, epoch: strings.ToLower(rand.Text()[:10]), limit: feedBytes, wake: make(chan struct{})}
}

// feedFrame is an encoded transition of a namespace.
type feedFrame struct {
	namespace string
	data      []byte
}

// transitionEvent is the data of TRANSITION.
type transitionEvent struct {
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

// clusterReset is the data of a cluster's RESET.
type clusterReset struct {
	Type   string    `json:"type"`
	Cursor string    `json:"cursor"`
	Time   time.Time `json:"time"`
}

// clusterHeartbeat is the data of a cluster's HEARTBEAT.
type clusterHeartbeat struct {
	Type string    `json:"type"`
	Time time.Time `json:"time"`
}

const (
	typeTransition = "TRANSITION"
	typeReset      = "RESET"
	typeHeartbeat  = "HEARTBEAT"
)

// add encodes a transition and wakes the readers.
func (f *feed) add(t decoder.Transition) {
	r := t.Revision
	e := transitionEvent{
		Type: typeTransition, Time: t.Time.UTC(), Cluster: f.cluster, Namespace: r.Namespace, Name: r.Name,
		Change: t.Change, Revision: r.Number, Status: r.Status(), PreviousStatus: t.Previous,
		LabelStatus: disagreeing(r), Updated: updated(r), Problem: r.Problem, Secret: r.Secret, Late: t.Late,
	}
	if h := r.Header; h != nil {
		e.Description, e.Chart, e.ChartVersion, e.AppVersion = h.Description, h.Chart, h.ChartVersion, h.AppVersion
		e.RollbackRevision = h.RollbackRevision
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head++
	e.Cursor = f.at(f.head)
	frame := sseFrame(e.Cursor, typeTransition, e)
	f.frames = append(f.frames, feedFrame{r.Namespace, frame})
	f.bytes += len(frame)
	if f.bytes > f.limit {
		f.forget()
	}
	close(f.wake)
	f.wake = make(chan struct{})
}

// forget drops the older half, so that dropping is rare, and copies the rest:
// readers may still hold the old slice.
func (f *feed) forget() {
	kept := 0
	from := len(f.frames)
	for from > 0 && kept+len(f.frames[from-1].data) <= f.limit/2 {
		from--
		kept += len(f.frames[from].data)
	}
	f.frames = append([]feedFrame(nil), f.frames[from:]...)
	f.bytes = kept
}

// position is where the feed stands now.
func (f *feed) position() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at(f.head)
}

func (f *feed) at(number uint64) string { return f.epoch + "-" + strconv.FormatUint(number, 10) }

// parse returns the number of a position; false if it is not this feed's.
func (f *feed) parse(position string) (uint64, bool) {
	digits, ok := strings.CutPrefix(position, f.epoch+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, err == nil
}

// after returns the frames behind a number and the newest number. ok is false
// when some of them are no longer kept, or the number does not exist yet. wake
// is closed when there is more.
func (f *feed) after(number uint64) (frames []feedFrame, head uint64, ok bool, wake <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number > f.head || f.head-number > uint64(len(f.frames)) {
		return nil, f.head, false, f.wake
	}
	missing := int(f.head - number)
	return f.frames[len(f.frames)-missing:], f.head, true, f.wake
}

// resetFrame tells a reader that goes on after the given number to read the
// list again.
func (f *feed) resetFrame(number uint64) []byte {
	position := f.at(number)
	return sseFrame(position, typeReset, clusterReset{typeReset, position, time.Now().UTC()})
}

// sseFrame encodes one of this package's own events; id may be "".
func sseFrame(id, kind string, event any) []byte {
	data, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	var frame []byte
	if id != "" {
		frame = fmt.Appendf(frame, "id: %s\n", id)
	}
	return fmt.Appendf(frame, "event: %s\ndata: %s\n\n", kind, data)
}

package web_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// helm is a fake Helm: tests decide what each process prints and how it ends.
type helm struct {
	refuse error

	mu   sync.Mutex
	made map[string]chan *process
	all  []*process
}

func (h *helm) Version() string                            { return "v4.3.2" }
func (h *helm) Check(helmtrail.Request) error              { return h.refuse }
func (h *helm) Command(string, helmtrail.Request) []string { return []string{"helm"} }
func (h *helm) Rendered(string) (helmtrail.Rendering, error) {
	return helmtrail.Rendering{}, helmtrail.ErrNotFound
}
func (h *helm) Left() ([]backend.Process, error) { return nil, nil }
func (h *helm) mailbox(session string) chan *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made[session] == nil {
		h.made[session] = make(chan *process, 1)
	}
	return h.made[session]
}

func (h *helm) Prepare(ref helmtrail.SessionRef, request helmtrail.Request) (backend.Process, error) {
	p := &process{ref: ref, request: request, lines: make(chan string)}
	h.mailbox(ref.ID) <- p
	h.mu.Lock()
	h.all = append(h.all, p)
	h.mu.Unlock()
	return p, nil
}

// process waits for a session's process and returns it.
func (h *helm) process(session string) *process { return <-h.mailbox(session) }

func (h *helm) endAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.all {
		p.end()
	}
}

// process is a fake Helm process.
type process struct {
	ref     helmtrail.SessionRef
	request helmtrail.Request
	lines   chan string
	once    sync.Once
}

// print writes numbered lines and returns when all of them have been read.
func (p *process) print(from, to int) {
	for i := from; i <= to; i++ {
		p.lines <- fmt.Sprintf("line %d", i)
	}
}

// end lets the process exit with 0.
func (p *process) end() { p.once.Do(func() { close(p.lines) }) }

func (p *process) Session() helmtrail.SessionRef                       { return p.ref }
func (p *process) Request() helmtrail.Request                          { return p.request }
func (p *process) Start(context.Context, backend.Launch) error         { return nil }
func (p *process) Launched() (backend.Launch, bool)                    { return backend.Launch{}, false }
func (p *process) Stop(backend.StopCause, time.Duration) (bool, error) { p.end(); return true, nil }
func (p *process) Mask(text string) string                             { return text }
func (p *process) KeepRendered() (bool, error)                         { return false, nil }
func (p *process) Close() error                                        { return nil }

func (p *process) Follow(ctx context.Context, _ int64, f func(backend.Line) error) (backend.ProcessEnd, error) {
	offset := int64(0)
	for {
		select {
		case text, ok := <-p.lines:
			if !ok {
				code := 0
				return backend.ProcessEnd{Exit: &helmtrail.Exit{Code: &code}}, nil
			}
			offset += int64(len(text)) + 1
			if err := f(backend.Line{Time: time.Now(), Text: text, Offset: offset}); err != nil {
				return backend.ProcessEnd{}, err
			}
		case <-ctx.Done():
			return backend.ProcessEnd{}, ctx.Err()
		}
	}
}

package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/singleflight"

	"github.com/helmtrail/helmtrail"
)

const (
	// probeSize is more than a block of any usual file system, so that on a full
	// disk what is left of a block does not take it.
	probeSize = 5 << 10
	// probeLife is how long an outcome counts, and probeTimeout how long the disk
	// may take.
	probeLife    = 5 * time.Second
	probeTimeout = 2 * time.Second
	// publishTimeout is how long the server inside may take to store a message.
	publishTimeout = 5 * time.Second
)

// probe remembers whether the journal can be written to.
type probe struct {
	write singleflight.Group

	mu      sync.Mutex
	checked time.Time
	err     error
	// failed means that a message could not be stored since reopened, when the
	// streams were last opened.
	failed   bool
	reopened time.Time
	// trying means that the disk is being asked.
	trying bool
}

// Writable returns nil if the journal can be written to, else why not. It tries
// every few seconds at most; in between the last outcome counts. It blocks for
// two seconds at most, and may be called concurrently.
//
// The server inside gives a stream up that it could once not write to. When the
// disk takes something again, the streams are opened anew, here or by the next
// write that fails.
func (j *Journal) Writable() error {
	if err, fresh := j.probe.last(); fresh {
		return err
	}
	_, err, _ := j.probe.write.Do("", func() (any, error) {
		if err, fresh := j.probe.last(); fresh {
			return nil, err
		}
		err := j.tryDisk()
		if err == nil && j.probe.needsReopening() {
			err = j.reopen()
		}
		if err != nil {
			err = fmt.Errorf("write to the journal: %w", err)
		}
		j.probe.mu.Lock()
		defer j.probe.mu.Unlock()
		j.probe.checked, j.probe.err = time.Now(), err
		return nil, err
	})
	return err
}

// last is the last outcome, and whether it still counts.
func (p *probe) last() (err error, fresh bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err, time.Since(p.checked) < probeLife
}

func (p *probe) needsReopening() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// begin reports whether the disk may be asked; end must be called then.
func (p *probe) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	begun := !p.trying
	p.trying = true
	return begun
}

func (p *probe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trying = false
}

// fail takes note that a message could not be stored, after which the last
// outcome counts no more. Messages that were under way when the streams were
// opened anew say nothing about them.
func (p *probe) fail(begun time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begun.After(p.reopened) {
		p.failed, p.checked = true, time.Time{}
	}
}

// tryDisk writes a small file beside the journal's own. A disk that does not
// answer at all keeps one goroutine until it does.
func (j *Journal) tryDisk() error {
	if !j.server.Running() {
		return errors.New("it is closed")
	}
	if !j.probe.begin() {
		return errors.New("the disk has not answered yet")
	}
	done := make(chan error, 1)
	go func() {
		defer j.probe.end()
		done <- writeProbe(filepath.Join(j.folder, "probe"))
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(probeTimeout):
		return fmt.Errorf("the disk has not answered for %v", probeTimeout)
	}
}

// writeProbe writes a file down to the disk and removes it again.
func writeProbe(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	data := make([]byte, probeSize) // random, or a file system might keep it in no space
	_, _ = rand.Read(data)          // it never fails
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(name))
}

// publish stores a message. A stream that was given up says nothing, so when
// there is no answer the streams are opened anew and it is tried once more.
func (j *Journal) publish(ctx context.Context, message *nats.Msg, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := j.tryPublish(ctx, message, options...)
	if err == nil || errors.Is(err, helmtrail.ErrFenced) || ctx.Err() != nil || j.Writable() != nil {
		return ack, err
	}
	ack, err = j.tryPublish(ctx, message, options...)
	if errors.Is(err, helmtrail.ErrFenced) {
		if stored := j.last(ctx, message.Subject); stored != nil && bytes.Equal(stored.Data, message.Data) {
			return &jetstream.PubAck{Sequence: stored.Sequence}, nil // The first try was only late.
		}
	}
	return ack, err
}

// last is the last message of a subject, nil if it cannot be had.
func (j *Journal) last(ctx context.Context, subject string) *jetstream.RawStreamMsg {
	name, err := j.js.StreamNameBySubject(ctx, subject)
	if err != nil {
		return nil
	}
	holder, err := j.js.Stream(ctx, name)
	if err != nil {
		return nil
	}
	message, err := holder.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return nil
	}
	return message
}

// tryPublish stores a message. When that fails for another reason than what the
// stream holds or the caller's going away, it is the streams that may have to be
// opened anew.
func (j *Journal) tryPublish(ctx context.Context, message *nats.Msg, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	begun := time.Now()
	bounded, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	ack, err := j.js.PublishMsg(bounded, message, options...)
	refused := (*jetstream.APIError)(nil)
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return nil, helmtrail.ErrFenced
	case err != nil && !errors.Is(ctx.Err(), context.Canceled):
		j.probe.fail(begun)
		_ = j.Writable() // who asks is told
	}
	return ack, err
}

// reopen reads the streams from the disk again, as at the start.
func (j *Journal) reopen() error {
	if err := j.server.ShutdownJetStream(); err != nil {
		return fmt.Errorf("close the streams: %w", err)
	}
	if err := j.server.EnableJetStream(&server.JetStreamConfig{StoreDir: j.folder, SyncInterval: syncEvery, CompressOK: true, Strict: true}); err != nil {
		return fmt.Errorf("open the streams again: %w", err)
	}
	j.probe.mu.Lock()
	defer j.probe.mu.Unlock()
	j.probe.failed, j.probe.reopened = false, time.Now()
	return nil
}

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
	// probeSize exceeds the block size of any usual file system, so that the probe
	// does not fit into the rest of a block on a full disk.
	probeSize = 5 << 10
	// probeLife is how long an outcome is valid. probeTimeout bounds the probe of
	// the disk.
	probeLife    = 5 * time.Second
	probeTimeout = 2 * time.Second
	// publishTimeout bounds how long the embedded server may take to store a
	// message.
	publishTimeout = 5 * time.Second
)

// probe remembers whether the journal can be written to.
type probe struct {
	write singleflight.Group

	mu      sync.Mutex
	checked time.Time
	err     error
	// failed means that a message could not be stored since reopened, the time at
	// which the streams were last opened.
	failed   bool
	reopened time.Time
	// trying means that a probe of the disk is running.
	trying bool
}

// Writable returns nil if the journal can be written to, and otherwise the
// reason. It probes the disk at most every few seconds and returns the last
// outcome in between. The probe takes at most two seconds. It is safe for
// concurrent use.
//
// The embedded server gives up a stream after one failed write. Once the disk
// accepts writes again, the streams are reopened, either by Writable or by the
// next write that fails. Reopening waits up to two seconds for requests, and then
// takes as long as reading the streams from the disk.
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

// last returns the last outcome and whether it is still valid.
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

// begin reports whether the caller may probe the disk. If so, the caller must
// call end.
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

// fail records that a message could not be stored, which invalidates the last
// outcome. It ignores messages whose publishing began before the streams were
// last reopened.
func (p *probe) fail(begun time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if begun.After(p.reopened) {
		p.failed, p.checked = true, time.Time{}
	}
}

// tryDisk writes a small file beside the journal's own files. If the disk does
// not respond, one goroutine blocks until it does.
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

// writeProbe writes a file, syncs it to the disk and removes it.
func writeProbe(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	data := make([]byte, probeSize) // random, so that a file system cannot compress it away
	_, _ = rand.Read(data)          // it never fails
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(name))
}

// publish stores a message. A stream that was given up does not respond, so
// without a response publish reopens the streams and tries once more. It returns
// ErrFenced if another writer has stored a message in between. If the message
// itself is stored already, publish succeeds: on a slow disk an earlier attempt may
// succeed after its caller has given up.
func (j *Journal) publish(ctx context.Context, message *nats.Msg, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := j.tryPublish(ctx, message, options...)
	if err != nil && !errors.Is(err, helmtrail.ErrFenced) && ctx.Err() == nil && j.Writable() == nil {
		ack, err = j.tryPublish(ctx, message, options...)
	}
	if !errors.Is(err, helmtrail.ErrFenced) {
		return ack, err
	}
	stored, readErr := j.last(ctx, message.Subject)
	switch {
	case readErr != nil && !errors.Is(readErr, jetstream.ErrMsgNotFound):
		return nil, fmt.Errorf("find out whether an earlier attempt succeeded: %w", readErr)
	case readErr == nil && bytes.Equal(stored.Data, message.Data):
		return &jetstream.PubAck{Sequence: stored.Sequence}, nil
	}
	return nil, err
}

// last returns the last message of a subject.
func (j *Journal) last(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	return ask(ctx, j.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		name, err := j.js.StreamNameBySubject(ctx, subject)
		if err != nil {
			return nil, err
		}
		holder, err := j.js.Stream(ctx, name)
		if err != nil {
			return nil, err
		}
		return holder.GetLastMsgForSubject(ctx, subject)
	})
}

// tryPublish stores a message. It records a failure unless the cause is the
// stream's content or the caller's context, because the streams may then have
// to be reopened.
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
		_ = j.Writable() // callers of Writable get the error
	}
	return ack, err
}

// reopen reads the streams from the disk again, as Open does. It fails if the
// server does not answer all requests within probeTimeout. The server is then
// slow, and its streams need not be reopened.
func (j *Journal) reopen() error {
	waiting, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	release, err := j.requests.hold(waiting)
	if err != nil {
		return err
	}
	defer release()
	// A request whose caller has given up may still be on its way.
	if err := j.conn.FlushWithContext(waiting); err != nil {
		return fmt.Errorf("wait for the journal's server: %w", err)
	}
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

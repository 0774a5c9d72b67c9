package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// Store is a JetStream stream of the journal's server, separate from the stream
// of the sessions. It holds other data in the same folder.
type Store struct {
	name     string
	folder   string
	stream   jetstream.Stream
	requests requests
	// publish is the journal's method.
	publish func(context.Context, *nats.Msg, ...jetstream.PublishOpt) (*jetstream.PubAck, error)
}

// StoreOptions configures a Store.
type StoreOptions struct {
	// Name names the stream. Subjects lists the subjects that it accepts.
	Name, Description string
	Subjects          []string
	// AppendOnly refuses all deletions. Otherwise each subject keeps only its
	// newest message.
	AppendOnly bool
}

// Message is a message in a Store. Its data is at most [MaxMessage] bytes long.
type Message struct {
	Subject string
	// Sequence is the message's sequence in the stream.
	Sequence uint64
	Headers  map[string]string
	Data     []byte
}

// MaxMessage bounds a message's data, in bytes.
const MaxMessage = backend.MaxEntry

// ErrUnreadable is returned for a message that exists but is damaged.
var ErrUnreadable = errors.New("the stored message cannot be read")

// Store opens a stream, which it creates if necessary.
func (j *Journal) Store(ctx context.Context, o StoreOptions) (*Store, error) {
	config := jetstream.StreamConfig{
		Name: o.Name, Description: o.Description, Subjects: o.Subjects, Storage: jetstream.FileStorage,
	}
	if o.AppendOnly {
		config.DenyDelete, config.DenyPurge = true, true
	} else {
		config.MaxMsgsPerSubject = 1
	}
	opened, err := ask(ctx, j.requests, func(ctx context.Context) (jetstream.Stream, error) {
		return j.js.CreateOrUpdateStream(ctx, config)
	})
	if err != nil {
		return nil, fmt.Errorf("open the journal's stream %s: %w", o.Name, err)
	}
	return &Store{name: o.Name, folder: j.folder, stream: opened, requests: j.requests, publish: j.publish}, nil
}

// Append stores a message and returns its sequence. When it returns, the
// message survives the end of the process.
func (s *Store) Append(ctx context.Context, m Message) (uint64, error) {
	return s.append(ctx, m)
}

// AppendAfter is like Append, but stores the message only if last is the
// sequence of the last message on the subjects that the filter covers, or 0 if
// there is no message. Otherwise it returns ErrFenced.
func (s *Store) AppendAfter(ctx context.Context, m Message, filter string, last uint64) (uint64, error) {
	return s.append(ctx, m, jetstream.WithExpectLastSequenceForSubject(last, filter))
}

func (s *Store) append(ctx context.Context, m Message, options ...jetstream.PublishOpt) (uint64, error) {
	if len(m.Data) > MaxMessage {
		return 0, fmt.Errorf("append to %s: message of %d bytes is over the limit of %d", s.name, len(m.Data), MaxMessage)
	}
	message := nats.NewMsg(m.Subject)
	for key, value := range m.Headers {
		message.Header.Set(key, value)
	}
	message.Data = m.Data
	ack, err := s.publish(ctx, message, options...)
	if err != nil {
		return 0, fmt.Errorf("append to %s: %w", s.name, err)
	}
	return ack.Sequence, nil
}

// Get returns the message at a sequence. It returns ErrNotFound if there is no
// message, and ErrUnreadable if the message is damaged.
func (s *Store) Get(ctx context.Context, sequence uint64) (Message, error) {
	return s.message(ask(ctx, s.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.stream.GetMsg(ctx, sequence)
	}))
}

// Last returns the newest message on a subject. It fails like Get.
func (s *Store) Last(ctx context.Context, subject string) (Message, error) {
	return s.message(ask(ctx, s.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.stream.GetLastMsgForSubject(ctx, subject)
	}))
}

// Next returns the first message after a sequence on the subjects that the
// filter covers. It fails like Get.
func (s *Store) Next(ctx context.Context, filter string, after uint64) (Message, error) {
	return s.message(ask(ctx, s.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.stream.GetMsg(ctx, after+1, jetstream.WithGetMsgSubject(filter))
	}))
}

func (s *Store) message(raw *jetstream.RawStreamMsg, err error) (Message, error) {
	refused := (*jetstream.APIError)(nil)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		err = helmtrail.ErrNotFound
	case errors.As(err, &refused):
		err = fmt.Errorf("%w: %s", ErrUnreadable, refused.Description)
	}
	if err != nil {
		return Message{}, fmt.Errorf("read %s: %w", s.name, err)
	}
	return Message{Subject: raw.Subject, Sequence: raw.Sequence, Headers: headersOf(raw.Header), Data: raw.Data}, nil
}

func headersOf(header nats.Header) map[string]string {
	headers := make(map[string]string, len(header))
	for key := range header {
		headers[key] = header.Get(key)
	}
	return headers
}

// Erase overwrites the message at a sequence on the disk and deletes it.
// Erasing a message that does not exist is not an error.
func (s *Store) Erase(ctx context.Context, sequence uint64) error {
	ctx, cancel := bound(ctx)
	defer cancel()
	_, err := ask(ctx, s.requests, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.stream.SecureDeleteMsg(ctx, sequence)
	})
	if err != nil {
		// NATS has no specific error for a message that does not exist.
		if _, getErr := s.Get(ctx, sequence); errors.Is(getErr, helmtrail.ErrNotFound) {
			return nil
		}
		return fmt.Errorf("erase from %s: %w", s.name, err)
	}
	return nil
}

// Size returns the total size of the stream's messages in bytes.
func (s *Store) Size(ctx context.Context) (uint64, error) {
	info, err := ask(ctx, s.requests, func(ctx context.Context) (*jetstream.StreamInfo, error) { return s.stream.Info(ctx) })
	if err != nil {
		return 0, fmt.Errorf("ask for the size of %s: %w", s.name, err)
	}
	return info.State.Bytes, nil
}

// ReadFiles is [ReadFiles] for this stream.
func (s *Store) ReadFiles(each func(Stored) error) error { return ReadFiles(s.folder, s.name, each) }

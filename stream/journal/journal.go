package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/filelock"
)

const (
	streamName   = "SESSIONS"
	subjectRoot  = "session"
	offsetHeader = "Helmtrail-Mark" // as stored on disk

	// startTimeout bounds the server's start, which includes reading its index
	// files.
	startTimeout = time.Minute
	// callTimeout bounds a call whose context has no deadline.
	callTimeout = 10 * time.Second
	// syncEvery is how often written messages are synced to the disk.
	syncEvery = time.Second
)

// Journal is a stream.Journal on an embedded NATS server.
type Journal struct {
	probe    probe
	server   *server.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	stream   jetstream.Stream
	requests requests
	lock     *os.File
	folder   string
	damage   []Damage
}

// Open opens the journal in a folder, which it creates if necessary. It blocks
// until all stored entries can be read. Only one process can open a folder at a
// time; Open fails if another process has it open.
//
// NATS may truncate a damaged file where the damage begins. Open copies such
// files first; see Damage. It checks all files of the guarded streams, and of
// other streams the files that NATS reads at startup.
func Open(ctx context.Context, folder string, guarded ...string) (*Journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the journal's folder: %w", err)
	}
	lock, err := lockFolder(folder)
	if err != nil {
		return nil, err
	}
	j := &Journal{lock: lock, folder: folder, requests: newRequests()}
	if j.damage, err = preserve(folder, guarded); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if err := j.start(ctx, folder); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func lockFolder(folder string) (*os.File, error) {
	name := filepath.Join(folder, "lock")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the journal's folder: %w", err)
	}
	if err := filelock.TryLock(file); err != nil {
		return nil, errors.Join(fmt.Errorf("journal folder %s is in use by another helmtrail: %w", folder, err), file.Close())
	}
	return file, nil
}

func (j *Journal) start(ctx context.Context, folder string) error {
	var err error
	j.server, err = server.NewServer(&server.Options{
		ServerName: "helmtrail", DontListen: true, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: folder, SyncInterval: syncEvery, MaxPayload: 2 * backend.MaxEntry,
	})
	if err != nil {
		return fmt.Errorf("set up the journal: %w", err)
	}
	j.server.Start()
	if !j.server.ReadyForConnections(startTimeout) {
		return fmt.Errorf("journal in %s was not ready after %v", folder, startTimeout)
	}
	j.conn, err = nats.Connect("", nats.InProcessServer(j.server), nats.Name("helmtrail"), nats.Timeout(startTimeout))
	if err != nil {
		return fmt.Errorf("connect to the journal: %w", err)
	}
	j.js, err = jetstream.New(j.conn)
	if err != nil {
		return fmt.Errorf("connect to the journal: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	j.stream, err = j.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        streamName,
		Description: "events of helmtrail's sessions",
		Subjects:    []string{subjectRoot + ".*.*"},
		Storage:     jetstream.FileStorage,
	})
	if err != nil {
		return fmt.Errorf("open the journal's stream: %w", err)
	}
	return nil
}

// Close stops the server. When it returns, all acknowledged entries are on
// disk.
func (j *Journal) Close() error {
	if j.conn != nil {
		j.conn.Close()
	}
	if j.server != nil {
		j.server.Shutdown()
		j.server.WaitForShutdown()
	}
	if err := j.lock.Close(); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

// Append implements stream.Journal.
func (j *Journal) Append(ctx context.Context, session helmtrail.SessionRef, after backend.Position, offset int64, data []byte) (backend.Position, error) {
	if len(data) > backend.MaxEntry {
		return 0, fmt.Errorf("append to session %s: entry of %d bytes is over the limit of %d", session.ID, len(data), backend.MaxEntry)
	}
	message := nats.NewMsg(subject(session))
	message.Header.Set(offsetHeader, strconv.FormatInt(offset, 10))
	message.Data = data
	ack, err := j.publish(ctx, message, jetstream.WithExpectLastSequencePerSubject(uint64(after)))
	if err != nil {
		return 0, fmt.Errorf("append to session %s: %w", session.ID, err)
	}
	return backend.Position(ack.Sequence), nil
}

// Next implements stream.Journal.
func (j *Journal) Next(ctx context.Context, session helmtrail.SessionRef, after backend.Position) (backend.Entry, error) {
	message, err := ask(ctx, j.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return j.stream.GetMsg(ctx, uint64(after)+1, jetstream.WithGetMsgSubject(subject(session)))
	})
	return entry(message, session, err)
}

// Last implements stream.Journal.
func (j *Journal) Last(ctx context.Context, session helmtrail.SessionRef) (backend.Entry, error) {
	message, err := ask(ctx, j.requests, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return j.stream.GetLastMsgForSubject(ctx, subject(session))
	})
	return entry(message, session, err)
}

func entry(message *jetstream.RawStreamMsg, session helmtrail.SessionRef, err error) (backend.Entry, error) {
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		err = helmtrail.ErrNotFound
	}
	if err != nil {
		return backend.Entry{}, fmt.Errorf("read session %s: %w", session.ID, err)
	}
	offset, err := strconv.ParseInt(message.Header.Get(offsetHeader), 10, 64)
	if err != nil {
		return backend.Entry{}, fmt.Errorf("read session %s at position %d: bad offset: %w", session.ID, message.Sequence, err)
	}
	return backend.Entry{Position: backend.Position(message.Sequence), Offset: offset, Data: message.Data}, nil
}

// Sessions implements stream.Journal.
func (j *Journal) Sessions(ctx context.Context, release helmtrail.ReleaseRef) ([]string, error) {
	prefix := subjectRoot + "." + releaseToken(release) + "."
	info, err := ask(ctx, j.requests, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return j.stream.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	})
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s/%s: %w", release.Namespace, release.Name, err)
	}
	ids := make([]string, 0, len(info.State.Subjects))
	for s := range info.State.Subjects {
		ids = append(ids, strings.TrimPrefix(s, prefix))
	}
	return ids, nil
}

// subject returns the subject of a session's entries.
func subject(session helmtrail.SessionRef) string {
	return subjectRoot + "." + releaseToken(session.Release) + "." + token(session.ID)
}

// releaseToken returns the token of a release in subjects. Names cannot contain
// slashes, so no two releases have the same hash input.
func releaseToken(r helmtrail.ReleaseRef) string {
	sum := sha256.Sum256([]byte(r.Cluster + "/" + r.Namespace + "/" + r.Name))
	return hex.EncodeToString(sum[:16])
}

// token makes any id safe for use in a subject. Helmtrail's own ids already
// are; an id from a caller may not be.
func token(id string) string {
	for _, c := range id {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' {
			sum := sha256.Sum256([]byte(id))
			return "x" + hex.EncodeToString(sum[:])
		}
	}
	if id == "" {
		return "x"
	}
	return id
}

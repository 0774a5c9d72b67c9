package trail

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/stream/journal"
)

const (
	recordsStream  = "RECORDS"
	recordsSubject = "record"
	// partsHeader is the number of messages of a record. The last message carries
	// it.
	partsHeader = "Helmtrail-Parts"
	// lastPart is the token of the message that is written last. Without that
	// message the record does not exist.
	lastPart = "last"
)

// records stores the bytes of records by their digest, in parts that fit into
// messages. Its methods are safe for concurrent use.
type records struct {
	store *journal.Store
	// part is the size of a part in bytes.
	part int
}

func partSubject(digest, part string) string { return recordsSubject + "." + digest + "." + part }

// put stores a record unless it is already stored. Two callers that store the
// same record at the same time write the same bytes.
func (r *records) put(ctx context.Context, digest string, data []byte) error {
	stored, err := r.stored(ctx, digest)
	if stored || err != nil {
		return err
	}
	parts := max(1, (len(data)+r.part-1)/r.part)
	for i := range parts {
		message := journal.Message{Subject: partSubject(digest, strconv.Itoa(i)), Data: data[i*r.part : min(len(data), (i+1)*r.part)]}
		if i == parts-1 {
			message.Subject = partSubject(digest, lastPart)
			message.Headers = map[string]string{partsHeader: strconv.Itoa(parts)}
		}
		if _, err := r.store.Append(ctx, message); err != nil {
			return fmt.Errorf("keep record %s: %w", digest, err)
		}
	}
	return nil
}

// stored reports whether a record exists.
func (r *records) stored(ctx context.Context, digest string) (bool, error) {
	_, err := r.store.Last(ctx, partSubject(digest, lastPart))
	if errors.Is(err, helmtrail.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// get returns the bytes of a record. It returns ErrNotFound if the record does
// not exist, and ErrAltered if the bytes do not match the digest.
func (r *records) get(ctx context.Context, digest string) ([]byte, error) {
	last, err := r.store.Last(ctx, partSubject(digest, lastPart))
	if err != nil {
		return nil, altered(err)
	}
	parts, err := strconv.Atoi(last.Headers[partsHeader])
	if err != nil {
		return nil, helmtrail.ErrAltered
	}
	data := last.Data
	if parts > 1 {
		data = make([]byte, 0, parts*r.part)
		for i := range parts - 1 {
			part, err := r.store.Last(ctx, partSubject(digest, strconv.Itoa(i)))
			if errors.Is(err, helmtrail.ErrNotFound) {
				return nil, helmtrail.ErrAltered
			}
			if err != nil {
				return nil, altered(err)
			}
			data = append(data, part.Data...)
		}
		data = append(data, last.Data...)
	}
	if hashOf(data) != digest {
		return nil, helmtrail.ErrAltered
	}
	return data, nil
}

func altered(err error) error {
	if errors.Is(err, journal.ErrUnreadable) {
		return errors.Join(helmtrail.ErrAltered, err)
	}
	return err
}

// erase overwrites a record. Erasing a record that does not exist is not an
// error.
func (r *records) erase(ctx context.Context, digest string) error {
	for {
		message, err := r.store.Next(ctx, recordsSubject+"."+digest+".*", 0)
		if errors.Is(err, helmtrail.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = r.store.Erase(ctx, message.Sequence)
		}
		if err != nil {
			return fmt.Errorf("erase record %s: %w", digest, err)
		}
	}
}

// splitPart splits a part's subject.
func splitPart(subject string) (digest, part string, ok bool) {
	rest, ok := strings.CutPrefix(subject, recordsSubject+".")
	digest, part, cut := strings.Cut(rest, ".")
	return digest, part, ok && cut
}

// gathering assembles a record from parts that arrive in any order.
type gathering struct {
	parts map[string][]byte
	count int // 0 until the last part has arrived
}

func (g *gathering) add(part string, m *journal.Stored) {
	if part == lastPart {
		g.count, _ = strconv.Atoi(m.Headers[partsHeader]) // without it the record stays incomplete
		part = strconv.Itoa(g.count - 1)
	}
	g.parts[part] = m.Data
}

func (g *gathering) whole() ([]byte, bool) {
	if g.count == 0 {
		return nil, false
	}
	var data []byte
	for i := range g.count {
		part, ok := g.parts[strconv.Itoa(i)]
		if !ok {
			return nil, false
		}
		data = append(data, part...)
	}
	return data, true
}

package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats.go"
)

// Stored is a message as stored in a stream's files.
type Stored struct {
	Message
	// File and Offset locate the message.
	File   string
	Offset int
	// Problem describes how the message differs from the original; "" if it is
	// intact. If the record's length is damaged, the rest of the file cannot be
	// read.
	Problem string
}

// ErrNoStream is returned when a folder does not hold the stream.
var ErrNoStream = errors.New("there is no such stream in the folder")

// Layout of a message in NATS's files (nats-server/server/filestore.go,
// writeMsgRecordLocked): length(4) sequence(8) time(8) subject length(2),
// subject, the headers with their length(4) if there are any, data, hash(8).
const (
	recordHead  = 22
	recordHash  = highwayhash.Size64
	recordLimit = 32 << 20

	headersBit = uint32(1) << 31
	// erasedBit marks a message that was deleted and overwritten. deletedBit marks
	// a note that a message was deleted elsewhere.
	erasedBit  = uint64(1) << 63
	deletedBit = uint64(1) << 62

	// tornTries bounds the reads of a truncated record, which may still be being
	// written.
	tornTries = 5
	tornDelay = 20 * time.Millisecond
)

// ReadFiles calls each for the messages of a stream, in order, as stored in the
// files of a journal's folder. It skips deleted messages. It needs no server
// and writes nothing, so it may be used on the folder of a running server. NATS
// itself truncates a file at the first damaged record when it starts; ReadFiles
// reports the damage and the messages after it. It returns ErrNoStream if the
// folder does not hold the stream, and any error of reading a file or of each.
func ReadFiles(folder, name string, each func(Stored) error) error {
	return readBlocks(folder, name, true, each)
}

// readBlocks implements ReadFiles. Unless all is set, it reads only the files
// that NATS reads at startup: the last file, and the files written to after
// NATS last stored its index. NATS stores its index when it stops and
// occasionally while it runs.
func readBlocks(folder, name string, all bool, each func(Stored) error) error {
	folder = filepath.Join(streamsFolder(folder), name, "msgs")
	indexed := time.Time{}
	if index, err := os.Stat(filepath.Join(folder, "index.db")); err == nil {
		indexed = index.ModTime()
	}
	for done := 0; ; {
		blocks, err := blocksAfter(folder, done)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read stream %s in %s: %w", name, folder, ErrNoStream)
		}
		if err != nil {
			return fmt.Errorf("read stream %s: %w", name, err)
		}
		if len(blocks) == 0 {
			return nil
		}
		for i, number := range blocks {
			b := block{path: filepath.Join(folder, strconv.Itoa(number)+".blk"), key: sha256.Sum256(fmt.Appendf(nil, "%s-%d", name, number))}
			last := i == len(blocks)-1
			done = number
			if written, err := os.Stat(b.path); !all && !last && err == nil && written.ModTime().Before(indexed) {
				continue
			}
			if err := b.read(last, each); err != nil {
				return err
			}
		}
	}
}

// streamsFolder returns the folder that holds the folders of a journal's
// streams.
func streamsFolder(folder string) string {
	return filepath.Join(folder, "jetstream", "$G", "streams")
}

// blocksAfter returns the numbers of the block files after the given one, in
// order.
func blocksAfter(folder string, after int) ([]int, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, entry := range entries {
		text, ok := strings.CutSuffix(entry.Name(), ".blk")
		if number, err := strconv.Atoi(text); ok && err == nil && number > after {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// block is one file of a stream.
type block struct {
	path string
	key  [sha256.Size]byte
}

func (b *block) read(last bool, each func(Stored) error) error {
	content, err := b.content()
	if err != nil {
		return err
	}
	at := 0
	for tries := 0; at < len(content); {
		length := recordLength(content[at:])
		if length == 0 {
			if tries++; last && tries < tornTries {
				time.Sleep(tornDelay)
				if content, err = b.content(); err != nil {
					return err
				}
				continue
			}
			return each(Stored{File: b.path, Offset: at, Problem: "its length does not fit, or it was not written to its end"})
		}
		stored, kept := b.record(content[at : at+length])
		stored.File, stored.Offset = b.path, at
		if kept {
			if err := each(stored); err != nil {
				return err
			}
		}
		at += length
		tries = 0
	}
	return nil
}

// content returns the current content of the file. It is empty if the file was
// removed meanwhile.
func (b *block) content() ([]byte, error) {
	content, err := os.ReadFile(b.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read a stream's file: %w", err)
	}
	return content, nil
}

// recordLength returns the length of the record at the start of data, or 0 if
// the length is impossible.
func recordLength(data []byte) int {
	if len(data) < recordHead {
		return 0
	}
	length := int(binary.LittleEndian.Uint32(data) &^ headersBit)
	if length < recordHead+recordHash || length > recordLimit || length > len(data) {
		return 0
	}
	return length
}

// record reads one record. kept is false for a record that holds no message.
func (b *block) record(record []byte) (stored Stored, kept bool) {
	head, body, sum := record[:recordHead], record[recordHead:len(record)-recordHash], record[len(record)-recordHash:]
	withHeaders := binary.LittleEndian.Uint32(head)&headersBit != 0
	sequence := binary.LittleEndian.Uint64(head[4:])
	subjectLength := int(binary.LittleEndian.Uint16(head[20:]))
	stored.Sequence = sequence &^ (erasedBit | deletedBit)
	fixed := subjectLength
	if withHeaders {
		fixed += 4
	}
	if fixed > len(body) {
		stored.Problem = "the length of its subject does not fit"
		return stored, true
	}
	subject, rest := body[:subjectLength], body[fixed:]
	hash, err := highwayhash.NewDigest64(b.key[:])
	if err == nil {
		_, err = hash.Write(bytes.Join([][]byte{head[4:20], subject, rest}, nil))
	}
	if err != nil || !bytes.Equal(hash.Sum(nil), sum) {
		stored.Problem = "its checksum does not fit"
	}
	if stored.Problem == "" && (sequence == 0 || sequence&(erasedBit|deletedBit) != 0) {
		return stored, false
	}
	stored.Subject = string(subject)
	if withHeaders {
		length := int(binary.LittleEndian.Uint32(body[subjectLength:]))
		if length > len(rest) {
			stored.Problem = "the length of its headers does not fit"
			return stored, true
		}
		header, err := nats.DecodeHeadersMsg(rest[:length])
		if err != nil && stored.Problem == "" {
			stored.Problem = "its headers cannot be read"
		}
		stored.Headers, rest = headersOf(header), rest[length:]
	}
	stored.Data = bytes.Clone(rest)
	return stored, true
}

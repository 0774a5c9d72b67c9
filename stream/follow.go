package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/helmtrail/helmtrail"
)

// Follow calls f with every stored event after the one with the given seq (0 for
// all), in order, and then with new events as they are stored. It blocks until f
// returns false or the session has ended, and then returns nil. If ctx ends
// first, it returns ctx's error.
func (l *Log) Follow(ctx context.Context, after uint64, f func(helmtrail.Event) (more bool)) error {
	cursor := l.Cursor(after)
	for {
		frames, err := cursor.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range bytes.Lines(frames) {
			data, ok := bytes.CutPrefix(line, []byte("data: "))
			if !ok {
				continue
			}
			var e helmtrail.Event
			if err := json.Unmarshal(data, &e); err != nil {
				return fmt.Errorf("follow session %s: %w", l.session.ID, err)
			}
			if e.Type != helmtrail.TypeHeartbeat && !f(e) {
				return nil
			}
		}
	}
}

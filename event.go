package helmtrail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Type is the type of an event. docs/events.md describes each type.
type Type string

const (
	// TypeStarted opens every session.
	TypeStarted Type = "STARTED"
	// TypeLog is one line of helm's output.
	TypeLog Type = "LOG"
	// TypeHeartbeat reports the elapsed time; it is never stored.
	TypeHeartbeat Type = "HEARTBEAT"
	// TypeReleaseStatus is one transition of the release.
	TypeReleaseStatus Type = "RELEASE_STATUS"
	// TypeResourceStatus is a snapshot of the release's resources, or the rows
	// that changed.
	TypeResourceStatus Type = "RESOURCE_STATUS"
	// TypeRetrying announces another attempt.
	TypeRetrying Type = "RETRYING"
	// TypeReset instructs a reader to drop what it has; it is never stored.
	TypeReset Type = "RESET"
	// TypeCompleted ends a session whose helm exited with 0.
	TypeCompleted Type = "COMPLETED"
	// TypeFailed ends a session that did not succeed.
	TypeFailed Type = "FAILED"
	// TypeCanceled ends a session that somebody canceled.
	TypeCanceled Type = "CANCELED"
)

// Types lists every type of event.
var Types = []Type{
	TypeStarted, TypeLog, TypeHeartbeat, TypeReleaseStatus, TypeResourceStatus, TypeRetrying, TypeReset, TypeCompleted, TypeFailed, TypeCanceled,
}

// Terminal reports whether t ends a session. Every session has exactly one
// terminal event, which is its last.
func (t Type) Terminal() bool {
	return t == TypeCompleted || t == TypeFailed || t == TypeCanceled
}

// Event is one entry of a session's stream: the common fields and one body. In
// JSON, the body's fields follow the common ones in the same object.
type Event struct {
	// Seq counts a session's stored events from 1 without gaps; 0 for events
	// that are not stored.
	Seq       uint64
	Type      Type
	Time      time.Time
	SessionID string
	// Elapsed is the time since the session started, by the monotonic clock.
	Elapsed time.Duration
	// Body is a *Started, *LogLine, *Heartbeat, *ReleaseStatus,
	// *ResourceStatus, *Retrying or *End, depending on Type; it is nil for
	// RESET. If this version does not know the type, Body is a json.RawMessage
	// that holds the whole event as it was stored.
	Body any
}

// common holds the fields that all events share, in their JSON order.
type common struct {
	Seq            uint64          `json:"seq,omitempty"`
	Type           Type            `json:"type"`
	Time           string          `json:"time"`
	SessionID      string          `json:"sessionId"`
	ElapsedSeconds json.RawMessage `json:"elapsedSeconds"`
}

// MarshalJSON writes the common fields first, then the body's, on one line.
func (e Event) MarshalJSON() ([]byte, error) {
	if whole, ok := e.Body.(json.RawMessage); ok {
		return whole, nil
	}
	head, err := json.Marshal(common{
		Seq: e.Seq, Type: e.Type, Time: e.Time.UTC().Format(timeFormat), SessionID: e.SessionID,
		ElapsedSeconds: fmt.Appendf(nil, "%.3f", e.Elapsed.Seconds()),
	})
	if err != nil {
		return nil, fmt.Errorf("encode event %s of session %s: %w", e.Type, e.SessionID, err)
	}
	if e.Body == nil {
		return head, nil
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("encode event %s of session %s: %w", e.Type, e.SessionID, err)
	}
	if len(body) <= 2 {
		return head, nil
	}
	head[len(head)-1] = ','
	return append(head, body[1:]...), nil
}

// timeFormat is RFC 3339 with a fixed three digits of milliseconds, so that
// times sort as text.
const timeFormat = "2006-01-02T15:04:05.000Z07:00"

// UnmarshalJSON reads the output of MarshalJSON. It keeps an event of an
// unknown type unchanged, since a later version may have stored it. It ignores
// unknown fields of a known type.
func (e *Event) UnmarshalJSON(data []byte) error {
	var c struct {
		Seq            uint64    `json:"seq"`
		Type           Type      `json:"type"`
		Time           time.Time `json:"time"`
		SessionID      string    `json:"sessionId"`
		ElapsedSeconds float64   `json:"elapsedSeconds"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if c.Type == "" {
		return errors.New("decode event: it has no type")
	}
	body, known := newBody(c.Type)
	switch {
	case !known:
		body = json.RawMessage(bytes.Clone(data))
	case body != nil:
		if err := json.Unmarshal(data, body); err != nil {
			return fmt.Errorf("decode event %s %d: %w", c.Type, c.Seq, err)
		}
	}
	*e = Event{
		Seq: c.Seq, Type: c.Type, Time: c.Time, SessionID: c.SessionID,
		Elapsed: time.Duration(math.Round(c.ElapsedSeconds*1000)) * time.Millisecond, Body: body,
	}
	return nil
}

// newBody returns an empty body for an event of type t, or nil if the type has
// no body. It reports whether the type is known.
func newBody(t Type) (body any, known bool) {
	switch t {
	case TypeStarted:
		return &Started{}, true
	case TypeLog:
		return &LogLine{}, true
	case TypeHeartbeat:
		return &Heartbeat{}, true
	case TypeReleaseStatus:
		return &ReleaseStatus{}, true
	case TypeResourceStatus:
		return &ResourceStatus{}, true
	case TypeRetrying:
		return &Retrying{}, true
	case TypeReset:
		return nil, true
	case TypeCompleted, TypeFailed, TypeCanceled:
		return &End{}, true
	}
	return nil, false
}

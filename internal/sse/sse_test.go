package sse_test

import (
	"testing"

	"github.com/helmtrail/helmtrail/internal/sse"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
	}{
		{"with an id", string(sse.Append([]byte("before "), "s.7", "LOG", []byte(`{"seq":7}`))), "before id: s.7\nevent: LOG\ndata: {\"seq\":7}\n\n"},
		{"without an id", string(sse.Append(nil, nil, []byte("HEARTBEAT"), []byte(`{}`))), "event: HEARTBEAT\ndata: {}\n\n"},
		{"retry", string(sse.AppendRetry(nil, 1500)), "retry: 1500\n\n"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

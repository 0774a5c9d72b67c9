// Package sse frames Server-Sent Events (WHATWG HTML, section 9.2).
package sse

import "strconv"

// Append appends one frame to dst and returns the extended slice. An empty id
// is left out. Neither id, event nor data may hold a line break, which JSON
// never does.
func Append[Text ~string | ~[]byte](dst []byte, id, event Text, data []byte) []byte {
	if len(id) > 0 {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "event: "...)
	dst = append(dst, event...)
	dst = append(dst, "\ndata: "...)
	dst = append(dst, data...)
	return append(dst, '\n', '\n')
}

// AppendRetry appends the delay, in milliseconds, after which a client should
// reconnect.
func AppendRetry(dst []byte, milliseconds int) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, int64(milliseconds), 10)
	return append(dst, '\n', '\n')
}

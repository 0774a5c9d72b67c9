package web

import "time"

// SetTakeWithin changes how long a reader may take nothing. Call it before the
// server is used.
func (s *Server) SetTakeWithin(d time.Duration) { s.takeWithin = d }

// SetWireTimes changes how long a body and an answer may take on the wire. Call
// it before the server is used.
func (s *Server) SetWireTimes(body, answer time.Duration) {
	s.bodyWithin, s.answerWithin = body, answer
}

// LimitFeed changes how many bytes of frames a cluster's feed keeps. Call it
// before the server is used.
func (s *Server) LimitFeed(cluster string, bytes int) { s.clusters.get(cluster).Feed.SetLimit(bytes) }

// MergeValues is mergeValues.
var MergeValues = mergeValues

package web

import "time"

// SetTakeWithin sets how long a reader may accept nothing. Call it before the server
// is used.
func (s *Server) SetTakeWithin(d time.Duration) { s.takeWithin = d }

// SetWireTimes limits the transfer times of a request body and a response. Call it
// before the server is used.
func (s *Server) SetWireTimes(body, answer time.Duration) {
	s.bodyWithin, s.answerWithin = body, answer
}

// LimitFeed sets the size in bytes of the frames that a cluster's feed keeps. Call it
// before the server is used.
func (s *Server) LimitFeed(cluster string, bytes int) { s.clusters.get(cluster).Feed.SetLimit(bytes) }

// MergeValues is mergeValues.
var MergeValues = mergeValues

package web

import "time"

// SetTakeWithin changes how long a reader may take nothing. Call it before the
// server is used.
func (s *Server) SetTakeWithin(d time.Duration) { s.takeWithin = d }

// LimitFeed changes how many bytes of frames a cluster's feed keeps. Call it
// before the server is used.
func (s *Server) LimitFeed(cluster string, bytes int) { s.clusters.get(cluster).feed.limit = bytes }

// MergeValues is mergeValues.
var MergeValues = mergeValues

package trail_test

import "github.com/helmtrail/helmtrail/stream"

func query(after uint64) stream.TrailQuery { return stream.TrailQuery{Cluster: "dev", After: after} }

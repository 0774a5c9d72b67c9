package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/helmtrail/helmtrail/informer"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/journal"
	"github.com/helmtrail/helmtrail/stream/trail"
)

// Folders in the data directory: journalFolder holds all events and entries,
// trailFolder the notes of the trail's last heads.
const (
	journalFolder = "journal"
	trailFolder   = "trail"
)

// openTrail opens the trail and reads the chain of each cluster.
func openTrail(ctx context.Context, o serveOptions, kept *journal.Journal, clusters []*informer.Cluster, operations *stream.Operations, logger *slog.Logger) (*trail.Trail, error) {
	size, err := o.trailBytes()
	if err != nil {
		return nil, err
	}
	setup := trail.Setup{
		Journal: kept, Folder: filepath.Join(o.dataDir, trailFolder), Sessions: operations,
		Keep: o.trailKeep, Size: size, Logger: logger,
	}
	for _, c := range clusters {
		setup.Clusters = append(setup.Clusters, c.ID)
	}
	return trail.Open(ctx, setup)
}

// trailBytes returns --trail-size in bytes, or 0 if it was not given.
func (o *serveOptions) trailBytes() (uint64, error) {
	if o.trailSize == "" {
		return 0, nil
	}
	size, err := resource.ParseQuantity(o.trailSize)
	if err != nil || size.Value() <= 0 {
		return 0, fmt.Errorf("--trail-size %q: must be an amount of bytes such as 20Gi", o.trailSize)
	}
	return uint64(size.Value()), nil
}

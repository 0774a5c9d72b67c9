package main

import (
	"fmt"
	"log/slog"
	"os"
)

// openDataDir creates the data directory for its owner alone, and makes an existing
// one so. It holds a key, and secrets while operations run.
func openDataDir(dir string, logger *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	const others = 0o077
	if info.Mode().Perm()&others == 0 {
		return nil
	}
	if err := os.Chmod(dir, info.Mode()&^others); err != nil {
		// Its files are for their owner alone, so others only see their names.
		logger.Warn("the data directory is open to other users, and that cannot be changed", "mode", fmt.Sprintf("%#o", info.Mode().Perm()), "error", err)
	}
	return nil
}

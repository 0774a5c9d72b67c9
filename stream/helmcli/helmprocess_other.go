//go:build !linux && !darwin

package helmcli

import "errors"

func startTime(int) string { return "" }

func (helmContent) kill() error { return errors.ErrUnsupported }

func (helmContent) terminateOrphan() error { return errors.ErrUnsupported }

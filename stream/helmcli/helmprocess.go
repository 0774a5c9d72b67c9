package helmcli

// helmContent is the content of helm.json. It identifies helm's process: the
// start time distinguishes it from a later process with the same id.
type helmContent struct {
	PID     int
	Started string
}

func newHelmContent(pid int) helmContent { return helmContent{PID: pid, Started: startTime(pid)} }

// runs reports whether helm still runs.
func (h helmContent) runs() bool { return h.Started != "" && startTime(h.PID) == h.Started }

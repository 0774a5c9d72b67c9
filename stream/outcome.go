package stream

import (
	"fmt"
	"strings"

	"github.com/helmtrail/helmtrail/decoder"
)

// outcome is everything that decides how a session ends.
type outcome struct {
	request Request
	session string
	start   int // the release's newest revision before helm ran, 0 for none
	process ProcessEnd
	// stop is why the session was to end before its time, "" for no reason.
	stop StopCause
	// after is what the API server has of the release after the exit, lowest
	// revision first; known is false when it could not be read.
	after []*decoder.Revision
	known bool
	// ran means that helm was run.
	ran bool
	// cutShort means that helmtrail ended before it had run helm.
	cutShort bool
}

// kind is the type of the terminal event.
func (o outcome) kind() Type {
	switch {
	case o.stop == StopCanceled:
		return TypeCanceled
	case o.exitedWith(0) && o.stop == "":
		return TypeCompleted
	}
	return TypeFailed
}

func (o outcome) exitedWith(code int) bool {
	return o.process.Exit != nil && o.process.Exit.Code != nil && *o.process.Exit.Code == code
}

// end is the body of the terminal event, but for what stands in the stream
// already.
func (o outcome) end() *End {
	end := &End{
		Process:   o.process.Exit,
		Message:   o.process.Message,
		Causes:    []Cause{},
		Leftovers: []ObjectRef{},
		Agrees:    o.agrees(),
	}
	if o.process.Exit != nil {
		end.ExitCode = o.process.Exit.Code
	}
	if newest := o.newest(); newest != nil {
		end.Release = &RevisionStatus{Revision: newest.Number, Status: newest.Status()}
	}
	switch {
	case o.kind() == TypeCompleted:
		end.Message = ""
	case o.stop == StopCanceled:
		killed := canceledCode
		end.ExitCode = &killed
		end.Message = join("the operation was cancelled", o.process.Message)
	case o.stop == StopInterrupted:
		end.Reason = ReasonInterrupted
		end.Message = join("helmtrail was stopped and ended helm", o.process.Message)
	case o.stop == StopTimeout:
		end.Reason = ReasonTimeout
		end.Message = join(fmt.Sprintf("the deadline of %v passed and helm was ended", o.request.Options.Deadline()), o.process.Message)
	case o.process.Exit == nil && (o.ran || o.cutShort):
		end.Reason = ReasonInterrupted
		end.Message = o.process.Problem
	case o.process.Exit == nil:
		end.Reason = ReasonStart
		end.Message = o.process.Problem
	default:
		end.Reason = ReasonExit
		if end.Message == "" {
			end.Message = "helm ended " + describe(*o.process.Exit) + " and gave no reason"
		}
	}
	end.Hint = o.hint()
	return end
}

// canceledCode is the exit code of CANCELED: 128 and SIGKILL, as a shell
// reports a killed process. What helm really did stands in process.
const canceledCode = 137

func join(first, second string) string {
	if second == "" {
		return first
	}
	return first + ": " + second
}

func describe(exit Exit) string {
	if exit.Code != nil {
		return fmt.Sprintf("with exit code %d", *exit.Code)
	}
	return "by signal " + exit.Signal
}

func (o outcome) newest() *decoder.Revision {
	if len(o.after) == 0 {
		return nil
	}
	return o.after[len(o.after)-1]
}

// ours is the revision that this session created: the first above the start
// that carries the session's label, or for a rollback the first above the
// start that names the target. Helm copies labels on to later revisions, so
// only the first counts.
func (o outcome) ours() *decoder.Revision {
	for _, r := range o.after {
		if r.Number <= o.start {
			continue
		}
		switch o.request.Operation {
		case OperationInstall, OperationUpgrade:
			if r.Session == o.session {
				return r
			}
		case OperationRollback:
			if rolledBackTo(r, o.request.Revision) {
				return r
			}
		}
	}
	return nil
}

// rolledBackTo tells whether a rollback to the target made r. Helm 3 says so
// only in the description (pkg/action/rollback.go), which a failure replaces.
func rolledBackTo(r *decoder.Revision, target int) bool {
	if r.Header == nil {
		return r.LabelStatus == decoder.StatusPendingRollback
	}
	return r.Header.RollbackRevision == target ||
		r.Header.Description == fmt.Sprintf("Rollback to %d", target) ||
		r.Header.Status == decoder.StatusPendingRollback ||
		strings.Contains(r.Header.Description, "Rollback")
}

// agrees tells whether helm's exit fits what it left behind; nil where there
// is nothing to compare.
func (o outcome) agrees() *bool {
	if !o.known || o.process.Exit == nil {
		return nil
	}
	succeeded := o.exitedWith(0)
	is := func(v bool) *bool { return &v }
	if o.request.Operation == OperationUninstall {
		newest := o.newest()
		gone := newest == nil || newest.Status() == decoder.StatusUninstalled
		if succeeded {
			return is(gone)
		}
		return is(!gone)
	}
	ours := o.ours()
	switch {
	case ours == nil && succeeded:
		return is(false)
	case ours == nil && o.request.Operation == OperationInstall && o.request.Options.RollbackOnFailure && o.newest() == nil:
		return is(true) // helm has uninstalled its own failed install
	case ours == nil:
		return nil // helm refused before it wrote a record
	case succeeded:
		return is(ours.Status() == decoder.StatusDeployed)
	default:
		return is(ours.Status() == decoder.StatusFailed)
	}
}

// hint is the way out of a state that helm has left behind.
func (o outcome) hint() string {
	newest := o.newest()
	if newest == nil || !decoder.Busy(newest.Status()) {
		return ""
	}
	return fmt.Sprintf("revision %d was left %s and nobody works on it any more; recover the release by rollback, markFailed or uninstall", newest.Number, newest.Status())
}

package stream

import (
	"fmt"
	"strings"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/health"
	"github.com/helmtrail/helmtrail/stream/backend"
	"github.com/helmtrail/helmtrail/stream/ownership"
)

// outcome is everything that decides how a session ends.
type outcome struct {
	request helmtrail.Request
	session string
	start   int // the release's newest revision before helm was run, 0 for none
	process backend.ProcessEnd
	// stop is why the session was stopped, "" if it was not.
	stop backend.StopCause
	// after has the release's revisions after the exit, lowest first, read from
	// the API server; known is false if they could not be read.
	after []*decoder.Revision
	known bool
	// first is the start of the first attempt. A later attempt starts from what
	// the previous one left.
	first int
	// seen means that a revision of the release appeared or changed while the
	// session ran. It may have been deleted since.
	seen bool
	// ran means that helm was run.
	ran bool
	// refused means that helm was not run, since somebody else may be working on
	// the release.
	refused bool
	// cutShort means that helmtrail was stopped before it ran helm.
	cutShort bool
}

// kind returns the type of the terminal event.
func (o outcome) kind() helmtrail.Type {
	switch {
	case o.stop == backend.StopCanceled:
		return helmtrail.TypeCanceled
	case o.exitedWith(0) && o.stop == "":
		return helmtrail.TypeCompleted
	}
	return helmtrail.TypeFailed
}

func (o outcome) exitedWith(code int) bool {
	return o.process.Exit != nil && o.process.Exit.Code != nil && *o.process.Exit.Code == code
}

// end returns the body of the terminal event, without causes, leftovers, notes
// and revisions.
func (o outcome) end() *helmtrail.End {
	end := &helmtrail.End{
		Process:   o.process.Exit,
		Message:   o.process.Message,
		Causes:    []health.Cause{},
		Leftovers: []health.ObjectRef{},
		Agrees:    o.agrees(),
	}
	if o.process.Exit != nil {
		end.ExitCode = o.process.Exit.Code
	}
	if newest := o.newest(); newest != nil {
		end.Release = &helmtrail.RevisionStatus{Revision: newest.Number, Status: newest.Status()}
	}
	switch {
	case o.kind() == helmtrail.TypeCompleted:
		end.Message = ""
	case o.stop == backend.StopCanceled:
		killed := canceledCode
		end.ExitCode = &killed
		end.Message = join("the operation was canceled", o.process.Message)
	case o.stop == backend.StopInterrupted:
		end.Reason = helmtrail.ReasonInterrupted
		end.Message = join("helmtrail was stopped and ended helm", o.process.Message)
	case o.stop == backend.StopTimeout:
		end.Reason = helmtrail.ReasonTimeout
		end.Message = join(fmt.Sprintf("the deadline of %v passed and helm was ended", o.request.Options.Deadline()), o.process.Message)
	case o.process.Exit == nil && (o.ran || o.cutShort):
		end.Reason = helmtrail.ReasonInterrupted
		end.Message = o.process.Problem
	case o.refused:
		end.Reason = helmtrail.ReasonPending
		end.Message = o.process.Problem
	case o.process.Exit == nil:
		end.Reason = helmtrail.ReasonStart
		end.Message = o.process.Problem
	default:
		end.Reason = helmtrail.ReasonExit
		if end.Message == "" {
			end.Message = "helm ended " + describe(*o.process.Exit) + " and gave no reason"
		}
	}
	end.Hint = o.hint()
	return end
}

// canceledCode is the exit code of CANCELED: 128 plus SIGKILL, as a shell reports
// a killed process. The end event's process field has helm's real end.
const canceledCode = 137

func join(first, second string) string {
	if second == "" {
		return first
	}
	return first + ": " + second
}

func describe(exit helmtrail.Exit) string {
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

// ours returns the revision that the session made, nil if there is none. Helm's
// own rollback after a failure does not count.
func (o outcome) ours() *decoder.Revision {
	c := ownership.Claimant{Session: o.session, Origin: helmtrail.OriginHelmtrail, Operation: o.request.Operation, Target: o.request.Revision}
	for _, r := range o.after {
		if c.Owns(ownership.TraceOf(r), o.start, nil) {
			return r
		}
	}
	return nil
}

// agrees reports whether helm's exit agrees with the release; nil if there is
// nothing to compare.
func (o outcome) agrees() *bool {
	if !o.known || o.process.Exit == nil || o.request.Options.DryRun != "" {
		return nil
	}
	is := func(v bool) *bool { return &v }
	succeeded, ours := o.exitedWith(0), o.ours()
	switch {
	case o.request.Operation == helmtrail.OperationUninstall && o.start == 0 && o.newest() == nil:
		return nil // there was nothing to remove
	case o.request.Operation == helmtrail.OperationUninstall:
		return is(o.removed() == succeeded)
	case ours != nil && ours.Status() == decoder.StatusSuperseded:
		return is(true) // helm succeeded, and somebody made a newer revision since
	case ours != nil && succeeded:
		return is(ours.Status() == decoder.StatusDeployed)
	case ours != nil:
		return is(ours.Status() == decoder.StatusFailed)
	case succeeded:
		return is(false)
	case o.undone():
		return is(true)
	}
	return nil // helm refused before it wrote a record
}

// removed reports whether the release is in the state after an uninstall.
func (o outcome) removed() bool {
	newest := o.newest()
	return newest == nil || o.request.Options.KeepHistory && newest.Status() == decoder.StatusUninstalled
}

// undone reports whether helm uninstalled its own failed install.
func (o outcome) undone() bool {
	installs := o.request.Operation == helmtrail.OperationInstall || o.request.Operation == helmtrail.OperationUpgrade && o.request.Options.Install
	return installs && o.request.Options.RollbackOnFailure && o.seen && o.newest() == nil
}

// hint returns the ways out of a pending state.
func (o outcome) hint() string {
	newest := o.newest()
	if newest == nil || !decoder.Busy(newest.Status()) {
		return ""
	}
	recovery := "recover the release by " + alternatives(strategies(newest.Status()))
	if newest.Number > o.first || o.ran && newest.Status() == decoder.StatusUninstalling && o.request.Operation == helmtrail.OperationUninstall {
		return fmt.Sprintf("revision %d was left %s and nobody works on it any more; %s", newest.Number, newest.Status(), recovery)
	}
	return fmt.Sprintf("revision %d has been %s since %s, and no session of helmtrail's works on it; if nobody else does, %s",
		newest.Number, newest.Status(), busySince(newest).UTC().Format(time.RFC3339), recovery)
}

// alternatives joins strategies with commas and "or".
func alternatives(of []helmtrail.Strategy) string {
	var text strings.Builder
	for i, s := range of {
		switch {
		case i > 0 && i == len(of)-1:
			text.WriteString(" or ")
		case i > 0:
			text.WriteString(", ")
		}
		text.WriteString(string(s))
	}
	return text.String()
}

package stream_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
	"github.com/helmtrail/helmtrail/stream/backend"
)

// revision returns a revision of the test's release. by is the session in its label.
func revision(number int, status decoder.Status, by string) *decoder.Revision {
	return &decoder.Revision{
		Number: number, LabelStatus: status, Session: by,
		Header: &decoder.Header{Status: status, LastDeployed: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)},
	}
}

// exits are the ways in which a process ends, by their names in the tables.
var exits = map[string]*helmtrail.Exit{
	"0": exited(0), "1": exited(1), "143": exited(143), "KILL": {Signal: "SIGKILL"}, "unseen": nil,
}

func exited(code int) *helmtrail.Exit { return &helmtrail.Exit{Code: &code} }

// agreement checks one table: a row for each exit, a column for each status,
// yes, no or - (nothing to compare) in each cell.
func agreement(t *testing.T, table string, outcome func(status decoder.Status) stream.Outcome) {
	t.Helper()
	rows := strings.Split(strings.TrimSpace(table), "\n")
	statuses := strings.Fields(rows[0])[1:]
	for _, row := range rows[1:] {
		cells := strings.Fields(row)
		exit, ok := exits[cells[0]]
		if !ok || len(cells) != len(statuses)+1 {
			t.Fatalf("the table's row %q is wrong", row)
		}
		for i, status := range statuses {
			o := outcome(decoder.Status(status))
			o.Process.Exit = exit
			_, end := o.End()
			if got := word(end.Agrees); got != cells[i+1] {
				t.Errorf("exit %s, %s: agrees is %s, want %s", cells[0], status, got, cells[i+1])
			}
			o.Unread = true
			if _, end := o.End(); end.Agrees != nil {
				t.Errorf("exit %s, %s: agrees is %s although the release could not be read", cells[0], status, word(end.Agrees))
			}
		}
	}
}

func word(agrees *bool) string {
	switch {
	case agrees == nil:
		return "-"
	case *agrees:
		return "yes"
	}
	return "no"
}

// made is the table for operations that create a revision. none means that Helm
// refused before it wrote a record. superseded means that the revision was done
// before somebody else created the next one.
const made = `
exit    none  pending-install  pending-upgrade  pending-rollback  deployed  failed  superseded  uninstalling  uninstalled  unknown  brand-new
0       no    no               no               no                yes       no      yes         no            no           no       no
1       -     no               no               no                no        yes     yes         no            no           no       no
143     -     no               no               no                no        yes     yes         no            no           no       no
KILL    -     no               no               no                no        yes     yes         no            no           no       no
unseen  -     -                -                -                 -         -       -           -             -            -        -`

func TestDoesTheExitFitTheRevision(t *testing.T) {
	t.Run("install", func(t *testing.T) {
		agreement(t, made, func(status decoder.Status) stream.Outcome {
			o := stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationInstall}}
			if status != "none" {
				o.After = []*decoder.Revision{revision(1, status, stream.OutcomeSession)}
			}
			return o
		})
	})
	t.Run("upgrade", func(t *testing.T) {
		agreement(t, made, func(status decoder.Status) stream.Outcome {
			o := stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 4}
			o.After = []*decoder.Revision{revision(4, decoder.StatusDeployed, "before")}
			if status != "none" {
				o.After = append(o.After, revision(5, status, stream.OutcomeSession))
			}
			return o
		})
	})
	t.Run("rollback", func(t *testing.T) {
		agreement(t, made, func(status decoder.Status) stream.Outcome {
			o := stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 2}, Start: 4}
			o.After = []*decoder.Revision{revision(4, decoder.StatusDeployed, "before")}
			if status != "none" {
				own := revision(5, status, "whoever installed revision 2")
				own.Header.Description = "Rollback to 2"
				o.After = append(o.After, own)
			}
			return o
		})
	})
	uninstall := func(options helmtrail.Options) func(decoder.Status) stream.Outcome {
		return func(status decoder.Status) stream.Outcome {
			o := stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUninstall, Options: options}, Start: 4}
			if status != "none" {
				o.After = []*decoder.Revision{revision(4, status, "before")}
			}
			return o
		}
	}
	t.Run("uninstall", func(t *testing.T) {
		agreement(t, `
exit    none  deployed  failed  pending-upgrade  uninstalling  uninstalled
0       yes   no        no      no               no            no
1       no    yes       yes     yes              yes           yes
143     no    yes       yes     yes              yes           yes
KILL    no    yes       yes     yes              yes           yes
unseen  -     -         -       -                -             -`, uninstall(helmtrail.Options{}))
	})
	t.Run("uninstall that keeps the history", func(t *testing.T) {
		agreement(t, `
exit    none  deployed  failed  pending-upgrade  uninstalling  uninstalled
0       yes   no        no      no               no            yes
1       no    yes       yes     yes              yes           no
143     no    yes       yes     yes              yes           no
KILL    no    yes       yes     yes              yes           no
unseen  -     -         -       -                -             -`, uninstall(helmtrail.Options{KeepHistory: true}))
	})
}

func TestWhatHelmDoesByItself(t *testing.T) {
	rolled := revision(6, decoder.StatusDeployed, "whoever installed revision 4")
	rolled.Header.Description = "Rollback to 4"
	undoes := helmtrail.Options{RollbackOnFailure: true}
	tests := []struct {
		name    string
		outcome stream.Outcome
		agrees  string
		release *helmtrail.RevisionStatus
	}{
		{
			"a failed upgrade that helm rolled back itself",
			stream.Outcome{
				Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade, Options: undoes}, Start: 4, Process: backend.ProcessEnd{Exit: exited(1)},
				After: []*decoder.Revision{revision(4, decoder.StatusSuperseded, "before"), revision(5, decoder.StatusFailed, stream.OutcomeSession), rolled},
			},
			"yes", &helmtrail.RevisionStatus{Revision: 6, Status: decoder.StatusDeployed},
		},
		{
			"a first install that helm uninstalled itself",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationInstall, Options: undoes}, Process: backend.ProcessEnd{Exit: exited(1)}, Seen: true},
			"yes", nil,
		},
		{
			"the same by an upgrade that installs",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade, Options: helmtrail.Options{Install: true, RollbackOnFailure: true}}, Process: backend.ProcessEnd{Exit: exited(1)}, Seen: true},
			"yes", nil,
		},
		{
			"a first install that helm refused before it wrote a record",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationInstall, Options: undoes}, Process: backend.ProcessEnd{Exit: exited(1)}},
			"-", nil,
		},
		{
			"a first install that was uninstalled unasked",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationInstall}, Process: backend.ProcessEnd{Exit: exited(1)}, Seen: true},
			"-", nil,
		},
		{
			"somebody else's revision, deployed meanwhile",
			stream.Outcome{
				Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 4, Process: backend.ProcessEnd{Exit: exited(0)},
				After: []*decoder.Revision{revision(5, decoder.StatusDeployed, "another")},
			},
			"no", &helmtrail.RevisionStatus{Revision: 5, Status: decoder.StatusDeployed},
		},
		{
			"our label, copied by helm to somebody else's later revision",
			stream.Outcome{
				Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 4, Process: backend.ProcessEnd{Exit: exited(1)},
				After: []*decoder.Revision{revision(5, decoder.StatusFailed, stream.OutcomeSession), revision(6, decoder.StatusDeployed, stream.OutcomeSession)},
			},
			"yes", &helmtrail.RevisionStatus{Revision: 6, Status: decoder.StatusDeployed},
		},
		{
			"a dry run, which leaves everything as it was",
			stream.Outcome{
				Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade, Options: helmtrail.Options{DryRun: helmtrail.DryRunServer}}, Start: 4, Process: backend.ProcessEnd{Exit: exited(0)},
				After: []*decoder.Revision{revision(4, decoder.StatusDeployed, "before")},
			},
			"-", &helmtrail.RevisionStatus{Revision: 4, Status: decoder.StatusDeployed},
		},
		{
			"an uninstall of a missing release",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUninstall}, Process: backend.ProcessEnd{Exit: exited(1)}},
			"-", nil,
		},
	}
	for _, test := range tests {
		_, end := test.outcome.End()
		if got := word(end.Agrees); got != test.agrees {
			t.Errorf("%s: agrees is %s, want %s", test.name, got, test.agrees)
		}
		if diff := cmp.Diff(test.release, end.Release); diff != "" {
			t.Errorf("%s: release (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestTheTerminalEvent(t *testing.T) {
	const helms = "UPGRADE FAILED: no"
	tests := []struct {
		exit   string
		stop   backend.StopCause
		notRun bool
		want   string // type, reason, exit code, message
	}{
		{"0", "", false, "COMPLETED  0 "},
		{"1", "", false, "FAILED exit 1 " + helms},
		{"143", "", false, "FAILED exit 143 " + helms},
		{"KILL", "", false, "FAILED exit - " + helms},
		{"unseen", "", false, "FAILED interrupted - the supervisor died"},
		{"unseen", "", true, "FAILED start - the supervisor died"},
		{"0", backend.StopCanceled, false, "CANCELED  137 the operation was canceled: " + helms},
		{"1", backend.StopCanceled, false, "CANCELED  137 the operation was canceled: " + helms},
		{"143", backend.StopCanceled, false, "CANCELED  137 the operation was canceled: " + helms},
		{"KILL", backend.StopCanceled, false, "CANCELED  137 the operation was canceled: " + helms},
		{"unseen", backend.StopCanceled, true, "CANCELED  137 the operation was canceled: " + helms},
		{"0", backend.StopTimeout, false, "FAILED timeout 0 the deadline of 5m15s passed and helm was ended: " + helms},
		{"1", backend.StopTimeout, false, "FAILED timeout 1 the deadline of 5m15s passed and helm was ended: " + helms},
		{"KILL", backend.StopTimeout, false, "FAILED timeout - the deadline of 5m15s passed and helm was ended: " + helms},
		{"1", backend.StopInterrupted, false, "FAILED interrupted 1 helmtrail was stopped and ended helm: " + helms},
		{"0", backend.StopInterrupted, false, "FAILED interrupted 0 helmtrail was stopped and ended helm: " + helms},
		{"KILL", backend.StopInterrupted, false, "FAILED interrupted - helmtrail was stopped and ended helm: " + helms},
	}
	operations := []helmtrail.Operation{helmtrail.OperationInstall, helmtrail.OperationUpgrade, helmtrail.OperationRollback, helmtrail.OperationUninstall}
	for _, test := range tests {
		for _, operation := range operations {
			kind, end := stream.Outcome{
				Request: helmtrail.Request{Operation: operation}, Stop: test.stop, NotRun: test.notRun,
				Process: backend.ProcessEnd{Exit: exits[test.exit], Message: helms, Problem: "the supervisor died"},
			}.End()
			code := "-"
			if end.ExitCode != nil {
				code = fmt.Sprint(*end.ExitCode)
			}
			if got := fmt.Sprintf("%s %s %s %s", kind, end.Reason, code, end.Message); got != test.want {
				t.Errorf("%s, exit %s, stop %q: %q, want %q", operation, test.exit, test.stop, got, test.want)
			}
			if diff := cmp.Diff(exits[test.exit], end.Process); diff != "" {
				t.Errorf("%s, exit %s, stop %q: process (-want +got):\n%s", operation, test.exit, test.stop, diff)
			}
		}
	}
}

func TestAHintNamesTheWayOutOfAPendingState(t *testing.T) {
	pending := []*decoder.Revision{revision(2, decoder.StatusPendingUpgrade, "another")}
	own := []*decoder.Revision{revision(2, decoder.StatusPendingUpgrade, stream.OutcomeSession)}
	uninstalling := []*decoder.Revision{revision(2, decoder.StatusUninstalling, "before")}
	tests := []struct {
		name    string
		outcome stream.Outcome
		want    string
	}{
		{
			"our own revision", stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 1, After: own},
			"revision 2 was left pending-upgrade and nobody works on it any more; recover the release by rollback, markFailed or uninstall",
		},
		{
			"another's revision, which helm refused to replace",
			stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 2, After: pending},
			"revision 2 has been pending-upgrade since 2026-11-30T12:00:00Z, and no session of helmtrail's works on it; if nobody else does, recover the release by rollback, markFailed or uninstall",
		},
		{
			"an interrupted uninstall", stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUninstall}, Start: 2, After: uninstalling},
			"revision 2 was left uninstalling and nobody works on it any more; recover the release by uninstall",
		},
		{
			"a release that is at rest", stream.Outcome{Request: helmtrail.Request{Operation: helmtrail.OperationUpgrade}, Start: 1, After: []*decoder.Revision{revision(2, decoder.StatusFailed, stream.OutcomeSession)}}, "",
		},
	}
	for _, test := range tests {
		test.outcome.Process.Exit = exited(1)
		if _, end := test.outcome.End(); end.Hint != test.want {
			t.Errorf("%s: hint\n%q, want\n%q", test.name, end.Hint, test.want)
		}
	}
}

func TestWhoLeftARevisionPending(t *testing.T) {
	made := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // as revision has it
	left := revision(2, decoder.StatusPendingUpgrade, "the id")
	ended := made.Add(time.Minute)
	session := func(change func(*helmtrail.Session)) helmtrail.Session {
		s := helmtrail.Session{
			ID: "the id", Origin: helmtrail.OriginHelmtrail, StartedAt: made.Add(-time.Second), EndedAt: &ended,
			End: &helmtrail.End{Release: &helmtrail.RevisionStatus{Revision: 2, Status: decoder.StatusPendingUpgrade}},
		}
		change(&s)
		return s
	}
	tests := []struct {
		name    string
		session helmtrail.Session
		want    bool
	}{
		{"the session that made it", session(func(*helmtrail.Session) {}), true},
		{"the same, if the release could not be read at the end", session(func(s *helmtrail.Session) { s.End.Release = nil }), true},
		{"another, if the release could not be read at the end", session(func(s *helmtrail.Session) { s.End.Release, s.ID = nil, "another" }), false},
		{"a later one that helm refused", session(func(s *helmtrail.Session) { s.StartedAt = made.Add(10 * time.Second) }), false},
		{"an earlier one", session(func(s *helmtrail.Session) { before := made.Add(-time.Millisecond); s.EndedAt = &before }), false},
		{"one that left the revision in another state", session(func(s *helmtrail.Session) { s.End.Release.Status = decoder.StatusDeployed }), false},
		{"one that was only observed", session(func(s *helmtrail.Session) { s.Origin = helmtrail.OriginOutside }), false},
		{"one that is running", session(func(s *helmtrail.Session) { s.End, s.EndedAt = nil, nil }), false},
	}
	for _, test := range tests {
		if got := stream.Left(test.session, left); got != test.want {
			t.Errorf("%s: left is %v, want %v", test.name, got, test.want)
		}
	}
}

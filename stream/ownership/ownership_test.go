package ownership_test

import (
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/ownership"
)

// Each row is one revision that appears while a session runs.
func TestWhichRevisionsASessionOwns(t *testing.T) {
	upgrade := ownership.Claimant{Session: "s-1", Origin: helmtrail.OriginHelmtrail, Operation: helmtrail.OperationUpgrade}
	install, rollback, uninstall, outside, undoing := upgrade, upgrade, upgrade, upgrade, upgrade
	install.Operation, uninstall.Operation = helmtrail.OperationInstall, helmtrail.OperationUninstall
	rollback.Operation, rollback.Target = helmtrail.OperationRollback, 2
	outside.Origin = helmtrail.OriginOutside
	undoing.Undoes = true
	recovery := uninstall
	recovery.Operation = helmtrail.OperationRecover

	revision := func(number int, session string, status decoder.Status, description string) ownership.Trace {
		return ownership.TraceOf(&decoder.Revision{Number: number, Session: session, Header: &decoder.Header{Status: status, Description: description}})
	}
	helm4 := func(number, target int) ownership.Trace {
		return ownership.TraceOf(&decoder.Revision{Number: number, Header: &decoder.Header{Status: decoder.StatusFailed, Description: "by hand", RollbackRevision: target}})
	}
	unread := func(number int, status decoder.Status) ownership.Trace {
		return ownership.TraceOf(&decoder.Revision{Number: number, LabelStatus: status})
	}
	pending, deployed, failed := decoder.StatusPendingUpgrade, decoder.StatusDeployed, decoder.StatusFailed
	pendingRollback := decoder.StatusPendingRollback
	tests := []struct {
		name     string
		claimant ownership.Claimant
		trace    ownership.Trace
		start    int
		own      []int
		want     bool
	}{
		{"an install's own", install, revision(1, "s-1", decoder.StatusPendingInstall, "Initial install underway"), 0, nil, true},
		{"an upgrade's own", upgrade, revision(5, "s-1", pending, "Preparing upgrade"), 4, nil, true},
		{"an upgrade's own, done", upgrade, revision(5, "s-1", deployed, "Upgrade complete"), 4, nil, true},
		{"an upgrade's own, again", upgrade, revision(5, "s-1", deployed, "Upgrade complete"), 4, []int{5}, false},
		{"the revision that was there before, with the label", upgrade, revision(4, "s-1", deployed, ""), 4, nil, false},
		{"another's, without a label", upgrade, revision(5, "", pending, ""), 4, nil, false},
		{"another's, with another label", upgrade, revision(5, "s-2", pending, ""), 4, nil, false},
		{"a later one, to which Helm copied the label", upgrade, revision(6, "s-1", pending, ""), 4, []int{5}, false},
		{"another attempt's own", upgrade, revision(6, "s-1", pending, ""), 5, []int{5}, true},

		{"Helm's own rollback", undoing, revision(6, "s-0", pendingRollback, "Rollback to 4"), 4, []int{5}, true},
		{"Helm's own rollback, unread", undoing, unread(6, pendingRollback), 4, []int{5}, true},
		{"Helm's own rollback, which failed", undoing, revision(6, "s-0", failed, `Rollback "web" failed: no`), 4, []int{5}, true},
		{"a rollback before the upgrade wrote anything", undoing, revision(5, "s-0", pendingRollback, "Rollback to 4"), 4, nil, false},
		{"a rollback that Helm was not asked for", upgrade, revision(6, "s-0", pendingRollback, "Rollback to 4"), 4, []int{5}, false},
		{"an upgrade after the failed one", undoing, revision(6, "s-0", pending, "Preparing upgrade"), 4, []int{5}, false},

		{"a rollback's own", rollback, revision(5, "s-0", pendingRollback, "Rollback to 2"), 4, nil, true},
		{"a rollback's own, by the field of Helm 4", rollback, helm4(5, 2), 4, nil, true},
		{"a rollback's own, unread", rollback, unread(5, pendingRollback), 4, nil, true},
		{"a rollback's own, refused by the API server", rollback, revision(5, "s-0", failed, `Rollback "web" failed: no`), 4, nil, true},
		{"a rollback's own, never ready", rollback, revision(5, "s-0", failed, `Release "web" failed: timed out`), 4, nil, true},
		{"a rollback to another revision", rollback, revision(5, "s-0", deployed, "Rollback to 3"), 4, nil, false},
		{"a rollback to another revision, pending", rollback, revision(5, "s-0", pendingRollback, "Rollback to 22"), 4, nil, false},
		{"a rollback to another revision, by the field of Helm 4", rollback, helm4(5, 3), 4, nil, false},
		{"an upgrade that mentions a rollback", rollback, revision(5, "s-0", deployed, "Rollback of the new search"), 4, nil, false},
		{"a second rollback to the same revision", rollback, revision(6, "s-0", deployed, "Rollback to 2"), 4, []int{5}, false},
		{"an older rollback to the same revision", rollback, revision(4, "s-0", deployed, "Rollback to 2"), 4, nil, false},

		{"an upgrade beside an uninstall", uninstall, revision(5, "s-1", pending, ""), 4, nil, false},
		{"an upgrade beside a recovery", recovery, revision(5, "s-1", pending, ""), 4, nil, false},
		{"any revision, for an observed session", outside, revision(9, "s-2", deployed, "Upgrade complete"), 4, []int{5}, true},
	}
	for _, test := range tests {
		if got := test.claimant.Owns(test.trace, test.start, test.own); got != test.want {
			t.Errorf("%s: owned is %v, want %v", test.name, got, test.want)
		}
	}
}

package stream

import (
	"slices"
	"testing"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
)

// Sessions stored by earlier versions of helmtrail contain no labels.
func TestRecalledRevisionsAreThoseOfTheOperation(t *testing.T) {
	body := func(revision int, status decoder.Status, description string) *helmtrail.ReleaseStatus {
		return &helmtrail.ReleaseStatus{Revision: revision, Status: status, Description: description, Change: decoder.ChangeStatus}
	}
	tests := []struct {
		name    string
		request helmtrail.Request
		events  []*helmtrail.ReleaseStatus
		want    []int
	}{
		{
			"an upgrade that Helm rolls back", helmtrail.Request{Operation: helmtrail.OperationUpgrade, Options: helmtrail.Options{RollbackOnFailure: true}},
			[]*helmtrail.ReleaseStatus{
				body(5, decoder.StatusPendingUpgrade, ""), body(5, decoder.StatusFailed, ""),
				body(6, decoder.StatusPendingRollback, "Rollback to 4"), body(5, decoder.StatusSuperseded, ""), body(6, decoder.StatusDeployed, "Rollback to 4"),
			},
			[]int{5, 6},
		},
		{
			"an install in two attempts", helmtrail.Request{Operation: helmtrail.OperationInstall},
			[]*helmtrail.ReleaseStatus{body(1, decoder.StatusPendingInstall, ""), body(1, decoder.StatusFailed, ""), body(2, decoder.StatusPendingInstall, "")},
			[]int{1, 2},
		},
		{
			"a rollback", helmtrail.Request{Operation: helmtrail.OperationRollback, Revision: 2},
			[]*helmtrail.ReleaseStatus{body(5, decoder.StatusPendingRollback, "Rollback to 2"), body(4, decoder.StatusSuperseded, ""), body(5, decoder.StatusDeployed, "Rollback to 2")},
			[]int{5},
		},
		{
			"an uninstall", helmtrail.Request{Operation: helmtrail.OperationUninstall},
			[]*helmtrail.ReleaseStatus{body(4, decoder.StatusUninstalling, "")},
			nil,
		},
	}
	for _, test := range tests {
		r := newRun(NewOperations(Setup{}), helmtrail.OriginHelmtrail, helmtrail.SessionRef{ID: "s-1"}, test.request, nil)
		for _, event := range test.events {
			r.releases.recallOwn(event)
		}
		if got := r.releases.own; !slices.Equal(got, test.want) {
			t.Errorf("%s: recalled %v, want %v", test.name, got, test.want)
		}
	}
}

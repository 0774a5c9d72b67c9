package decoder_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder"
)

// state returns a revision with only the fields that transitions depend on. A
// record of "" was not read, and a record of "?" could not be decoded.
func state(uid, version string, label, record decoder.Status) *decoder.Revision {
	r := &decoder.Revision{Name: "web", Number: 1, LabelStatus: label,
		Secret: decoder.SecretRef{Name: "sh.helm.release.v1.web.v1", UID: uid, ResourceVersion: version}}
	switch record {
	case "":
	case "?":
		r.Digest, r.Problem = "d", "not a helm record"
	default:
		r.Digest, r.Header = "d", &decoder.Header{Name: "web", Status: record}
	}
	return r
}

func TestCompare(t *testing.T) {
	const (
		pending  = decoder.StatusPendingInstall
		deployed = decoder.StatusDeployed
		failed   = decoder.StatusFailed
		none     = decoder.Status("none")
	)
	for name, tt := range map[string]struct {
		old, new *decoder.Revision
		// previous is empty if there is no transition.
		previous decoder.Status
		late     bool
	}{
		"appears":                              {nil, state("a", "1", pending, pending), "", false},
		"appears, not read":                    {nil, state("a", "1", pending, ""), "", true},
		"appears, unreadable":                  {nil, state("a", "1", pending, "?"), "", false},
		"status changes":                       {state("a", "1", pending, pending), state("a", "2", deployed, deployed), pending, false},
		"nothing changed, seen again":          {state("a", "1", pending, pending), state("a", "1", pending, pending), none, false},
		"same version, read only now":          {state("a", "1", pending, ""), state("a", "1", pending, failed), none, false},
		"another version, same status":         {state("a", "1", pending, pending), state("a", "2", pending, pending), none, false},
		"deleted and recreated":                {state("a", "1", deployed, deployed), state("b", "5", deployed, deployed), "", false},
		"the label alone is edited":            {state("a", "1", deployed, failed), state("a", "2", "test", failed), none, false},
		"the record alone changes":             {state("a", "1", deployed, deployed), state("a", "2", deployed, failed), deployed, false},
		"the new state was overwritten":        {state("a", "1", pending, pending), state("a", "2", deployed, ""), pending, true},
		"overwritten, same label":              {state("a", "1", deployed, failed), state("a", "2", deployed, ""), none, false},
		"known by label, then read":            {state("a", "1", pending, ""), state("a", "2", deployed, deployed), pending, false},
		"known by label, the record differs":   {state("a", "1", deployed, ""), state("a", "2", deployed, failed), none, false},
		"becomes unreadable, label changes":    {state("a", "1", pending, pending), state("a", "2", failed, "?"), pending, false},
		"becomes unreadable, label stays":      {state("a", "1", deployed, failed), state("a", "2", deployed, "?"), none, false},
		"an unknown status":                    {state("a", "1", pending, pending), state("a", "2", "pending-test", "pending-test"), pending, false},
		"the label disagrees, then the record": {state("a", "1", "test", failed), state("a", "2", "test", deployed), failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := decoder.Compare(tt.old, tt.new)
			var want decoder.Transition
			if tt.previous != none {
				want = decoder.Transition{Change: decoder.ChangeStatus, Revision: tt.new, Previous: tt.previous, Late: tt.late}
			}
			if diff := cmp.Diff(want, got); ok != (tt.previous != none) || diff != "" {
				t.Errorf("transition %v (-want +got):\n%s", ok, diff)
			}
		})
	}
}

// https://github.com/helm/helm/issues/5595
func TestLabelPatchedByHandIsNotATransition(t *testing.T) {
	first := state("a", "1", decoder.StatusDeployed, decoder.StatusFailed)
	got, ok := decoder.Compare(nil, first)
	if !ok || got.Revision.Status() != decoder.StatusFailed {
		t.Errorf("the Secret appeared as %v %q, want the record's failed", ok, got.Revision.Status())
	}
	if got := decoder.Disagreements(first, &decoder.Record{Header: *first.Header}); len(got) != 1 || got[0].Code != decoder.AnomalyLabelStatus {
		t.Errorf("disagreements %v, want that of label and record", got)
	}
	if got, ok := decoder.Compare(first, state("a", "2", "test", decoder.StatusFailed)); ok {
		t.Errorf("the edit of the label gave %+v", got)
	}
}

func TestDeleted(t *testing.T) {
	revision := func(number int, status decoder.Status) *decoder.Revision {
		return &decoder.Revision{Name: "web", Number: number, LabelStatus: status}
	}
	for name, tt := range map[string]struct {
		gone   *decoder.Revision
		others []*decoder.Revision
		want   decoder.Change
	}{
		"older one while deployed":          {revision(4, "superseded"), []*decoder.Revision{revision(5, "superseded"), revision(6, "deployed")}, decoder.ChangePruned},
		"older one during an upgrade":       {revision(4, "superseded"), []*decoder.Revision{revision(7, "pending-upgrade"), revision(6, "deployed")}, decoder.ChangePruned},
		"the newest, uninstalling":          {revision(6, "uninstalling"), []*decoder.Revision{revision(5, "superseded")}, decoder.ChangeUninstalled},
		"older one, newest uninstalling":    {revision(5, "superseded"), []*decoder.Revision{revision(6, "uninstalling")}, decoder.ChangeUninstalled},
		"the only one, uninstalling":        {revision(1, "uninstalling"), nil, decoder.ChangeUninstalled},
		"history that was kept is removed":  {revision(1, "superseded"), []*decoder.Revision{revision(2, "uninstalled")}, decoder.ChangeUninstalled},
		"older one was uninstalled before":  {revision(1, "uninstalled"), []*decoder.Revision{revision(2, "deployed")}, decoder.ChangePruned},
		"the newest, deployed":              {revision(6, "deployed"), []*decoder.Revision{revision(5, "superseded")}, decoder.ChangeRemoved},
		"the only one, failed":              {revision(1, "failed"), nil, decoder.ChangeRemoved},
		"older uninstalling, newest failed": {revision(3, "failed"), []*decoder.Revision{revision(2, "uninstalling")}, decoder.ChangeRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			want := decoder.Transition{Change: tt.want, Revision: tt.gone, Previous: tt.gone.Status()}
			if diff := cmp.Diff(want, decoder.Deleted(tt.gone, tt.others)); diff != "" {
				t.Errorf("transition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBusy(t *testing.T) {
	for status, want := range map[decoder.Status]bool{
		"pending-install": true, "pending-upgrade": true, "pending-rollback": true, "uninstalling": true,
		"deployed": false, "failed": false, "superseded": false, "uninstalled": false, "unknown": false, "pending-test": false, "": false,
	} {
		if decoder.Busy(status) != want {
			t.Errorf("Busy(%q) is %v", status, !want)
		}
	}
}

package decoder

// Compare reports whether the step from old to new, two states of one release
// Secret, is a transition. old is nil if the Secret did not exist before.
//
// The record's status decides. If only the label of one of the two states is
// known, the labels must differ too, so that an edited label that contradicts
// the record is not a transition. States with the same UID and resource
// version, and states with the same status, yield no transition. A Secret that
// was deleted and created again counts as new.
//
// The caller sets the transition's Time. Late is set if the new status comes
// only from the label because the record was not read.
func Compare(old, new *Revision) (transition Transition, ok bool) {
	t := Transition{Change: ChangeStatus, Revision: new, Late: new.Digest == ""}
	if old == nil || old.Secret.UID != new.Secret.UID {
		return t, true
	}
	if old.Secret.ResourceVersion == new.Secret.ResourceVersion || old.Status() == new.Status() {
		return Transition{}, false
	}
	byRecord := old.Header != nil && new.Header != nil
	if !byRecord && old.LabelStatus == new.LabelStatus {
		return Transition{}, false
	}
	t.Previous = old.Status()
	return t, true
}

// Deleted classifies the deletion of a Secret. gone is its last state. others
// are the last known states of the release's other revisions, including
// revisions that turn out to be deleted at the same moment.
//
// While the newest revision is uninstalling, or was uninstalled with its
// history kept, every deletion belongs to the uninstall: Helm removes the
// records lowest first. Otherwise the deletion of an older revision is pruning,
// and the newest revision was deleted by hand.
//
// The caller sets the transition's Time.
func Deleted(gone *Revision, others []*Revision) Transition {
	newest := gone
	for _, r := range others {
		if r.Number > newest.Number {
			newest = r
		}
	}
	t := Transition{Change: ChangeRemoved, Revision: gone, Previous: gone.Status()}
	switch status := newest.Status(); {
	case status == StatusUninstalling || status == StatusUninstalled:
		t.Change = ChangeUninstalled
	case newest != gone:
		t.Change = ChangePruned
	}
	return t
}

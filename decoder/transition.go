package decoder

// Compare says whether the step from old to new, two states of one release
// Secret, is a transition. old is nil when the Secret was not there before.
//
// The status in the record decides; where one of the two is known by its label
// only, the labels must differ too, so that an edit of a label that the record
// contradicts is no transition. The same UID and resource version, and any step
// that changes no status, give none. A Secret that was deleted and made anew
// has appeared.
//
// The caller sets the transition's Time. Late is set when nothing but the label
// tells the new status because the record was not read.
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

// Deleted says what the deletion of a Secret means. gone is its last state and
// others are the release's other revisions as they were last seen; revisions
// that turn out to be deleted at the same moment belong to others too.
//
// While the newest revision is uninstalling, or was uninstalled with its
// history kept, every deletion is the uninstall: Helm removes the records
// lowest first. Otherwise the deletion of an older revision is pruning, and
// that of the newest one was done by hand.
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

package informer

import (
	"slices"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// pending is a transition in the queue of its release. It may wait for its record
// to be fetched.
type pending struct {
	e   *entry
	rev *decoder.Revision
	// deleted is the transition that a delete makes; nil for a write.
	deleted *decoder.Transition
	time    time.Time
	late    bool
	unread  bool
}

// stored adds a state that the informer has received. The states of one Secret
// arrive in order. It reports whether the Secret must be fetched, and returns the
// transitions that are complete. As in the other methods, a transition without a
// Change is a write that kept the status.
//
// The first inventory causes no transitions, because it existed before.
func (x *index) stored(s *secret, inventory bool, now time.Time) (fetch bool, ready []decoder.Transition) {
	e := x.secrets[s.key()]
	if s.foreign {
		if e != nil {
			ready = x.deleted(s, false, now)
		}
		return false, ready
	}
	if e != nil && e.rev.Secret.UID != string(s.UID) {
		// It was deleted and created again while nothing was watched.
		ready = x.deleted(&secret{ObjectMeta: s.ObjectMeta}, true, now)
		e = nil
	}
	if e != nil && e.rev.Secret.ResourceVersion == s.ResourceVersion {
		return false, ready
	}
	if e == nil {
		e = &entry{}
	} else {
		x.overwritten(e)
	}
	r := x.put(e, s.revision, s.read)
	r.newest = r.top().rev
	if inventory {
		e.notified = s.revision
		return false, ready
	}
	r.queue = append(r.queue, &pending{e: e, rev: s.revision, time: now, late: !s.read, unread: !s.read})
	return !s.read, append(ready, x.drain(releaseOf(s.revision))...)
}

// deleted records the delete of a Secret. Late means that the delete itself was not
// seen.
func (x *index) deleted(s *secret, late bool, now time.Time) []decoder.Transition {
	e := x.secrets[s.key()]
	if e == nil {
		return nil
	}
	x.overwritten(e)
	last := e.rev
	if !e.read && s.read && !s.foreign && string(s.UID) == last.Secret.UID {
		// The delete carries the bytes of a record that was not read so far.
		last = s.revision
	}
	k := releaseOf(e.rev)
	r := x.remove(e)
	var others []*decoder.Revision
	for _, other := range r.entries {
		others = append(others, other.rev)
	}
	if late && r.newest.Secret.UID != last.Secret.UID {
		// Missed deletes come in any order, so the newest may already be removed.
		others = append(others, r.newest)
	}
	end := decoder.Deleted(last, others)
	r.queue = append(r.queue, &pending{e: e, rev: last, deleted: &end, time: now, late: late})
	return x.drain(k)
}

// overwritten ends the wait for a state of e that was not read in time: its
// transition is made from its label.
func (x *index) overwritten(e *entry) {
	for _, p := range x.releases[releaseOf(e.rev)].queue {
		if p.e == e {
			p.unread = false
		}
	}
}

// fetched records the result of reading want's Secret. A nil got means that want
// can no longer be read, because it was overwritten or deleted; the watch
// delivers the next state.
func (x *index) fetched(want *decoder.Revision, got *secret) []decoder.Transition {
	e := x.secrets[keyOf(want)]
	if e == nil || e.rev != want {
		return nil
	}
	k := releaseOf(want)
	r := x.releases[k]
	if got == nil || string(got.UID) != want.Secret.UID || got.ResourceVersion != want.Secret.ResourceVersion {
		x.overwritten(e)
		return x.drain(k)
	}
	if got.foreign {
		x.remove(e)
		r.queue = slices.DeleteFunc(r.queue, func(p *pending) bool { return p.e == e })
		return x.drain(k)
	}
	waited := false
	for _, p := range r.queue {
		if p.e == e && p.unread {
			p.rev, p.unread, waited = got.revision, false, true
		}
	}
	var ready []decoder.Transition
	if !waited {
		// So far only its label was known; reading the record is no transition.
		e.notified = got.revision
		if got.revision.Name != "" {
			ready = append(ready, decoder.Transition{Revision: got.revision})
		}
	}
	if to := x.put(e, got.revision, true); to.newest == nil || to.newest == want {
		to.newest = got.revision
	}
	return append(ready, x.drain(k)...)
}

// drain removes the complete transitions from the front of a release's queue and
// returns them.
func (x *index) drain(k releaseKey) []decoder.Transition {
	r := x.releases[k]
	if r == nil {
		return nil
	}
	var ready []decoder.Transition
	for len(r.queue) > 0 && !r.queue[0].unread {
		p := r.queue[0]
		r.queue = r.queue[1:]
		t, ok := p.transition()
		if !ok {
			t = decoder.Transition{Time: p.time, Revision: p.rev, Late: p.late}
		}
		if p.rev.Name != "" {
			ready = append(ready, t)
		}
	}
	x.forget(k)
	return ready
}

// transition returns the transition for observers. It is false for a write that
// left the status as it was.
func (p *pending) transition() (decoder.Transition, bool) {
	if p.deleted != nil {
		t := *p.deleted
		t.Time, t.Late = p.time, p.late
		return t, true
	}
	t, ok := decoder.Compare(p.e.notified, p.rev)
	p.e.notified = p.rev
	t.Time, t.Late = p.time, t.Late || p.late
	return t, ok
}

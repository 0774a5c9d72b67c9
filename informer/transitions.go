package informer

import (
	"slices"
	"time"

	"github.com/helmtrail/helmtrail/decoder"
)

// pending is a transition that waits for its turn in the queue of its release,
// and perhaps for its record to be fetched.
type pending struct {
	e   *entry
	rev *decoder.Revision
	// deleted is what the end of the Secret means; nil for a state of it.
	deleted *decoder.Transition
	time    time.Time
	late    bool
	unread  bool
}

// stored takes a state that the informer got to know. The states of one Secret
// come in order. It reports whether the Secret must be fetched, and what can be
// told already; that and what the other methods return holds, without a Change,
// also states that are no transition.
//
// The first inventory makes no transitions: it is what was there before.
func (x *index) stored(s *secret, inventory bool, now time.Time) (fetch bool, told []decoder.Transition) {
	e := x.secrets[s.key()]
	if s.foreign {
		if e != nil {
			told = x.deleted(s, false, now)
		}
		return false, told
	}
	if e != nil && e.rev.Secret.UID != string(s.UID) {
		// Deleted and made anew while nobody watched.
		told = x.deleted(&secret{ObjectMeta: s.ObjectMeta}, true, now)
		e = nil
	}
	if e != nil && e.rev.Secret.ResourceVersion == s.ResourceVersion {
		return false, told
	}
	if e == nil {
		e = &entry{}
	} else {
		x.overwritten(e)
	}
	r := x.put(e, s.revision, s.read)
	r.newest = r.top().rev
	if inventory {
		e.told = s.revision
		return false, told
	}
	r.queue = append(r.queue, &pending{e: e, rev: s.revision, time: now, late: !s.read, unread: !s.read})
	return !s.read, append(told, x.drain(releaseOf(s.revision))...)
}

// deleted takes the end of a Secret. Late means that the delete itself was not
// seen.
func (x *index) deleted(s *secret, late bool, now time.Time) []decoder.Transition {
	e := x.secrets[s.key()]
	if e == nil {
		return nil
	}
	x.overwritten(e)
	last := e.rev
	if !e.read && s.read && !s.foreign && string(s.UID) == last.Secret.UID {
		// The delete carries the bytes of a record that nobody has read so far.
		last = s.revision
	}
	k := releaseOf(e.rev)
	r := x.remove(e)
	var others []*decoder.Revision
	for _, other := range r.entries {
		others = append(others, other.rev)
	}
	if late && r.newest.Secret.UID != last.Secret.UID {
		// Missed deletes come in any order, so the newest may be gone already.
		others = append(others, r.newest)
	}
	end := decoder.Deleted(last, others)
	r.queue = append(r.queue, &pending{e: e, rev: last, deleted: &end, time: now, late: late})
	return x.drain(k)
}

// overwritten ends the wait for a state of e that was not read in time: it is
// told from its label.
func (x *index) overwritten(e *entry) {
	for _, p := range x.releases[releaseOf(e.rev)].queue {
		if p.e == e {
			p.unread = false
		}
	}
}

// fetched takes what reading want's Secret gave. A nil got means that want
// cannot be read any more, since it was overwritten or deleted; the watch brings
// what came after it.
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
	var told []decoder.Transition
	if !waited {
		// Known from its label so far; that the record says more is no change.
		e.told = got.revision
		if got.revision.Name != "" {
			told = append(told, decoder.Transition{Revision: got.revision})
		}
	}
	if to := x.put(e, got.revision, true); to.newest == nil || to.newest == want {
		to.newest = got.revision
	}
	return append(told, x.drain(k)...)
}

// drain takes the transitions that can be told off the queue of a release.
func (x *index) drain(k releaseKey) []decoder.Transition {
	r := x.releases[k]
	if r == nil {
		return nil
	}
	var told []decoder.Transition
	for len(r.queue) > 0 && !r.queue[0].unread {
		p := r.queue[0]
		r.queue = r.queue[1:]
		t, ok := p.transition()
		if !ok {
			t = decoder.Transition{Time: p.time, Revision: p.rev, Late: p.late}
		}
		if p.rev.Name != "" {
			told = append(told, t)
		}
	}
	x.forget(k)
	return told
}

// transition makes of p what observers are told, and reports whether it is a
// transition: a write that leaves the status as it was is none.
func (p *pending) transition() (decoder.Transition, bool) {
	if p.deleted != nil {
		t := *p.deleted
		t.Time, t.Late = p.time, p.late
		return t, true
	}
	t, ok := decoder.Compare(p.e.told, p.rev)
	p.e.told = p.rev
	t.Time, t.Late = p.time, t.Late || p.late
	return t, ok
}

package trail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream/ownership"
)

// seen is an observed transition, or a state that is not a transition.
type seen struct {
	decoder.Transition
	// running is the release's running session at that moment.
	running string
}

// see appends an observation, unless the trail already has it.
func (k *keeper) see(ctx context.Context, s *seen) error {
	rev := s.Revision
	l, known, ok := k.chain.index.find(rev.Namespace, rev.Name, rev.Secret.UID)
	entry := audit.Entry{
		Kind: audit.KindTransition, Time: s.Time.UTC(), Namespace: rev.Namespace, Release: rev.Name, Revision: rev.Number,
		Change: s.Change, Status: rev.Status(), PreviousStatus: s.Previous, Late: s.Late,
		Secret: &rev.Secret, Created: rev.Created.UTC(), Digest: rev.Digest, Size: rev.Size,
	}
	there := ok && known.gone == ""
	switch {
	case s.Change == decoder.ChangeStatus:
		if there && known.secret.ResourceVersion == rev.Secret.ResourceVersion && known.status == rev.Status() && known.digest.String() == rev.Digest {
			return nil
		}
	case s.Change != "":
		if ok && !there {
			return nil
		}
		if ok && entry.Digest == "" {
			entry.Digest, entry.Size, entry.Status = known.digest.String(), known.size, known.status
		}
	case !there:
		entry.Kind, entry.PreviousStatus = audit.KindFound, ""
	case rev.Digest == "" || known.digest.String() == rev.Digest:
		return nil
	case known.status != rev.Status():
		entry.Change, entry.PreviousStatus, entry.Late = decoder.ChangeStatus, known.status, true
	case known.digest == (digest{}):
		entry.Kind, entry.PreviousStatus = audit.KindFound, ""
	default:
		entry.Kind, entry.PreviousStatus = audit.KindRewritten, ""
	}
	if err := k.live(ctx, &entry, s, &l, ok); err != nil {
		return err
	}
	if err := k.attribute(ctx, &entry, s, &known, ok); err != nil {
		return err
	}
	return k.chain.append(ctx, entry)
}

// live sets the lineage of a revision's entry: the known lineage, or the
// lineage in its record, or, while the record is unread, the lineage in the
// cluster.
func (k *keeper) live(ctx context.Context, entry *audit.Entry, s *seen, l *lineage, known bool) error {
	rev := s.Revision
	var first time.Time
	if rev.Header != nil {
		first = rev.Header.FirstDeployed.UTC()
	}
	if first.IsZero() && !known {
		*l, known = k.chain.index.current(rev.Namespace, rev.Name)
	}
	if known && (first.IsZero() || first.Equal(l.first)) {
		entry.Lineage, entry.FirstDeployed, entry.ClusterUID, entry.NamespaceUID = l.id, l.first, l.clusterUID, l.namespaceUID
		return nil
	}
	var err error
	if entry.ClusterUID, err = k.clusterUID(ctx); err != nil {
		return err
	}
	if known {
		entry.NamespaceUID = l.namespaceUID
	} else if entry.NamespaceUID, err = k.namespaceUID(ctx, rev.Namespace); err != nil {
		return err
	}
	entry.FirstDeployed = first
	entry.Lineage = lineageID(entry)
	return nil
}

// lineageID returns the id of a lineage of a release name.
func lineageID(e *audit.Entry) string {
	first := ""
	if !e.FirstDeployed.IsZero() {
		first = e.FirstDeployed.Format(time.RFC3339Nano)
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{e.ClusterUID, e.NamespaceUID, e.Namespace, e.Release, first}, "/")))
	return hex.EncodeToString(sum[:16])
}

// attribute sets the session that caused an entry, and the session's user.
func (k *keeper) attribute(ctx context.Context, entry *audit.Entry, s *seen, known *revision, ok bool) error {
	sessions := k.trail.setup.Sessions
	if sessions == nil {
		return nil
	}
	release := k.release(s.Revision)
	if s.running != "" {
		session, err := sessions.Session(ctx, release, s.running)
		if err != nil && !errors.Is(err, helmtrail.ErrNotFound) {
			return fmt.Errorf("find out who caused a transition: %w", err)
		}
		if err == nil && causes(&session, entry) {
			entry.Session, entry.User = session.ID, session.User
			return nil
		}
	}
	if entry.Kind == audit.KindTransition && byOthers(entry) {
		return nil
	}
	if ok && known.session != "" {
		entry.Session, entry.User = known.session, known.user
		return nil
	}
	header := s.Revision.Header
	if header == nil {
		return nil
	}
	var candidates []helmtrail.Session
	switch _, rolledBack := header.Rollback(); {
	case rolledBack:
		all, err := sessions.Sessions(ctx, release)
		if err != nil {
			return fmt.Errorf("find out who made a revision: %w", err)
		}
		candidates = all
	case s.Revision.Session != "":
		session, err := sessions.Session(ctx, release, s.Revision.Session)
		if err != nil && !errors.Is(err, helmtrail.ErrNotFound) {
			return fmt.Errorf("find out who made a revision: %w", err)
		}
		if err == nil {
			candidates = []helmtrail.Session{session}
		}
	}
	if session := ownership.MadeBy(s.Revision, header, candidates); session != nil {
		entry.Session, entry.User = session.ID, session.User
	}
	return nil
}

// causes reports whether a running session caused an entry about a revision
// that it did not create: by replacing, pruning or removing the revision, or by
// writing another status into it.
func causes(session *helmtrail.Session, e *audit.Entry) bool {
	return e.Kind == audit.KindTransition && (session.Operation == helmtrail.OperationRecover || byOthers(e))
}

// byOthers reports whether a transition is of a kind that the operation that
// created the revision never causes.
func byOthers(e *audit.Entry) bool {
	if e.Change != decoder.ChangeStatus {
		return true
	}
	switch e.Status {
	case decoder.StatusSuperseded, decoder.StatusUninstalling, decoder.StatusUninstalled:
		return true
	}
	return false
}

// gap appends an entry for a time without a watch. The next watch may be
// watching another cluster at the same address.
func (k *keeper) gap(ctx context.Context, namespace string, from, to time.Time) error {
	k.mu.Lock()
	k.uidRead = false
	k.mu.Unlock()
	uid, err := k.clusterUID(ctx)
	if err != nil {
		return err
	}
	return k.chain.append(ctx, audit.Entry{
		Kind: audit.KindGap, Time: to.UTC(), Namespace: namespace, From: from.UTC(), ClusterUID: uid,
	})
}

// reconcile compares the inventory of a namespace, "" for all, with the trail.
// It appends the gap since the last watch and the deleted revisions, and
// requests the records that the trail lacks.
func (k *keeper) reconcile(ctx context.Context, namespace string, now time.Time) error {
	k.mu.Lock()
	done := k.synced[namespace]
	from, watched := k.mark.Watched[namespace]
	k.mu.Unlock()
	if !done && (watched || k.chain.head().Position > 0) {
		if err := k.gap(ctx, namespace, from, now); err != nil {
			return err
		}
	}
	k.mu.Lock()
	k.synced[namespace], k.mark.Watched[namespace] = true, now.UTC()
	k.mu.Unlock()

	inventory := k.cluster.All(namespace)
	there := make(map[string]bool, len(inventory))
	byRelease := map[releaseKey][]*decoder.Revision{}
	for _, rev := range inventory {
		there[rev.Secret.UID] = true
		key := releaseKey{rev.Namespace, rev.Name}
		byRelease[key] = append(byRelease[key], rev)
	}
	missing := k.chain.index.missing(namespace, there)
	for _, key := range slices.SortedFunc(maps.Keys(missing), compareKeys) {
		// Revisions that were deleted together belong to the others too; see
		// decoder.Deleted.
		others := slices.Concat(byRelease[key], missing[key])
		for _, gone := range missing[key] {
			t := decoder.Deleted(gone, others)
			t.Time, t.Late = now, true
			if err := k.see(ctx, &seen{Transition: t}); err != nil {
				return err
			}
		}
	}
	for _, rev := range inventory {
		_, known, ok := k.chain.index.find(rev.Namespace, rev.Name, rev.Secret.UID)
		has := ok && known.gone == "" && known.digest != (digest{}) && known.secret.ResourceVersion == rev.Secret.ResourceVersion
		if has {
			var err error
			if has, err = k.trail.records.stored(ctx, known.digest.String()); err != nil {
				return err
			}
		}
		if !has {
			k.cluster.Want(rev)
		}
	}
	return nil
}

func compareKeys(a, b releaseKey) int {
	if c := strings.Compare(a.namespace, b.namespace); c != 0 {
		return c
	}
	return strings.Compare(a.name, b.name)
}

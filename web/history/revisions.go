package history

import (
	"cmp"
	"slices"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/audit"
	"github.com/helmtrail/helmtrail/decoder"
)

// revisions has the known revisions of a release.
type revisions struct {
	// all are sorted, newest first.
	all []*decoder.Revision
	// kept has the trail's data about a revision, if any.
	kept map[*decoder.Revision]keptRevision
	// gone has the reason why a revision is no longer in the cluster, if it is not.
	gone map[*decoder.Revision]decoder.Change
	// facts has the facts of the revisions that are shown.
	facts map[*decoder.Revision]recordFacts
}

// gather returns the known revisions of a release. With a lineage they are those
// of the lineage; without, all revisions in the cluster and the others of the
// same lineages. It fails while the cluster's releases are unknown.
func gather(cluster Cluster, ref helmtrail.ReleaseRef, lineages []audit.Lineage, lineage string) (*revisions, error) {
	k := &revisions{kept: map[*decoder.Revision]keptRevision{}, gone: map[*decoder.Revision]decoder.Change{}, facts: map[*decoder.Revision]recordFacts{}}
	live, err := inCluster(cluster, ref)
	if err != nil {
		return nil, err
	}
	shown := current(lineages, len(live) > 0)
	if lineage != "" {
		shown = slices.DeleteFunc(slices.Clone(lineages), func(l audit.Lineage) bool { return l.ID != lineage })
	}
	here := map[int]bool{}
	for _, r := range live {
		kept, known := keptIn(shown, r.Number)
		known = known && kept.Secret.UID == r.Secret.UID
		if known {
			k.kept[r] = kept
		}
		if known || lineage == "" {
			k.all, here[r.Number] = append(k.all, r), true
		}
	}
	for _, l := range shown {
		for _, kept := range l.Revisions {
			if here[kept.Number] {
				continue
			}
			here[kept.Number] = true
			r := &decoder.Revision{
				Namespace: ref.Namespace, Name: ref.Name, Number: kept.Number, Secret: kept.Secret, Created: kept.Created,
				LabelStatus: kept.Status, Digest: kept.Digest, Size: kept.Size,
			}
			k.all, k.kept[r] = append(k.all, r), keptRevision{l, kept}
			// The trail may not have seen the deletion yet.
			k.gone[r] = cmp.Or(kept.Gone, decoder.Deleted(r, live).Change)
		}
	}
	slices.SortFunc(k.all, newestFirst)
	return k, nil
}

// inCluster returns the revisions of a release that are in the cluster, newest
// first. It fails while they are unknown.
func inCluster(cluster Cluster, ref helmtrail.ReleaseRef) ([]*decoder.Revision, error) {
	revisions := slices.Clone(cluster.Releases.Revisions(ref.Namespace, ref.Name))
	if len(revisions) == 0 {
		return nil, cluster.CheckSyncedIn(ref.Namespace)
	}
	slices.SortFunc(revisions, newestFirst)
	return revisions, nil
}

// newestFirst orders revisions.
func newestFirst(a, b *decoder.Revision) int {
	return cmp.Or(cmp.Compare(b.Number, a.Number), cmp.Compare(a.Secret.Name, b.Secret.Name))
}

// status returns the status in the record, or that of the label if the record was
// not read. For a deleted revision it is the last status seen.
func (k *revisions) status(r *decoder.Revision) decoder.Status {
	_, gone := k.gone[r]
	if f, ok := k.facts[r]; ok && f.problem == "" && !(gone && r.LabelStatus != "") {
		return f.header.Status
	}
	return r.Status()
}

// live returns the highest deployed revision, or nil.
func (k *revisions) live() *decoder.Revision {
	for _, r := range k.all {
		if _, gone := k.gone[r]; !gone && k.status(r) == decoder.StatusDeployed {
			return r
		}
	}
	return nil
}

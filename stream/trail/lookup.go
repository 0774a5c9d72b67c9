package trail

import "github.com/helmtrail/helmtrail/decoder"

// find returns copies of the known state of the revision in a Secret.
func (x *index) find(namespace, name, uid string) (l lineage, rev revision, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.releases[releaseKey{namespace, name}]
	if r == nil {
		return lineage{}, revision{}, false
	}
	foundIn, found := r.find(uid)
	if found == nil {
		return lineage{}, revision{}, false
	}
	return *foundIn, *found, true
}

// current returns a copy of the lineage with revisions in the cluster, or of
// the newest if there are several.
func (x *index) current(namespace, name string) (l lineage, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if r := x.releases[releaseKey{namespace, name}]; r != nil {
		if all := r.sorted(); len(all) > 0 && all[0].present() {
			return *all[0], true
		}
	}
	return lineage{}, false
}

// missing returns, per release, the revisions in a namespace ("" for all) that
// the trail believes to be in the cluster but that were not seen since it was
// opened. It excludes the UIDs in there.
func (x *index) missing(namespace string, there map[string]bool) map[releaseKey][]*decoder.Revision {
	x.mu.RLock()
	defer x.mu.RUnlock()
	missing := map[releaseKey][]*decoder.Revision{}
	for key, r := range x.releases {
		if namespace != "" && key.namespace != namespace {
			continue
		}
		r.each(func(rev *revision) {
			if rev.gone == "" && !rev.live && !there[rev.secret.UID] {
				missing[key] = append(missing[key], rev.decoded(key))
			}
		})
	}
	return missing
}

// decoded returns the revision in the form that the decoder gives to a revision
// with only a label.
func (rev *revision) decoded(key releaseKey) *decoder.Revision {
	exported := rev.export(key.name)
	return &decoder.Revision{
		Namespace: key.namespace, Name: key.name, Number: rev.number, Secret: exported.Secret, LabelStatus: rev.status,
		Created: exported.Created, Digest: exported.Digest, Size: rev.size,
	}
}

package health

// Resource is the state of one object of a release at a point in time.
type Resource struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// State is what Status means, one of a closed set. It is "" in events stored
	// by an earlier version.
	State State `json:"state,omitempty"`
	// Status is a word for people: Ready, Progressing, NotFound, Failed ...
	Status string `json:"status"`
	// Ready and Total count replicas; both are 0 if the kind has no replicas.
	// Replicas of an older generation, which a rolling update will replace, do
	// not count as ready. Those that only a user replaces count.
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Updated counts the replicas of the newest generation, ready or not.
	Updated int    `json:"updated,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Container is the Pod's container that Reason and Message describe.
	Container string `json:"container,omitempty"`
	// Revision is the rollout number of a Deployment or one of its ReplicaSets.
	Revision int `json:"revision,omitempty"`
	// Hook is the hook event that the object belongs to, or "" for an object of
	// the manifest.
	Hook     string `json:"hook,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	// Owner is the key of the row that owns this one, or "" for an object of
	// the manifest.
	Owner string `json:"owner,omitempty"`
	// Current means that the object has reached its desired state (a kstatus
	// term).
	Current bool `json:"current"`
	// Helm says how Helm judges an object of the manifest. It is set only if a
	// version of Helm disagrees with Current.
	Helm HelmWait `json:"helm,omitzero"`
	// Old means that the object belongs to an older generation or an earlier
	// run, which the current one replaces.
	Old bool `json:"old,omitempty"`
	// Cause says why the object is not ready. Its Reason is "" if no problem is
	// known. Readers of a row find the cause in the summary.
	Cause Cause `json:"-"`
}

// Key returns the row's key, which is unique within its snapshot:
// group/kind/namespace/name. The API version is left out, so no part contains a
// slash.
func (r Resource) Key() string {
	group := ""
	for i := range r.APIVersion {
		if r.APIVersion[i] == '/' {
			group = r.APIVersion[:i]
			break
		}
	}
	return group + "/" + r.Kind + "/" + r.Namespace + "/" + r.Name
}

// Exists reports whether the object is known to be in the cluster.
func (r Resource) Exists() bool {
	return r.Reason != ReasonRemovedByTTL && r.Status != StatusNotFound && r.Status != StatusUnknown && r.Status != StatusForbidden
}

const (
	// StatusNotFound is the status of an object that is not in the cluster.
	StatusNotFound = "NotFound"
	// StatusUnknown is the status of an object that could not be looked up.
	StatusUnknown = "Unknown"
	// StatusForbidden is the status of an object that the caller may not see.
	StatusForbidden = "Forbidden"
)

// The reasons of rows that are helmtrail's own words.
const (
	// ReasonNoStatus is the reason of an object whose controller has not reported
	// a status yet.
	ReasonNoStatus = "NoStatus"
	// ReasonOnDelete is the reason of a workload that is ready and has pods of an
	// older revision, which change only when they are deleted.
	ReasonOnDelete = "OnDelete"
	// ReasonPartition is the reason of a StatefulSet that is ready and has pods of
	// an older revision, which change only when its partition is lowered.
	ReasonPartition = "Partition"
	// ReasonRemovedByTTL is the reason of a Job that had ended and was removed
	// after its ttlSecondsAfterFinished.
	ReasonRemovedByTTL = "RemovedByTTL"
	// ReasonOutcomeUnknown is the reason of a Job with a ttlSecondsAfterFinished
	// that does not exist and was not seen to end.
	ReasonOutcomeUnknown = "OutcomeUnknown"
)

// Summary summarizes a snapshot.
type Summary struct {
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Warnings counts the ready objects that report a problem.
	Warnings int     `json:"warnings,omitempty"`
	Causes   []Cause `json:"causes"`
}

// ObjectRef names one object.
type ObjectRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Masked returns the row with the messages from Kubernetes masked, since a
// message may quote a container's output.
func (r Resource) Masked(mask func(string) string) Resource {
	c := &r.Cause
	for _, text := range []*string{&r.Message, &c.Message, &c.Text, &c.Image, &c.Detail, &c.Because.Image, &c.Because.Detail} {
		if *text != "" {
			*text = mask(*text)
		}
	}
	return r
}

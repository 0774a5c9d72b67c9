package health

// Resource is one object of a release at a moment.
type Resource struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	// Status is a word for people: Ready, Progressing, NotFound, Failed ...
	Status string `json:"status"`
	// Ready and Total count replicas, 0 of 0 where the kind has none.
	// Those of an older generation, which a rolling update is to replace, do
	// not count as ready.
	Ready int `json:"ready"`
	Total int `json:"total"`
	// Updated counts the replicas of the newest generation, ready or not.
	Updated int    `json:"updated,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Container is the container of a Pod that Reason and Message are about.
	Container string `json:"container,omitempty"`
	// Revision is the number of the rollout, of a Deployment and its ReplicaSets.
	Revision int `json:"revision,omitempty"`
	// Hook is the hook event for which the object exists, "" for the manifest's own.
	Hook     string `json:"hook,omitempty"`
	Restarts int    `json:"restarts,omitempty"`
	// Owner is the key of the row to which this one belongs, "" for the manifest's own.
	Owner string `json:"owner,omitempty"`
	// Current means that nothing more is waited for (kstatus' word).
	Current bool `json:"current"`
	// Old means that the object belongs to an older generation or an earlier
	// run, which the one under way replaces.
	Old bool `json:"old,omitempty"`
	// Cause says why the object is not ready; its Reason is "" when nothing is
	// known to be wrong. A row's readers find it in the summary.
	Cause Cause `json:"-"`
}

// Key names the row among the rows of its snapshot: group/kind/namespace/name,
// none of which can hold a slash but the group's version, which is left out.
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

// Exists reports whether the object is in the cluster, as far as is known.
func (r Resource) Exists() bool {
	return r.Status != StatusNotFound && r.Status != StatusUnknown && r.Status != StatusForbidden
}

const (
	// StatusNotFound is the status of an object that is not in the cluster.
	StatusNotFound = "NotFound"
	// StatusUnknown is the status of an object that could not be looked up.
	StatusUnknown = "Unknown"
	// StatusForbidden is the status of an object that may not be seen.
	StatusForbidden = "Forbidden"
)

// Summary counts a snapshot.
type Summary struct {
	Ready  int     `json:"ready"`
	Total  int     `json:"total"`
	Causes []Cause `json:"causes"`
}

// ObjectRef names one object.
type ObjectRef struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Masked returns the row with what Kubernetes says about it masked: a message
// may quote what a container wrote.
func (r Resource) Masked(mask func(string) string) Resource {
	c := &r.Cause
	for _, text := range []*string{&r.Message, &c.Message, &c.Text, &c.Image, &c.Detail, &c.Because.Image, &c.Because.Detail} {
		if *text != "" {
			*text = mask(*text)
		}
	}
	return r
}

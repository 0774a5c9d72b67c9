package health

import (
	"strings"
)

// LogSource names a container that has ended and whose log may explain why.
type LogSource struct {
	Namespace, Pod, Container string
	// Previous means that the container has been restarted since.
	Previous bool
}

// Cause says why a resource is not ready, in words for people.
type Cause struct {
	// Sentence holds the parts of Text.
	Sentence
	// Message is the cluster's full message.
	Message string `json:"message,omitempty"`
	// Text is Sentence in English, followed by Because.
	Text string `json:"text"`
	// Because explains Sentence: it says how the last container of a failed Job
	// ended. The zero value means that there is no explanation.
	Because Sentence `json:"because,omitzero"`
	// Final means that waiting longer cannot resolve the cause.
	Final bool `json:"final"`
	// Log holds the last few lines that the container wrote before it ended. It
	// is set only if the reader, or the user who started the session, may read
	// logs.
	Log string `json:"log,omitempty"`
	// Count is the number of objects with this cause, including Object. It is
	// absent if Object is the only one.
	Count int `json:"count,omitempty"`
	// Rank is how close the cause is to the root cause.
	Rank Rank `json:"-"`
	// Source is the container whose log has more detail; its Pod is "" if there
	// is no such container.
	Source LogSource `json:"-"`
}

// Explain sets the explanation of a cause and appends it to Text as a sentence
// of its own.
func (c *Cause) Explain(because Sentence) {
	c.Because = because
	c.Text = strings.TrimSuffix(c.Text, ".") + ". " + because.English()
}

// Rank orders causes. A cause that leads to others comes first.
type Rank int

const (
	// RankContainer is for a container that cannot be started or has failed.
	RankContainer Rank = iota + 1
	// RankCreate is for pods that cannot be created.
	RankCreate
	// RankVolume is for a volume that does not exist.
	RankVolume
	// RankSchedule is for a Pod that fits no node.
	RankSchedule
	// RankStart is for a Pod that its node cannot prepare.
	RankStart
	// RankProbe is for a container that runs but does not pass its probe.
	RankProbe
	// RankStalled is for a workload that has not progressed for too long.
	RankStalled
	// RankCondition is for an object that reports its own failure, and for one
	// that Helm cannot judge.
	RankCondition
	// RankWaiting is for an object that is merely not ready yet. While the
	// operation runs, this is no cause for concern. After the operation has
	// failed, it may be the only known cause.
	RankWaiting
	// RankWarning is for an object that is usable and reports a problem. It is
	// never why an operation failed.
	RankWarning
)

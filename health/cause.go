package health

import (
	"strings"
)

// LogSource names a container that has ended, and whose log may say why.
type LogSource struct {
	Namespace, Pod, Container string
	// Previous means that the container was started again since.
	Previous bool
}

// Cause says why a resource is not ready, as a person would say it.
type Cause struct {
	// Sentence holds the parts of Text.
	Sentence
	// Message is all that the cluster says about it.
	Message string `json:"message,omitempty"`
	// Text is Sentence in English, and behind it Because.
	Text string `json:"text"`
	// Because is what Sentence follows from: how the last container of a Job
	// ended that has failed. The zero value stands for nothing more to say.
	Because Sentence `json:"because,omitzero"`
	// Final means that waiting longer cannot heal it.
	Final bool `json:"final"`
	// Log is the last that the container wrote before it ended, a few lines.
	// It is there only when the reader, or the session's starter, may read logs.
	Log string `json:"log,omitempty"`
	// Count is how many objects have this cause, of which Object is one; absent
	// for one alone.
	Count int `json:"count,omitempty"`
	// Rank tells how near the root of the trouble the cause is.
	Rank Rank `json:"-"`
	// Source is the container whose log tells more; its Pod is "" for none.
	Source LogSource `json:"-"`
}

// Explain adds to a cause what it follows from, as a sentence of its own.
func (c *Cause) Explain(because Sentence) {
	c.Because = because
	c.Text = strings.TrimSuffix(c.Text, ".") + ". " + because.English()
}

// Rank orders causes: what others follow from comes first.
type Rank int

const (
	// RankContainer is for a container that cannot be started or has failed.
	RankContainer Rank = iota + 1
	// RankCreate is for pods that cannot be created.
	RankCreate
	// RankVolume is for a volume that is not there.
	RankVolume
	// RankSchedule is for a Pod that no node takes.
	RankSchedule
	// RankStart is for a Pod that its node cannot prepare.
	RankStart
	// RankProbe is for a container that runs but does not pass its probe.
	RankProbe
	// RankStalled is for a workload that has not progressed for too long.
	RankStalled
	// RankCondition is for an object that itself says that it failed.
	RankCondition
	// RankWaiting is for what merely is not ready yet. While the operation runs
	// that is no cause for concern; when it has failed it may be all that is known.
	RankWaiting
)

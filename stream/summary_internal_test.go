package stream

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/health"
)

// A warning is in the summary. It neither explains a failed operation nor hides
// what Helm waited for.
func TestAWarningDoesNotHideWhatHelmWaitedFor(t *testing.T) {
	row := func(name string, state health.State, rank health.Rank) health.Resource {
		cause := health.Cause{Sentence: health.Sentence{Object: health.ObjectRef{Kind: "Widget", Name: name}, Reason: "Why"}, Rank: rank}
		return health.Resource{Kind: "Widget", Name: name, State: state, Current: state == health.StateWarning, Cause: cause}
	}
	rows := []health.Resource{row("complains", health.StateWarning, health.RankWarning), row("waits", health.StateProgressing, health.RankWaiting)}
	names := func(causes []health.Cause) (names []string) {
		for _, cause := range causes {
			names = append(names, cause.Object.Name)
		}
		return names
	}
	summary := Summarize(rows)
	if diff := cmp.Diff([]string{"complains"}, names(summary.Causes)); diff != "" || summary.Warnings != 1 || summary.Ready != 1 {
		t.Errorf("summary %+v", summary)
	}
	if diff := cmp.Diff([]string{"waits"}, names(gaveUp(causesOf(rows)))); diff != "" {
		t.Errorf("causes of the failure (-want +got):\n%s", diff)
	}
}

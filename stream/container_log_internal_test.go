package stream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/health"
)

func TestALogsLastLinesAreMaskedBeforeTheyAreCut(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "first\nsecond", "«masked»") }
	long := strings.Repeat("é", logLineBytes)
	for _, test := range []struct{ name, log, want string }{
		{"nothing", "", ""},
		{"one line", "fatal\n", "fatal"},
		{"no line break at the end", "a\nfatal", "a\nfatal"},
		{"more lines than are shown", "1\n2\n3\n4\n5\n6\n", "2\n3\n4\n5\n6"},
		{"empty lines at the end", "1\n\n\n", "1"},
		{"line breaks of Windows", "1\r\n2\r\n", "1\n2"},
		{"a secret whose first line would be cut off", "first\nsecond\n3\n4\n5\n6\n", "«masked»\n3\n4\n5\n6"},
		{"a long line", long + "\nend\n", long[:logLineBytes] + " ...\nend"},
		{"not UTF-8", "a\xffb\n", "a\uFFFDb"},
	} {
		if diff := cmp.Diff(test.want, lastLines(test.log, mask)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Helm may give up a moment before the watch sees the cause, and may then start
// to remove objects.
func TestCausesAfterHelmGaveUpAddOnlyWhatCannotHeal(t *testing.T) {
	pod := health.Cause{Sentence: health.Sentence{Object: health.ObjectRef{Kind: "Pod", Name: "migrate-1"}, Reason: "Error"}, Rank: health.RankContainer, Source: health.LogSource{Pod: "migrate-1", Container: "sql"}}
	web := health.Cause{Sentence: health.Sentence{Object: health.ObjectRef{Kind: "Pod", Name: "web-1"}, Reason: "CrashLoopBackOff"}, Rank: health.RankContainer, Source: health.LogSource{Pod: "web-1"}}
	job := health.Cause{Sentence: health.Sentence{Object: health.ObjectRef{Kind: "Job", Name: "migrate"}, Reason: "BackoffLimitExceeded"}, Rank: health.RankContainer, Final: true, Source: pod.Source}
	missing := health.Cause{Sentence: health.Sentence{Object: health.ObjectRef{Kind: "ReplicaSet", Name: "web"}, Reason: "FailedCreate"}, Rank: health.RankCreate}
	for _, test := range []struct {
		name                  string
		standing, later, want []health.Cause
	}{
		{"the same", []health.Cause{web, pod}, []health.Cause{web, pod}, []health.Cause{web, pod}},
		{"a Job's failure replaces its pod's", []health.Cause{web, pod}, []health.Cause{web, job}, []health.Cause{job, web}},
		{"causes of removed objects stay", []health.Cause{web, pod}, []health.Cause{missing}, []health.Cause{web, pod}},
		{"again", []health.Cause{job, web}, []health.Cause{job}, []health.Cause{job, web}},
	} {
		if diff := cmp.Diff(test.want, refined(test.standing, test.later)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// silent is a cluster whose nodes never answer.
type silent struct{ Cluster }

func (silent) ContainerLog(ctx context.Context, _ health.LogSource, _ helmtrail.Viewer) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestNoLogIsReadOnceASessionHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newObjectWatch(&run{ops: &Operations{}, cluster: silent{}})
		begun := time.Now()
		w.mu.Lock()
		w.readLogs([]health.Cause{{Source: health.LogSource{Pod: "a"}}, {Source: health.LogSource{Pod: "b"}}})
		w.mu.Unlock()
		synctest.Wait()
		w.stopReading()
		if took := time.Since(begun); took > 0 {
			t.Errorf("the session waited %v for its logs", took)
		}
	})
}

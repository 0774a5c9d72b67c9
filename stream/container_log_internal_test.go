package stream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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
		{"breaks of another system", "1\r\n2\r\n", "1\n2"},
		{"a secret whose first line would be cut off", "first\nsecond\n3\n4\n5\n6\n", "«masked»\n3\n4\n5\n6"},
		{"a long line", long + "\nend\n", long[:logLineBytes] + " ...\nend"},
		{"no text", "a\xffb\n", "a\uFFFDb"},
	} {
		if diff := cmp.Diff(test.want, lastLines(test.log, mask)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// Helm may give up a moment before the reason is seen here, and may then begin
// to remove what stood in the way.
func TestCausesAfterHelmGaveUpAddOnlyWhatCannotHeal(t *testing.T) {
	pod := Cause{Sentence: Sentence{Object: ObjectRef{Kind: "Pod", Name: "migrate-1"}, Reason: "Error"}, Rank: RankContainer, Source: LogSource{Pod: "migrate-1", Container: "sql"}}
	web := Cause{Sentence: Sentence{Object: ObjectRef{Kind: "Pod", Name: "web-1"}, Reason: "CrashLoopBackOff"}, Rank: RankContainer, Source: LogSource{Pod: "web-1"}}
	job := Cause{Sentence: Sentence{Object: ObjectRef{Kind: "Job", Name: "migrate"}, Reason: "BackoffLimitExceeded"}, Rank: RankContainer, Final: true, Source: pod.Source}
	missing := Cause{Sentence: Sentence{Object: ObjectRef{Kind: "ReplicaSet", Name: "web"}, Reason: "FailedCreate"}, Rank: RankCreate}
	for _, test := range []struct {
		name                  string
		standing, later, want []Cause
	}{
		{"the same", []Cause{web, pod}, []Cause{web, pod}, []Cause{web, pod}},
		{"a Job's end for its pod's", []Cause{web, pod}, []Cause{web, job}, []Cause{job, web}},
		{"what was removed stays", []Cause{web, pod}, []Cause{missing}, []Cause{web, pod}},
		{"again", []Cause{job, web}, []Cause{job}, []Cause{job, web}},
	} {
		if diff := cmp.Diff(test.want, refined(test.standing, test.later)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// silent is a cluster whose nodes do not answer.
type silent struct{ Cluster }

func (silent) ContainerLog(ctx context.Context, _ LogSource, _ Viewer) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestNoLogIsReadOnceASessionHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newObjectWatch(&run{ops: &Operations{}, cluster: silent{}})
		begun := time.Now()
		w.mu.Lock()
		w.readLogs([]Cause{{Source: LogSource{Pod: "a"}}, {Source: LogSource{Pod: "b"}}})
		w.mu.Unlock()
		synctest.Wait()
		w.stopReading()
		if took := time.Since(begun); took > 0 {
			t.Errorf("the session's logs were waited for for %v", took)
		}
	})
}

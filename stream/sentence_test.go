package stream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/health"
)

// A cause's fields are all that is needed to say it: the English text is built from
// nothing else.
func TestEveryProblemIsSaidFromItsFields(t *testing.T) {
	pod, deployment := health.ObjectRef{Kind: "Pod", Name: "web-1"}, health.ObjectRef{Kind: "Deployment", Name: "web"}
	in := func(problem health.Problem, change func(*health.Sentence)) health.Sentence {
		s := health.Sentence{Problem: problem, Object: pod, Container: "app", Role: health.RoleMain, Reason: "Why", Detail: "the cluster's words"}
		change(&s)
		return s
	}
	as := func(object health.ObjectRef) func(*health.Sentence) {
		return func(s *health.Sentence) { s.Object, s.Container, s.Role = object, "", "" }
	}
	said := map[health.Problem][]string{}
	for _, s := range []health.Sentence{
		in(health.ProblemImageNotPulled, func(s *health.Sentence) { s.Image, s.Role = "web:1", health.RoleInit }),
		in(health.ProblemImageUnusable, func(s *health.Sentence) { s.Image, s.Role = "web:1:2", health.RoleSidecar }),
		in(health.ProblemNotStarted, func(*health.Sentence) {}),
		in(health.ProblemNotStarted, as(pod)),
		in(health.ProblemCrashing, func(s *health.Sentence) { s.Exit = "137 (OOMKilled)" }),
		in(health.ProblemCrashing, func(s *health.Sentence) { s.Exit = "0 (Completed)" }),
		in(health.ProblemCrashing, func(s *health.Sentence) { s.Detail = "" }),
		in(health.ProblemExited, func(s *health.Sentence) { s.Exit = "1 (Error)" }),
		in(health.ProblemProbeFailing, func(*health.Sentence) {}),
		in(health.ProblemNotScheduled, as(pod)),
		in(health.ProblemSchedulingGated, as(pod)),
		in(health.ProblemPodsNotCreated, as(deployment)),
		in(health.ProblemNotBound, as(health.ObjectRef{Kind: "PersistentVolumeClaim", Name: "data"})),
		in(health.ProblemNoProgress, as(deployment)),
		in(health.ProblemFailed, as(deployment)),
		in(health.ProblemFailed, func(s *health.Sentence) { s.Reason = health.WordFailed }),
		in(health.ProblemNoAddress, func(s *health.Sentence) { s.Object, s.Detail = health.ObjectRef{Kind: "Service", Name: "web"}, "" }),
		in(health.ProblemNotEnded, as(health.ObjectRef{Kind: "Job", Name: "migrate"})),
		in(health.ProblemNotEnded, func(s *health.Sentence) { s.Role, s.Detail = health.RoleInit, "" }),
		in(health.ProblemDeleting, as(pod)),
		in(health.ProblemDeleting, func(s *health.Sentence) { s.Detail = "" }),
		in(health.ProblemNotReady, as(pod)),
		in(health.ProblemNotReady, as(deployment)),
		in(health.ProblemNotReady, func(s *health.Sentence) { s.Reason = health.WordNotReady }),
		in(health.ProblemWarning, as(deployment)),
		in(health.ProblemHelmCannotJudge, as(deployment)),
		in(health.ProblemUnknown, as(deployment)),
	} {
		said[s.Problem] = append(said[s.Problem], s.English())
	}
	want := map[health.Problem][]string{
		health.ProblemImageNotPulled: {"Init container app of Pod web-1 cannot pull its image web:1: the cluster's words"},
		health.ProblemImageUnusable:  {"Sidecar container app of Pod web-1 cannot use its image web:1:2 (Why): the cluster's words"},
		health.ProblemNotStarted: {
			"Container app of Pod web-1 cannot be started (Why): the cluster's words",
			"Pod web-1 cannot be started (Why): the cluster's words",
		},
		health.ProblemCrashing: {
			"Container app of Pod web-1 keeps crashing: it ended with exit code 137 (OOMKilled): the cluster's words",
			"Container app of Pod web-1 keeps ending: it ended with exit code 0 (Completed): the cluster's words",
			"Container app of Pod web-1 keeps crashing",
		},
		health.ProblemExited:          {"Container app of Pod web-1 has failed with exit code 1 (Error): the cluster's words"},
		health.ProblemProbeFailing:    {"Container app of Pod web-1 runs but is not ready: the cluster's words"},
		health.ProblemNotScheduled:    {"Pod web-1 cannot be scheduled: the cluster's words"},
		health.ProblemSchedulingGated: {"Pod web-1 is not to be scheduled yet: the cluster's words"},
		health.ProblemPodsNotCreated:  {"Deployment web cannot create its pods: the cluster's words"},
		health.ProblemNotBound:        {"PersistentVolumeClaim data is not bound: the cluster's words"},
		health.ProblemNoProgress:      {"Deployment web makes no progress any more: the cluster's words"},
		health.ProblemFailed: {
			"Deployment web has failed (Why): the cluster's words",
			"Pod web-1 has failed: the cluster's words",
		},
		health.ProblemNoAddress: {"Service web has been given no address by a load balancer yet"},
		health.ProblemNotEnded:  {"Job migrate has not ended yet: the cluster's words", "Init container app of Pod web-1 has not ended yet"},
		health.ProblemDeleting:  {"Pod web-1 is being deleted and waits for its finalizers: the cluster's words", "Pod web-1 is being deleted"},
		health.ProblemNotReady: {
			"Pod web-1 is not ready (Why): the cluster's words",
			"Deployment web is not ready: the cluster's words",
			"Pod web-1 is not ready: the cluster's words",
		},
		health.ProblemWarning:         {"Deployment web is usable but reports a problem (Why): the cluster's words"},
		health.ProblemHelmCannotJudge: {"helm --wait cannot succeed on Deployment web, because Helm cannot read its status: the cluster's words"},
		health.ProblemUnknown:         {"The state of Deployment web is not known: the cluster's words"},
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
	for _, problem := range health.Problems {
		if len(said[problem]) == 0 {
			t.Errorf("no sentence for %s", problem)
		}
	}
}

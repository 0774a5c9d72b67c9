package stream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/stream"
)

// The parts of a cause are all that it takes to say it: the English text is
// made of nothing else.
func TestEveryProblemIsSaidFromItsParts(t *testing.T) {
	pod, deployment := stream.ObjectRef{Kind: "Pod", Name: "web-1"}, stream.ObjectRef{Kind: "Deployment", Name: "web"}
	in := func(problem stream.Problem, change func(*stream.Sentence)) stream.Sentence {
		s := stream.Sentence{Problem: problem, Object: pod, Container: "app", Role: stream.RoleMain, Reason: "Why", Detail: "the cluster's words"}
		change(&s)
		return s
	}
	as := func(object stream.ObjectRef) func(*stream.Sentence) {
		return func(s *stream.Sentence) { s.Object, s.Container, s.Role = object, "", "" }
	}
	said := map[stream.Problem][]string{}
	for _, s := range []stream.Sentence{
		in(stream.ProblemImageNotPulled, func(s *stream.Sentence) { s.Image, s.Role = "web:1", stream.RoleInit }),
		in(stream.ProblemImageUnusable, func(s *stream.Sentence) { s.Image, s.Role = "web:1:2", stream.RoleSidecar }),
		in(stream.ProblemNotStarted, func(*stream.Sentence) {}),
		in(stream.ProblemNotStarted, as(pod)),
		in(stream.ProblemCrashing, func(s *stream.Sentence) { s.Exit = "137 (OOMKilled)" }),
		in(stream.ProblemCrashing, func(s *stream.Sentence) { s.Exit = "0 (Completed)" }),
		in(stream.ProblemCrashing, func(s *stream.Sentence) { s.Detail = "" }),
		in(stream.ProblemExited, func(s *stream.Sentence) { s.Exit = "1 (Error)" }),
		in(stream.ProblemProbeFailing, func(*stream.Sentence) {}),
		in(stream.ProblemNotScheduled, as(pod)),
		in(stream.ProblemSchedulingGated, as(pod)),
		in(stream.ProblemPodsNotCreated, as(deployment)),
		in(stream.ProblemNotBound, as(stream.ObjectRef{Kind: "PersistentVolumeClaim", Name: "data"})),
		in(stream.ProblemNoProgress, as(deployment)),
		in(stream.ProblemFailed, as(deployment)),
		in(stream.ProblemFailed, func(s *stream.Sentence) { s.Reason = stream.WordFailed }),
		in(stream.ProblemNoAddress, func(s *stream.Sentence) { s.Object, s.Detail = stream.ObjectRef{Kind: "Service", Name: "web"}, "" }),
		in(stream.ProblemNotEnded, as(stream.ObjectRef{Kind: "Job", Name: "migrate"})),
		in(stream.ProblemNotEnded, func(s *stream.Sentence) { s.Role, s.Detail = stream.RoleInit, "" }),
		in(stream.ProblemDeleting, as(pod)),
		in(stream.ProblemDeleting, func(s *stream.Sentence) { s.Detail = "" }),
		in(stream.ProblemNotReady, as(pod)),
		in(stream.ProblemNotReady, as(deployment)),
		in(stream.ProblemNotReady, func(s *stream.Sentence) { s.Reason = stream.WordNotReady }),
		in(stream.ProblemUnknown, as(deployment)),
	} {
		said[s.Problem] = append(said[s.Problem], s.English())
	}
	want := map[stream.Problem][]string{
		stream.ProblemImageNotPulled: {"Init container app of Pod web-1 cannot pull its image web:1: the cluster's words"},
		stream.ProblemImageUnusable:  {"Sidecar container app of Pod web-1 cannot use its image web:1:2 (Why): the cluster's words"},
		stream.ProblemNotStarted: {
			"Container app of Pod web-1 cannot be started (Why): the cluster's words",
			"Pod web-1 cannot be started (Why): the cluster's words",
		},
		stream.ProblemCrashing: {
			"Container app of Pod web-1 keeps crashing: it ended with exit code 137 (OOMKilled): the cluster's words",
			"Container app of Pod web-1 keeps ending: it ended with exit code 0 (Completed): the cluster's words",
			"Container app of Pod web-1 keeps crashing",
		},
		stream.ProblemExited:          {"Container app of Pod web-1 has failed with exit code 1 (Error): the cluster's words"},
		stream.ProblemProbeFailing:    {"Container app of Pod web-1 runs but is not ready: the cluster's words"},
		stream.ProblemNotScheduled:    {"Pod web-1 cannot be scheduled: the cluster's words"},
		stream.ProblemSchedulingGated: {"Pod web-1 is not to be scheduled yet: the cluster's words"},
		stream.ProblemPodsNotCreated:  {"Deployment web cannot create its pods: the cluster's words"},
		stream.ProblemNotBound:        {"PersistentVolumeClaim data is not bound: the cluster's words"},
		stream.ProblemNoProgress:      {"Deployment web makes no progress any more: the cluster's words"},
		stream.ProblemFailed: {
			"Deployment web has failed (Why): the cluster's words",
			"Pod web-1 has failed: the cluster's words",
		},
		stream.ProblemNoAddress: {"Service web has been given no address by a load balancer yet"},
		stream.ProblemNotEnded:  {"Job migrate has not ended yet: the cluster's words", "Init container app of Pod web-1 has not ended yet"},
		stream.ProblemDeleting:  {"Pod web-1 is being deleted and waits for its finalizers: the cluster's words", "Pod web-1 is being deleted"},
		stream.ProblemNotReady: {
			"Pod web-1 is not ready (Why): the cluster's words",
			"Deployment web is not ready: the cluster's words",
			"Pod web-1 is not ready: the cluster's words",
		},
		stream.ProblemUnknown: {"The state of Deployment web is not known: the cluster's words"},
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
	for _, problem := range stream.Problems {
		if len(said[problem]) == 0 {
			t.Errorf("nobody has said %s", problem)
		}
	}
}

package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
)

// step describes a stage of a pod or of the node.
type step struct {
	name string
	// when lists the conditions, which must all hold.
	when []internalversion.MatchExpression
	// after is the delay, unless afterQuery finds one in the object.
	after      time.Duration
	afterQuery string
	// status is the template of the new status. For a pod it is the name of one
	// of templateFunctions.
	status string
	// event is the message of a warning event that the step creates.
	event string
}

// podStages returns the stages of a pod for KWOK.
func podStages() []*internalversion.Stage {
	list := []*internalversion.Stage{podDeletion}
	for _, s := range steps {
		// KWOK allocates another address for each request, so a pod that has an
		// address must not request one. A pod that is being deleted takes no step.
		s.status = `{{ if .status.podIP }}{{ ` + s.status + ` . }}{{ else }}{{ ` + s.status + ` . ` +
			`(PodIPsWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace) }}{{ end }}`
		s.when = append(all(absent(deletedQuery)), s.when...)
		list = append(list, s.stage(podResource))
	}
	return list
}

// stage returns the step as a stage of KWOK.
func (s step) stage(resource internalversion.StageResourceRef) *internalversion.Stage {
	stage := &internalversion.Stage{
		ObjectMeta: named(s.name),
		Spec: internalversion.StageSpec{
			ResourceRef: resource,
			Selector:    &internalversion.StageSelector{MatchExpressions: s.when},
			Steps: []internalversion.StageStep{{
				Patch: &internalversion.StagePatch{Subresource: "status", Root: "status", Template: s.status},
			}},
		},
	}
	if s.after > 0 {
		milliseconds := s.after.Milliseconds()
		stage.Spec.Delay = &internalversion.StageDelay{DurationMilliseconds: &milliseconds}
	}
	if s.afterQuery != "" {
		stage.Spec.Delay.DurationFrom = &internalversion.ExpressionFrom{
			JQ: &internalversion.ExpressionJQ{Expression: s.afterQuery},
		}
	}
	if s.event != "" {
		stage.Spec.Steps = append(stage.Spec.Steps, internalversion.StageStep{
			Event: &internalversion.StageEvent{Type: corev1.EventTypeWarning, Reason: "Failed", Message: s.event},
		})
	}
	return stage
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// all returns its arguments: the conditions that must all hold.
func all(conditions ...internalversion.MatchExpression) []internalversion.MatchExpression {
	return conditions
}

func present(query string) internalversion.MatchExpression {
	return match[string](query, internalversion.SelectorOpExists)
}

func absent(query string) internalversion.MatchExpression {
	return match[string](query, internalversion.SelectorOpDoesNotExist)
}

func isOneOf[T ~string](query string, values ...T) internalversion.MatchExpression {
	return match(query, internalversion.SelectorOpIn, values...)
}

func isNot[T ~string](query string, values ...T) internalversion.MatchExpression {
	return match(query, internalversion.SelectorOpNotIn, values...)
}

func match[T ~string](query string, operator internalversion.SelectorOperator, values ...T) internalversion.MatchExpression {
	jq := &internalversion.SelectorJQ{Key: query, Operator: operator}
	for _, value := range values {
		jq.Values = append(jq.Values, string(value))
	}
	return internalversion.MatchExpression{JQ: jq}
}

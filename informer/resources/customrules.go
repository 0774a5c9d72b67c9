package resources

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/helmtrail/helmtrail/health"
)

// customRule says how the objects of a kind differ from what most controllers do.
// The zero value of a field means no difference.
type customRule struct {
	// group is the API group; one that begins with a dot stands for all its
	// subdomains.
	group string
	// kind is the kind, "" for all of the group.
	kind string

	// summary lists the conditions of which the first that exists says whether
	// the object is usable.
	summary []string
	// falseFails means that a summary that is false is a failure, not progress.
	falseFails bool
	// required means that the controller always sets a summary or a phase: an
	// object without one has not been looked at yet.
	required bool
	// faults are conditions that complain if they are true, parts those that
	// complain if they are false.
	faults, parts []string
	// harmless are the reasons of parts that are false without a fault.
	harmless []string
	// nested is the field of the status whose items have the conditions.
	nested string
	// conditionsAnnotation is the annotation that holds the conditions in an
	// older version of the API.
	conditionsAnnotation string

	// phases are the fields that may hold a phase.
	phases [][]string
	// phaseDecides means that the phase is trusted more than the conditions.
	phaseDecides bool
	// words are phases with a meaning of their own.
	words map[string]health.State
}

// defaultPhases are the fields that hold a phase by convention.
var defaultPhases = [][]string{{"status", "phase"}, {"status", "state"}, {"status", "state", "phase"}}

// customRules is the table. The first row that fits is used. Each gives the
// document that it follows.
var customRules = []customRule{
	// k8s.io/api/autoscaling/v2, HorizontalPodAutoscalerConditionType. An autoscaler
	// whose target has no replicas is disabled, which is no fault.
	{group: "autoscaling", kind: "HorizontalPodAutoscaler", summary: []string{"AbleToScale"}, falseFails: true, required: true,
		parts: []string{"ScalingActive"}, harmless: []string{"ScalingDisabled"},
		conditionsAnnotation: "autoscaling.alpha.kubernetes.io/conditions"},
	// k8s.io/kube-aggregator/pkg/apis/apiregistration/v1, APIServiceConditionType.
	{group: "apiregistration.k8s.io", kind: "APIService", summary: []string{"Available"}, required: true},
	// github.com/openshift/api/route/v1, RouteIngress: each router admits a route or
	// says why not.
	{group: "route.openshift.io", kind: "Route", nested: "ingress", summary: []string{"Admitted"}, falseFails: true, required: true},
	// https://gateway-api.sigs.k8s.io/reference/spec: each parent accepts a route or
	// says why not.
	{group: "gateway.networking.k8s.io", kind: "Gateway", summary: []string{"Programmed", conditionReady}, required: true},
	{group: "gateway.networking.k8s.io", kind: "GatewayClass", summary: []string{"Accepted"}, falseFails: true, required: true},
	{group: "gateway.networking.k8s.io", nested: "parents", summary: []string{"Accepted"}, falseFails: true, parts: []string{"ResolvedRefs"}},

	// https://argo-rollouts.readthedocs.io/en/stable/features/kustomize, and
	// pkg/apis/rollouts/v1alpha1, RolloutPhase. A degraded rollout has failed,
	// although the stable version is still available.
	{group: "argoproj.io", kind: "Rollout", phaseDecides: true},
	// https://argo-cd.readthedocs.io/en/stable/operator-manual/health/.
	{group: "argoproj.io", kind: "Application", phases: [][]string{{"status", "health", "status"}}, phaseDecides: true},
	// https://github.com/knative/specs/blob/main/specs/knative-api-specification-1.0.md#error-signalling:
	// False is terminal, Unknown is progress.
	{group: ".knative.dev", falseFails: true},
	// https://cert-manager.io/docs/reference/api-docs/: Issuing is false, with the
	// reason Failed, after an attempt has failed.
	{group: "cert-manager.io", faults: []string{"Denied", "InvalidRequest"}, parts: []string{"Issuing"}},
	// https://cert-manager.io/docs/reference/api-docs/#acme.cert-manager.io/v1.State.
	{group: "acme.cert-manager.io", words: map[string]health.State{
		"ready": health.StateProgressing, "processing": health.StateProgressing, "expired": health.StateFailed}},
	// https://cloudnative-pg.io/documentation/current/cloudnative-pg.v1/, and
	// api/v1/cluster_types.go, PhaseHealthy and its siblings.
	{group: "postgresql.cnpg.io", parts: []string{"ContinuousArchiving", "LastBackupSucceeded"}, words: map[string]health.State{
		"clusterinhealthystate":                            health.StateReady,
		"clusterisunrecoverableandneedsmanualintervention": health.StateFailed, "unabletocreaterequiredclusterobjects": health.StateFailed,
		"notenoughdiskspace": health.StateFailed, "walarchivingfailing": health.StateFailed,
		"clusterhasincompleteorinvalidimagecatalog":                               health.StateFailed,
		"clustercannotproceedtoreconciliationduetoanunknownpluginbeingrequired":   health.StateFailed,
		"clustercannotproceedtoreconciliationduetoamissingplugin":                 health.StateFailed,
		"clustercannotexecuteinstanceonlineupgradeduetomissingarchitecturebinary": health.StateFailed}},
}

// ruleFor returns the rule for a kind, completed with what most controllers do.
func ruleFor(kind schema.GroupKind) customRule {
	var rule customRule
	if at := slices.IndexFunc(customRules, func(r customRule) bool { return r.fits(kind) }); at >= 0 {
		rule = customRules[at]
	}
	if rule.summary == nil {
		rule.summary = summaries
	}
	if rule.phases == nil {
		rule.phases = defaultPhases
	}
	return rule
}

func (r customRule) fits(kind schema.GroupKind) bool {
	group := r.group == kind.Group || strings.HasPrefix(r.group, ".") && strings.HasSuffix(kind.Group, r.group)
	return group && (r.kind == "" || r.kind == kind.Kind)
}

// conditionsOf returns the lists of conditions of an object.
func (r customRule) conditionsOf(object *unstructured.Unstructured) []conditions {
	if r.nested != "" {
		items, _ := field(object, "status", r.nested).([]any)
		var lists []conditions
		for _, item := range items {
			if fields, ok := item.(map[string]any); ok {
				lists = append(lists, conditionsOf(fields["conditions"]))
			}
		}
		return lists
	}
	list := field(object, "status", "conditions")
	if written := object.GetAnnotations()[r.conditionsAnnotation]; list == nil && written != "" {
		// What is not JSON counts as no conditions.
		_ = json.Unmarshal([]byte(written), &list)
	}
	return []conditions{conditionsOf(list)}
}

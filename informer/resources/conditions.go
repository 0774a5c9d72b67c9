package resources

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// statusCondition is an entry of an object's status.conditions.
type statusCondition struct {
	kind            string
	status          corev1.ConditionStatus
	reason, message string
	// advisory means that the condition does not count for the object as a whole
	// (severity Warning or Info, knative.dev/pkg/apis).
	advisory bool
}

// is reports whether there is such a condition with the status.
func (c *statusCondition) is(status corev1.ConditionStatus) bool {
	return c != nil && c.status == status
}

// conditionDegraded is a status of the Prometheus operator beside True, False and
// Unknown: available, but not with all replicas
// (github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1).
const conditionDegraded corev1.ConditionStatus = "Degraded"

type conditions []statusCondition

// conditionsOf reads a list of conditions. An entry that is no condition is
// skipped: it must not hide what the others say.
func conditionsOf(list any) conditions {
	entries, _ := list.([]any)
	var all conditions
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		c := statusCondition{kind: text(fields["type"]), reason: text(fields["reason"]), message: text(fields["message"])}
		status := text(fields["status"])
		if truth, ok := fields["status"].(bool); ok {
			status = strconv.FormatBool(truth)
		}
		for _, known := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown, conditionDegraded} {
			if strings.EqualFold(status, string(known)) {
				c.status = known
			}
		}
		severity := text(fields["severity"])
		c.advisory = severity == "Warning" || severity == "Info"
		if c.kind != "" && c.status != "" {
			all = append(all, c)
		}
	}
	return all
}

// text returns a field that is a string, otherwise "".
func text(field any) string {
	s, _ := field.(string)
	return s
}

// get returns a condition that counts for the object as a whole, nil if there is
// none.
func (all conditions) get(kind string) *statusCondition {
	for i := range all {
		if all[i].kind == kind && !all[i].advisory {
			return &all[i]
		}
	}
	return nil
}

// first returns the first of the kinds that exists.
func (all conditions) first(kinds []string) *statusCondition {
	for _, kind := range kinds {
		if c := all.get(kind); c != nil {
			return c
		}
	}
	return nil
}

// firstWith returns the first of the kinds that has the status.
func (all conditions) firstWith(status corev1.ConditionStatus, kinds []string) *statusCondition {
	for _, kind := range kinds {
		if c := all.get(kind); c.is(status) {
			return c
		}
	}
	return nil
}

// field returns a field of an object, nil if it is missing.
func field(object *unstructured.Unstructured, path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		return nil
	}
	return value
}

// integer returns a field as an integer. Some controllers write numbers as strings,
// as Argo Rollouts does with status.observedGeneration.
func integer(object *unstructured.Unstructured, path ...string) (n int64, ok bool) {
	value := field(object, path...)
	if n, ok := value.(int64); ok {
		return n, true
	}
	if f, ok := value.(float64); ok {
		return int64(f), f == math.Trunc(f) && math.Abs(f) < 1<<53
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text(value)), 10, 64)
	return n, err == nil
}

// failureWords are the words by which a reason, which is one word in CamelCase,
// names a failure instead of something that is still to come.
var failureWords = map[string]bool{
	"fail": true, "failed": true, "failing": true, "failure": true, "failures": true, "fatal": true,
	"err": true, "error": true, "errors": true, "errored": true, "exception": true,
	"invalid": true, "denied": true, "rejected": true, "forbidden": true, "unsupported": true,
	"exceeded": true, "exhausted": true, "unable": true, "cannot": true, "misconfigured": true, "unhealthy": true,
}

// namesFailure reports whether a condition's reason names a failure.
func (c *statusCondition) namesFailure() bool {
	if c == nil {
		return false
	}
	for _, word := range words(c.reason) {
		if failureWords[word] {
			return true
		}
	}
	return false
}

// words splits a name in CamelCase into words in lower case: ErrRegisterACMEAccount
// has err, register and acmeaccount.
func words(name string) []string {
	var all []string
	begin := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) || !unicode.IsLetter(runes[i]) {
			if word := strings.ToLower(strings.Trim(string(runes[begin:i]), "-_. ")); word != "" {
				all = append(all, word)
			}
			begin = i
		}
	}
	return all
}

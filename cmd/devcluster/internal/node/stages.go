package node

import (
	"fmt"
	"time"

	"sigs.k8s.io/kwok/pkg/apis/internalversion"
)

var (
	nodeResource = internalversion.StageResourceRef{APIGroup: "v1", Kind: "Node"}
	podResource  = internalversion.StageResourceRef{APIGroup: "v1", Kind: "Pod"}
)

// These are jq expressions over a pod. One may return several values: isOneOf holds
// if any of them is listed, isNot if none is.
const (
	// behaviorQuery returns the behavior of every container, like behaviors in behavior.go.
	behaviorQuery = `(.metadata.annotations["` + BehaviorAnnotation + `"] // (.spec.containers[] | ` + tagQuery + `)),` +
		`(.spec.initContainers[]? | ` + tagQuery + `),` +
		`(.metadata.annotations["` + DelayAnnotation + `"] | select(. != null) | "slow")`
	tagQuery = `.image | split("@")[0] | split(":") | last`

	allStatuses   = `(.status.initContainerStatuses[]?, .status.containerStatuses[]?)`
	waitingQuery  = allStatuses + ` | .state.waiting.reason`
	startedQuery  = `.status.containerStatuses`
	phaseQuery    = `.status.phase`
	restartQuery  = `.spec.restartPolicy`
	deletedQuery  = `.metadata.deletionTimestamp`
	durationQuery = `.metadata.annotations["` + DurationAnnotation + `"]`
	delayQuery    = `.metadata.annotations["` + DelayAnnotation + `"]`
	// The delay doubles with every restart, like backOff in status.go.
	backOffQuery = `[300, 10 * pow(2; ([` + allStatuses + ` | .restartCount] | max) - 1)] | min | "\(.)s"`
)

// steps are the steps of a pod. In each state at most one of them applies: if several
// do, KWOK picks one at random.
var steps = []step{
	{
		// pkg/kubelet/status/generate.go: the conditions of a pod whose containers are
		// all ready.
		name:   "ready",
		status: "running",
		when: all(
			absent(startedQuery),
			isNot(behaviorQuery, MissingImage, Crash, Fail, Slow)),
	},
	{
		// pkg/kubelet/kubelet_pods.go: ContainerCreating, or PodInitializing while init
		// containers run.
		name:   "create",
		status: "creating",
		when: all(
			absent(startedQuery),
			isOneOf(behaviorQuery, Slow),
			isNot(behaviorQuery, MissingImage, Crash, Fail)),
	},
	{
		// pkg/kubelet/status/generate.go: like ready.
		name:       "ready-slowly",
		status:     "running",
		after:      5 * time.Second,
		afterQuery: delayQuery,
		when: all(
			isOneOf(waitingQuery, creatingReason, initializingReason),
			isNot(behaviorQuery, MissingImage, Crash, Fail)),
	},
	{
		// pkg/kubelet/images/types.go: the reason ErrImagePull.
		// pkg/kubelet/images/image_manager.go: the message is the runtime's error. This
		// one is containerd's for a tag that the registry does not have.
		// pkg/kubelet/kuberuntime/kuberuntime_container.go: the event.
		name:   "pull",
		status: "pullFailed",
		after:  300 * time.Millisecond,
		event:  "Error: " + pullFailedReason,
		when: all(
			absent(startedQuery),
			isOneOf(behaviorQuery, MissingImage)),
	},
	{
		// pkg/kubelet/images/types.go: the reason ImagePullBackOff.
		// pkg/kubelet/images/image_manager.go: its message, which quotes the
		// failed pull.
		// pkg/kubelet/kuberuntime/kuberuntime_container.go: the event.
		name:   "back-off-pull",
		status: "pullBackOff",
		after:  1500 * time.Millisecond,
		event:  "Error: " + pullBackOffReason,
		when:   all(isOneOf(waitingQuery, pullFailedReason)),
	},
	{
		// pkg/kubelet/status/generate.go: ContainersNotReady, as for a container whose
		// readiness probe has not succeeded yet.
		name:   "start-in-vain",
		status: "started",
		when: all(
			absent(startedQuery),
			isOneOf(behaviorQuery, Crash, Fail),
			isNot(behaviorQuery, MissingImage)),
	},
	{
		// pkg/kubelet/container/sync_result.go: the reason CrashLoopBackOff.
		// pkg/kubelet/kuberuntime/kuberuntime_manager.go: its message. The reason of the
		// container's last termination, here and below, is the runtime's: see containerd's
		// internal/cri/server/helpers.go.
		name:       "crash",
		status:     "crashed",
		after:      time.Second,
		afterQuery: durationQuery,
		when: all(
			present(startedQuery),
			isOneOf(phaseQuery, "Pending", "Running"),
			isOneOf(behaviorQuery, Crash, Fail),
			isNot(behaviorQuery, MissingImage),
			isNot(restartQuery, "Never"),
			isNot(waitingQuery, crashLoopReason)),
	},
	{
		// pkg/kubelet/kubelet.go: the first and the longest back-off.
		// pkg/kubelet/status/generate.go: ContainersNotReady, as in start-in-vain.
		name:       "restart",
		status:     "restarted",
		after:      firstBackOff,
		afterQuery: backOffQuery,
		when:       all(isOneOf(waitingQuery, crashLoopReason)),
	},
	{
		// pkg/kubelet/kubelet_pods.go (getPhase): a container failed, and none will be
		// restarted.
		name:       "fail",
		status:     "failed",
		after:      time.Second,
		afterQuery: durationQuery,
		when: all(
			present(startedQuery),
			isOneOf(phaseQuery, "Pending", "Running"),
			isOneOf(behaviorQuery, Crash, Fail),
			isNot(behaviorQuery, MissingImage),
			isOneOf(restartQuery, "Never")),
	},
	{
		// pkg/kubelet/kubelet_pods.go (getPhase): all containers succeeded, and none will
		// be restarted.
		name:       "complete",
		status:     "completed",
		after:      time.Second,
		afterQuery: durationQuery,
		when: all(
			isOneOf(phaseQuery, "Running"),
			isNot(restartQuery, "Always"),
			isNot(behaviorQuery, MissingImage, Crash, Fail)),
	},
}

// podDeletion ends a pod that is being deleted at once: no container needs time to
// stop.
var podDeletion = &internalversion.Stage{
	ObjectMeta: named("delete"),
	Spec: internalversion.StageSpec{
		ResourceRef: podResource,
		Selector:    &internalversion.StageSelector{MatchExpressions: all(present(deletedQuery))},
		Steps:       []internalversion.StageStep{{Delete: true}},
	},
}

// nodeStages register the node's capacity and keep the node ready.
func nodeStages() []*internalversion.Stage {
	const readyQuery = `.status.conditions[]? | select(.type == "Ready") | .status`
	const conditions = `
conditions:
{{- range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ Now | Quote }}
  lastTransitionTime: {{ $.metadata.creationTimestamp | Quote }}
{{- end }}
`
	resources := fmt.Sprintf("{cpu: %q, memory: %q, pods: %q, ephemeral-storage: 1Ti}", cpus, memory, pods)
	register := step{
		name: "register",
		when: all(isNot(readyQuery, "True")),
		status: conditions + `
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ NodeName | Quote }}}
capacity: ` + resources + `
allocatable: ` + resources + `
nodeInfo:
  architecture: amd64
  operatingSystem: linux
  osImage: devcluster
  kernelVersion: none
  containerRuntimeVersion: kwok://{{ Version }}
  kubeletVersion: kwok-{{ Version }}
  kubeProxyVersion: ""
  machineID: ""
  systemUUID: ""
  bootID: ""
`,
	}
	// pkg/kubelet/apis/config/v1beta1/defaults.go: besides the lease, the status itself
	// is reported every five minutes.
	report := step{
		name:   "report",
		when:   all(isOneOf(readyQuery, "True")),
		after:  5 * time.Minute,
		status: conditions,
	}
	return []*internalversion.Stage{register.stage(nodeResource), report.stage(nodeResource)}
}

package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// These are the reasons that a kubelet gives for a waiting container.
const (
	creatingReason     = "ContainerCreating"
	initializingReason = "PodInitializing"
	pullFailedReason   = "ErrImagePull"
	pullBackOffReason  = "ImagePullBackOff"
	crashLoopReason    = "CrashLoopBackOff"
)

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
)

// templateFunctions render the new status of a pod, with one function for each state
// that a step leads to. Each takes the pod and, if the pod has no IP addresses yet,
// its new ones.
var templateFunctions = gotpl.FuncMap{
	"creating":    render(creating),
	"running":     render(running),
	"pullFailed":  render(pullFailed),
	"pullBackOff": render(pullBackOff),
	"started":     render(started),
	"restarted":   render(restarted),
	"crashed":     render(crashed),
	"failed":      render(failed),
	"completed":   render(completed),
}

// container is a container of the pod whose new status is being computed.
type container struct {
	corev1.ContainerStatus
	behavior Behavior
	pod      *corev1.Pod
	now      metav1.Time
}

// state changes the status of the containers that a step affects and leaves the
// others running. It returns the pod's phase.
type state func(c *container) corev1.PodPhase

func creating(c *container) corev1.PodPhase {
	c.wait(creatingReason, "")
	return corev1.PodPending
}

func running(*container) corev1.PodPhase { return corev1.PodRunning }

func pullFailed(c *container) corev1.PodPhase {
	if c.behavior == MissingImage {
		c.wait(pullFailedReason, pullError(c.Image))
	}
	return corev1.PodPending
}

func pullBackOff(c *container) corev1.PodPhase {
	if c.behavior == MissingImage {
		c.wait(pullBackOffReason, fmt.Sprintf("Back-off pulling image %q: %s: %s", c.Image, pullFailedReason, pullError(c.Image)))
	}
	return corev1.PodPending
}

// started lets a failing container run without becoming ready. If it were ready for a
// moment, its Deployment would be available, and a waiting Helm would succeed.
func started(c *container) corev1.PodPhase {
	if c.behavior.ends() {
		c.Ready = false
	}
	return corev1.PodRunning
}

func restarted(c *container) corev1.PodPhase {
	if c.behavior.ends() {
		c.RestartCount++
	}
	return started(c)
}

// crashed counts at least one restart: a kubelet repeats the first start without delay,
// and backs off only after that start failed too.
func crashed(c *container) corev1.PodPhase {
	if c.behavior.ends() {
		c.RestartCount = max(c.RestartCount, 1)
		c.LastTerminationState.Terminated = c.terminated(1)
		c.wait(crashLoopReason, fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
			backOff(c.RestartCount), c.Name, c.pod.Name, c.pod.Namespace, c.pod.UID))
	}
	return corev1.PodRunning
}

func failed(c *container) corev1.PodPhase {
	code := int32(0)
	if c.behavior.ends() {
		code = 1
	}
	c.end(code)
	return corev1.PodFailed
}

func completed(c *container) corev1.PodPhase {
	c.end(0)
	return corev1.PodSucceeded
}

// pullError returns containerd's error for a tag that the registry does not have.
func pullError(image string) string {
	reference := image
	if first, _, found := strings.Cut(image, "/"); !found {
		reference = "docker.io/library/" + image
	} else if !strings.ContainsAny(first, ".:") && first != "localhost" {
		reference = "docker.io/" + image
	}
	return fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: "+
		"failed to resolve reference %q: %s: not found", reference, reference, reference)
}

// backOff returns the delay before the next restart, after this many.
func backOff(restarts int32) time.Duration {
	if restarts > 6 {
		return maxBackOff
	}
	return min(firstBackOff<<(restarts-1), maxBackOff)
}

func (c *container) wait(reason, message string) {
	c.Ready = false
	c.Started = new(bool)
	c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func (c *container) end(code int32) {
	ended := c.terminated(code)
	c.Ready = false
	c.Started = new(bool)
	c.State = corev1.ContainerState{Terminated: ended}
}

// terminated describes the end of the container's current run, at the present time.
func (c *container) terminated(code int32) *corev1.ContainerStateTerminated {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	since := c.now
	if c.State.Running != nil {
		since = c.State.Running.StartedAt
	}
	return &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: since, FinishedAt: c.now}
}

// render turns a state into a template function.
func render(s state) func(object any, ips ...[]string) (string, error) {
	return func(object any, ips ...[]string) (string, error) {
		text, err := json.Marshal(object)
		if err != nil {
			return "", err
		}
		var pod corev1.Pod
		if err := json.Unmarshal(text, &pod); err != nil {
			return "", fmt.Errorf("read pod: %w", err)
		}
		text, err = json.Marshal(newStatus(&pod, slices.Concat(ips...), s, metav1.Now()))
		return string(text), err
	}
}

// newStatus returns the status of pod in state s. ips are its new addresses if it has
// none yet.
func newStatus(pod *corev1.Pod, ips []string, s state, now metav1.Time) corev1.PodStatus {
	status := corev1.PodStatus{
		ObservedGeneration: pod.Generation,
		StartTime:          pod.Status.StartTime,
		PodIP:              pod.Status.PodIP,
		PodIPs:             pod.Status.PodIPs,
		HostIP:             nodeIP,
		HostIPs:            []corev1.HostIP{{IP: nodeIP}},
	}
	if status.StartTime == nil {
		status.StartTime = &now
	}
	for i, ip := range ips {
		if i == 0 {
			status.PodIP = ip
		}
		status.PodIPs = append(status.PodIPs, corev1.PodIP{IP: ip})
	}

	initialized := true
	inits := behaviors(pod, pod.Spec.InitContainers, true)
	for i, spec := range pod.Spec.InitContainers {
		c := newContainer(pod, spec, pod.Status.InitContainerStatuses, inits[i], now)
		switch {
		case !initialized:
			c.wait(initializingReason, "")
		case initBlocks(c, s):
			initialized = false
			status.Phase = corev1.PodPending
			if phase := s(c); phase == corev1.PodFailed {
				status.Phase = phase
			}
		case spec.RestartPolicy == nil || *spec.RestartPolicy != corev1.ContainerRestartPolicyAlways:
			c.end(0)
			c.Ready = true
		}
		status.InitContainerStatuses = append(status.InitContainerStatuses, c.ContainerStatus)
	}
	mains := behaviors(pod, pod.Spec.Containers, false)
	for i, spec := range pod.Spec.Containers {
		c := newContainer(pod, spec, pod.Status.ContainerStatuses, mains[i], now)
		if !initialized {
			c.wait(initializingReason, "")
		} else {
			status.Phase = s(c)
		}
		status.ContainerStatuses = append(status.ContainerStatuses, c.ContainerStatus)
	}
	status.Conditions = conditions(pod, status, initialized, now)
	return status
}

// initBlocks reports whether an init container keeps the pod from continuing.
func initBlocks(c *container, s state) bool {
	before := c.ContainerStatus
	s(c)
	blocks := !c.Ready && c.State.Terminated == nil || c.State.Terminated != nil && c.State.Terminated.ExitCode != 0
	c.ContainerStatus = before
	return blocks
}

// newContainer returns a running, ready container, with the restarts and the last
// termination from the pod's present status.
func newContainer(pod *corev1.Pod, spec corev1.Container, known []corev1.ContainerStatus, behavior Behavior, now metav1.Time) *container {
	started := true
	c := &container{behavior: behavior, pod: pod, now: now, ContainerStatus: corev1.ContainerStatus{
		Name:    spec.Name,
		Image:   spec.Image,
		Ready:   true,
		Started: &started,
		State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
	}}
	at := slices.IndexFunc(known, func(s corev1.ContainerStatus) bool { return s.Name == spec.Name })
	if at >= 0 {
		c.RestartCount = known[at].RestartCount
		c.LastTerminationState = known[at].LastTerminationState
		if known[at].State.Running != nil {
			c.State = known[at].State
		}
	}
	return c
}

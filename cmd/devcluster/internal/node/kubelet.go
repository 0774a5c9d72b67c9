package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// kubelet serves the part of a kubelet's API that the API server needs for
// containers' logs. The logs are made up, since nothing runs.
type kubelet struct {
	client   kubernetes.Interface
	listener net.Listener
}

func newKubelet(client kubernetes.Interface) (*kubelet, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(nodeIP, "0"))
	if err != nil {
		return nil, err
	}
	return &kubelet{client: client, listener: listener}, nil
}

// port returns the kubelet's port, for the node's status.
func (k *kubelet) port() int32 { return int32(k.listener.Addr().(*net.TCPAddr).Port) }

// run serves until ctx is done.
func (k *kubelet) run(ctx context.Context, certFile, keyFile string) error {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.log)
	server := &http.Server{Handler: routes}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // its connections end with the process
	if err := server.ServeTLS(k.listener, certFile, keyFile); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// log responds as pkg/kubelet/kubelet_pods.go (GetKubeletContainerLogs) does.
func (k *kubelet) log(w http.ResponseWriter, r *http.Request) {
	pod, err := k.client.CoreV1().Pods(r.PathValue("namespace")).Get(r.Context(), r.PathValue("pod"), metav1.GetOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	name, query := r.PathValue("container"), r.URL.Query()
	if !hasRun(pod, name, query.Get("previous") == "true") {
		http.Error(w, fmt.Sprintf("container %q in pod %q has not run", name, pod.Name), http.StatusBadRequest)
		return
	}
	fmt.Fprint(w, lastOf(logOf(pod, name), query.Get("tailLines"), query.Get("limitBytes")))
}

// hasRun reports whether a container has run or, with previous, whether it has run
// before its last restart.
func hasRun(pod *corev1.Pod, name string, previous bool) bool {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, s := range statuses {
			if s.Name == name {
				ended := s.LastTerminationState.Terminated != nil
				return ended || !previous && (s.State.Running != nil || s.State.Terminated != nil)
			}
		}
	}
	return false
}

// logOf returns the log of a container: LogAnnotation, or else a line for the
// start and one for a failure.
func logOf(pod *corev1.Pod, name string) string {
	if text, ok := pod.Annotations[LogAnnotation]; ok {
		return strings.TrimRight(text, "\n") + "\n"
	}
	text := name + ": started\n"
	for _, group := range []struct {
		containers []corev1.Container
		initial    bool
	}{{pod.Spec.InitContainers, true}, {pod.Spec.Containers, false}} {
		for i, b := range behaviors(pod, group.containers, group.initial) {
			if group.containers[i].Name == name && b.ends() {
				text += name + ": fatal: made to end badly\n"
			}
		}
	}
	return text
}

// lastOf returns the last lines of a log, and of these the last bytes. A limit
// that is not a number is ignored.
func lastOf(log, lines, limit string) string {
	if n, err := strconv.Atoi(lines); err == nil {
		all := strings.SplitAfter(log, "\n")
		all = all[:len(all)-1] // the text ends with a newline
		log = strings.Join(all[max(0, len(all)-n):], "")
	}
	if n, err := strconv.Atoi(limit); err == nil {
		log = log[:min(n, len(log))]
	}
	return log
}

package test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestCluster runs one cluster and checks everything about it concurrently.
func TestCluster(t *testing.T) {
	t.Parallel()
	p := up(t, t.TempDir())
	client := p.client(t)
	t.Run("in use", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *process, *kubernetes.Clientset, string){
			"Deployment":    testDeployment,
			"MissingImage":  testMissingImage,
			"Crash":         testCrash,
			"Logs":          testLogs,
			"Slow":          testSlow,
			"Job":           testJob,
			"FailingJob":    testFailingJob,
			"Unschedulable": testUnschedulable,
			"Namespace":     testNamespace,
			"Tokens":        testTokens,
			"Version":       testVersion,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ns := "test-" + strings.ToLower(name)
				_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				eventually(t, func() error {
					_, err := client.CoreV1().ServiceAccounts(ns).Get(t.Context(), "default", metav1.GetOptions{})
					return err
				})
				test(t, p, client, ns)
			})
		}
	})
	p.stop(t, syscall.SIGTERM)
}

func testDeployment(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	labels := map[string]string{"app": "web"}
	replicas := int32(3)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:latest"}}},
			},
		},
	}
	if _, err := client.AppsV1().Deployments(ns).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		d, err := client.AppsV1().Deployments(ns).Get(t.Context(), "web", metav1.GetOptions{})
		if err == nil && d.Status.AvailableReplicas != replicas {
			err = fmt.Errorf("%d of %d replicas available", d.Status.AvailableReplicas, replicas)
		}
		return err
	})
	if err := client.AppsV1().Deployments(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// The garbage collector deletes the pods, and the node ends them.
	eventually(t, func() error {
		pods, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods left", len(pods.Items))
		}
		return err
	})
}

func testMissingImage(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	create(t, client, ns, barePod("web", "shop/web:doesnotexist"))
	eventually(t, podShows(t, client, ns, "web", waits("ImagePullBackOff",
		`Back-off pulling image "shop/web:doesnotexist": ErrImagePull: rpc error: code = NotFound`)))
	eventually(t, func() error {
		events, err := client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web,reason=Failed"})
		if err == nil && !slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Message == "Error: ImagePullBackOff" }) {
			err = fmt.Errorf("no event about the back-off among %d", len(events.Items))
		}
		return err
	})
}

func testCrash(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	pod := create(t, client, ns, barePod("web", "web:crash"))
	eventually(t, podShows(t, client, ns, "web", waits("CrashLoopBackOff",
		fmt.Sprintf("back-off 10s restarting failed container=main pod=web_%s(%s)", ns, pod.UID))))
	// The first back-off lasts ten seconds.
	eventually(t, podShows(t, client, ns, "web", func(pod *corev1.Pod) error {
		if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts < 2 {
			return fmt.Errorf("%d restarts", restarts)
		}
		return nil
	}))
}

func testLogs(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	told := barePod("told", "web:crash")
	told.Annotations = map[string]string{"devcluster.helmtrail.dev/log": "one\ntwo\nthree"}
	create(t, client, ns, told)
	create(t, client, ns, barePod("web", "web:crash"))
	for name, want := range map[string]string{"told": "two\nthree\n", "web": "main: started\nmain: fatal: made to end badly\n"} {
		eventually(t, podShows(t, client, ns, name, waits("CrashLoopBackOff", "")))
		lines := int64(2)
		got, err := client.CoreV1().Pods(ns).GetLogs(name, &corev1.PodLogOptions{Previous: true, TailLines: &lines}).DoRaw(t.Context())
		if err != nil || string(got) != want {
			t.Errorf("the log of %s is %q, %v; want %q", name, got, err, want)
		}
	}
	create(t, client, ns, barePod("absent", "web:doesnotexist"))
	eventually(t, podShows(t, client, ns, "absent", waits("ErrImagePull", "")))
	if got, err := client.CoreV1().Pods(ns).GetLogs("absent", &corev1.PodLogOptions{}).DoRaw(t.Context()); !apierrors.IsBadRequest(err) {
		t.Errorf("the log of a container that has not run is %q, %v", got, err)
	}
}

func testSlow(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	started := time.Now()
	create(t, client, ns, barePod("slow", "web:slow"))
	quick := barePod("quick", "web:1")
	quick.Annotations = map[string]string{"devcluster.helmtrail.dev/delay": "2s"}
	create(t, client, ns, quick)
	eventually(t, podShows(t, client, ns, "slow", waits("ContainerCreating", "")))
	eventually(t, podShows(t, client, ns, "quick", isReady))
	if took := time.Since(started); took < 2*time.Second {
		t.Errorf("a pod with a delay of 2 s was ready after %v", took)
	}
	eventually(t, podShows(t, client, ns, "slow", isReady))
	if took := time.Since(started); took < 5*time.Second {
		t.Errorf("a slow pod was ready after %v, want 5 s", took)
	}
}

func testJob(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	runJob(t, client, ns, "task:1", batchv1.JobComplete)
}

func testFailingJob(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	runJob(t, client, ns, "task:fail", batchv1.JobFailed)
}

// runJob runs a job and waits until it ends in the given way.
func runJob(t *testing.T, client *kubernetes.Clientset, ns, image string, want batchv1.JobConditionType) {
	t.Helper()
	retries := int32(0)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "task"},
		Spec: batchv1.JobSpec{
			BackoffLimit: &retries,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: image}},
			}},
		},
	}
	if _, err := client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		job, err := client.BatchV1().Jobs(ns).Get(t.Context(), "task", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range job.Status.Conditions {
			if c.Type == want && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("job is not %s: %+v", want, job.Status)
	})
}

func testUnschedulable(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	pod := barePod("big", "web:1")
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000")}
	create(t, client, ns, pod)
	eventually(t, podShows(t, client, ns, "big", func(pod *corev1.Pod) error {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable && strings.Contains(c.Message, "Insufficient cpu") {
				return nil
			}
		}
		return fmt.Errorf("conditions are %+v, want unschedulable for its CPU request", pod.Status.Conditions)
	}))
}

// testNamespace checks that a namespace with a running pod can be deleted.
func testNamespace(t *testing.T, _ *process, client *kubernetes.Clientset, ns string) {
	create(t, client, ns, barePod("web", "web:1"))
	eventually(t, podShows(t, client, ns, "web", isReady))
	if err := client.CoreV1().Namespaces().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), ns, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err == nil:
			return fmt.Errorf("namespace %s is still there", ns)
		}
		return err
	})
}

// testTokens checks that RBAC is enabled, and that the tokens of service
// accounts, which helmtrail's callers send, are accepted and have no permissions
// by default.
func testTokens(t *testing.T, p *process, client *kubernetes.Clientset, ns string) {
	request, err := client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.CertData, config.KeyData, config.BearerToken = nil, nil, request.Status.Token
	caller, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = caller.CoreV1().Secrets(ns).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "system:serviceaccount:"+ns+":default") {
		t.Errorf("listing secrets with a plain account's token: %v, want forbidden for that account", err)
	}
}

// testVersion checks that the API server reports a version that Helm can parse.
func testVersion(t *testing.T, _ *process, client *kubernetes.Clientset, _ string) {
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.37.2" || version.Major != "1" || version.Minor != "37" {
		t.Errorf("version is %s (%s.%s), want v1.37.2 (1.37)", version.GitVersion, version.Major, version.Minor)
	}
}

func barePod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

func create(t *testing.T, client *kubernetes.Clientset, ns string, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	created, err := client.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// podShows turns a check of a pod into a check for eventually.
func podShows(t *testing.T, client *kubernetes.Clientset, ns, name string, check func(*corev1.Pod) error) func() error {
	return func() error {
		pod, err := client.CoreV1().Pods(ns).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return check(pod)
	}
}

func isReady(pod *corev1.Pod) error {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("pod is not ready: %+v", pod.Status)
}

// waits returns a check that the pod's container waits for a reason, with a
// message that starts with message.
func waits(reason, message string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil && w.Reason == reason && strings.HasPrefix(w.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("containers are %+v, want waiting for %s: %s", pod.Status.ContainerStatuses, reason, message)
	}
}

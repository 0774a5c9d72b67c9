// Command generate creates the release Secrets in decoder/testdata again, with
// real helm binaries on a real cluster. Run it from the folder decoder:
//
//	go run ./testdata/generate -kubeconfig K -helm3 ../bin/helm3 -helm4 ../bin/helm4
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("HELMTRAIL_TEST_KUBECONFIG"), "kubeconfig of a cluster that may be written to")
	helm3 := flag.String("helm3", "../bin/helm3", "helm 3 binary")
	helm4 := flag.String("helm4", "../bin/helm4", "helm 4 binary")
	flag.Parse()
	for _, helm := range []string{*helm3, *helm4} {
		g := generator{kubeconfig: *kubeconfig, helm: helm, folder: filepath.Base(helm)}
		g.namespace = "fixtures-" + g.folder
		if err := g.run(context.Background()); err != nil {
			log.Fatalf("generate with %s: %v", helm, err)
		}
	}
}

type generator struct {
	kubeconfig, helm string
	// folder is where the Secrets go, helm3 or helm4.
	folder, namespace string
	client            kubernetes.Interface
}

func (g *generator) run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", g.kubeconfig)
	if err != nil {
		return err
	}
	if g.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	const web = "testdata/web"
	steps := []struct {
		fails bool
		args  []string
	}{
		{false, []string{"install", "web", web, "--create-namespace", "--set", "tag=first"}},
		{false, []string{"upgrade", "web", web, "--set-json", `id=12345678901234567890,ratio=1.10`, "--labels", "team=blue"}},
		{false, []string{"rollback", "web", "1"}},
		{true, []string{"upgrade", "web", web, "--set", "tag=doesnotexist", "--wait", "--timeout", "3s"}},
		{false, []string{"install", "kept.v2", web}},
		{false, []string{"uninstall", "kept.v2", "--keep-history"}},
	}
	for _, step := range steps {
		if err := g.command(step.args).Run(); (err != nil) != step.fails {
			return fmt.Errorf("%v: %w", step.args, err)
		}
	}
	if err := g.stick(ctx, web); err != nil {
		return err
	}
	// One record of about the largest size that a Secret can hold is enough.
	if g.folder == "helm3" {
		large, err := largeChart()
		if err != nil {
			return err
		}
		defer os.RemoveAll(large)
		if err := g.command([]string{"install", "large", large}).Run(); err != nil {
			return fmt.Errorf("install the large chart: %w", err)
		}
	}
	if err := g.save(ctx); err != nil {
		return err
	}
	return g.cleanUp(ctx)
}

// cleanUp deletes the namespace and waits until it is gone, so that the next
// run can use it again.
func (g *generator) cleanUp(ctx context.Context) error {
	namespaces := g.client.CoreV1().Namespaces()
	if err := namespaces.Delete(ctx, g.namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for {
		_, err := namespaces.Get(ctx, g.namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// stick kills an install as soon as its record exists.
func (g *generator) stick(ctx context.Context, chart string) error {
	helm := g.command([]string{"install", "stuck", chart, "--set", "tag=doesnotexist", "--wait"})
	if err := helm.Start(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		_, err := g.client.CoreV1().Secrets(g.namespace).Get(ctx, "sh.helm.release.v1.stuck.v1", metav1.GetOptions{})
		if err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := helm.Process.Kill(); err != nil {
		return err
	}
	if err := helm.Wait(); err == nil {
		return fmt.Errorf("install of stuck ended before it could be killed")
	}
	return nil
}

func (g *generator) command(args []string) *exec.Cmd {
	c := exec.Command(g.helm, append(args, "--namespace", g.namespace, "--kubeconfig", g.kubeconfig)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

// save writes the namespace's release Secrets without what the server adds.
func (g *generator) save(ctx context.Context) error {
	secrets, err := g.client.CoreV1().Secrets(g.namespace).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		return err
	}
	folder := filepath.Join("testdata", g.folder)
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, s := range secrets.Items {
		out, err := yaml.Marshal(corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Name: s.Name, Namespace: s.Namespace, UID: s.UID, ResourceVersion: s.ResourceVersion,
				CreationTimestamp: s.CreationTimestamp, Labels: s.Labels},
			Type: s.Type,
			Data: s.Data,
		})
		if err != nil {
			return err
		}
		name := s.Name[len("sh.helm.release.v1."):] + ".yaml"
		if err := os.WriteFile(filepath.Join(folder, name), out, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// largeChart writes a chart whose record nearly fills a Secret, which holds
// 1 MiB: text with about the redundancy of real templates. It is the same chart
// every time.
func largeChart() (string, error) {
	folder, err := os.MkdirTemp("", "large")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(filepath.Join(folder, "templates"), 0o755); err != nil {
		return "", err
	}
	files := map[string][]byte{"Chart.yaml": []byte("apiVersion: v2\nname: large\nversion: 55.5.0\nappVersion: v0.70.0\n" +
		"description: A chart as large as they get\nkubeVersion: \">=1.19.0-0\"\n")}
	random := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 3000)
	for i := range words {
		for range 3 + random.IntN(9) {
			words[i] += string(rune('a' + random.IntN(26)))
		}
	}
	for i := range 92 {
		var b bytes.Buffer
		fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-%d\ndata:\n", i)
		for j := range 330 {
			fmt.Fprintf(&b, "  %s-%d: %s\n", words[random.IntN(len(words))], j, words[random.IntN(len(words))])
		}
		files[fmt.Sprintf("templates/config-%d.yaml", i)] = b.Bytes()
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// Package demo runs helmtrail on a dev cluster and has it install sample releases.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Options configure the demo. All are required.
type Options struct {
	// Dir holds helmtrail's data and log.
	Dir string
	// Helmtrail and Helm are the programs to run.
	Helmtrail string
	Helm      string
	// Charts is the folder that holds the chart web.
	Charts string
	// Listen is helmtrail's address. A free port is used if its port is taken.
	Listen string
	// Out gets the progress.
	Out io.Writer
}

// Run runs the demo on the cluster of kubeconfig. It blocks until ctx is done and
// helmtrail and everything that it started have stopped.
func Run(ctx context.Context, o Options, kubeconfig string) (err error) {
	fmt.Fprintln(o.Out, "starting helmtrail")
	s, err := serve(o, kubeconfig)
	if err != nil {
		return err
	}
	defer func() {
		fmt.Fprintln(o.Out, "stopping helmtrail")
		err = errors.Join(err, s.stop())
	}()
	a := &api{base: s.base}
	if err := a.samples(ctx, o.Out); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	fmt.Fprintf(o.Out, "\n  %s/helm/releases\n\nCtrl-C stops everything.\n", s.base)
	return s.wait(ctx)
}

// request is the body of an install or, without a name, an upgrade.
type request struct {
	Name    string         `json:"name,omitempty"`
	Chart   chart          `json:"chart"`
	Values  map[string]any `json:"values,omitempty"`
	Options map[string]any `json:"options,omitempty"`
}

type chart struct {
	Ref string `json:"ref"`
}

const namespace = "shop"

// samples installs a release that fails, a slow one, and one with a history. The
// first two are still running when it returns.
func (a *api) samples(ctx context.Context, out io.Writer) error {
	if err := a.ready(ctx); err != nil {
		return err
	}
	web := chart{Ref: "web"}
	releases := a.releases(namespace)
	install := func(name string, values, options map[string]any) (accepted, error) {
		options["createNamespace"] = true
		var answer accepted
		err := a.call(ctx, http.MethodPost, releases, request{Name: name, Chart: web, Values: values, Options: options}, &answer)
		return answer, err
	}

	// Only the first install creates the namespace: concurrent attempts would
	// conflict.
	fmt.Fprintln(out, "installing shop/storefront, then three more revisions of it")
	storefront := releases + "/storefront"
	first, err := install("storefront", map[string]any{"smokeTest": map[string]any{"enabled": true}}, map[string]any{"wait": true})
	if err != nil {
		return err
	}
	if err := a.succeed(ctx, storefront, first); err != nil {
		return err
	}

	fmt.Fprintln(out, "installing shop/checkout, whose image does not exist: helm gives up after 20 seconds")
	_, err = install("checkout",
		map[string]any{"image": map[string]any{"tag": "doesnotexist"}},
		map[string]any{"wait": true, "timeoutSeconds": 20})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "installing shop/reports, whose pods take two minutes to become ready")
	_, err = install("reports", map[string]any{"delay": "2m"}, map[string]any{"wait": true, "timeoutSeconds": 180})
	if err != nil {
		return err
	}

	for _, next := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPut, storefront, request{
			Chart:   web,
			Values:  map[string]any{"greeting": "Summer sale", "replicas": 3},
			Options: map[string]any{"wait": true, "description": "Summer sale"},
		}},
		{http.MethodPut, storefront, request{
			Chart: web,
			Values: map[string]any{
				"greeting": "Summer sale", "replicas": 3,
				"image":    map[string]any{"tag": "1.1"},
				"features": map[string]any{"WISHLIST": "on"},
			},
			Options: map[string]any{"wait": true, "description": "Version 1.1 with wish lists"},
		}},
		{http.MethodPost, storefront + "/rollback", map[string]any{
			"revision": 2,
			"options":  map[string]any{"wait": true},
		}},
	} {
		var answer accepted
		if err := a.call(ctx, next.method, next.path, next.body, &answer); err != nil {
			return err
		}
		if err := a.succeed(ctx, storefront, answer); err != nil {
			return err
		}
	}
	return nil
}

// succeed blocks until an operation has ended. It returns an error unless the
// operation succeeded.
func (a *api) succeed(ctx context.Context, release string, started accepted) error {
	ended, err := a.finish(ctx, release, started.SessionID)
	if err != nil {
		return err
	}
	if ended.State == completed {
		return nil
	}
	reason := "no reason given"
	if ended.End != nil {
		reason = ended.End.Message
	}
	return fmt.Errorf("session %s of %s %s: %s", started.SessionID, release, ended.State, reason)
}

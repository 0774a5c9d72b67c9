package drift

import (
	"context"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
)

// Warnings passes the API server's warnings on to the caller of the request. The
// clients of a Comparer must use it, or the warnings are lost.
type Warnings struct{}

var _ rest.WarningHandlerWithContext = Warnings{}

// HandleWarningHeaderWithContext implements [rest.WarningHandlerWithContext].
func (Warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _ string, text string) {
	const miscellaneous = 299 // the only code that Kubernetes uses
	if collected, ok := ctx.Value(warningsKey{}).(*warnings); ok && code == miscellaneous && text != "" {
		collected.add(text)
	}
}

type warningsKey struct{}

// warnings collects the warnings of one request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func collectWarnings(ctx context.Context) (context.Context, *warnings) {
	collected := &warnings{}
	return context.WithValue(ctx, warningsKey{}, collected), collected
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.texts...)
}

package authz

import (
	"context"
	"errors"
	"time"

	"github.com/helmtrail/helmtrail"
)

// Filter decides from which namespaces a reader may see entries. It belongs to one
// request.
type Filter struct {
	caller *Caller
	need   Need
	// allowed holds the reviews made since asked.
	allowed map[string]bool
	asked   time.Time
}

// NewFilter returns a filter for a caller who needs need in a namespace to see its
// entries.
func NewFilter(caller *Caller, need Need) *Filter { return &Filter{caller: caller, need: need} }

// Recheck rechecks the caller.
func (f *Filter) Recheck(ctx context.Context) error { return f.caller.Recheck(ctx) }

// Allows reports whether the reader may see the entries of a namespace; "" means
// those of the whole cluster. It fails if the API server does not answer, or if
// the request has lost its permissions.
func (f *Filter) Allows(ctx context.Context, namespace string) (bool, error) {
	if f.allowed == nil || time.Since(f.asked) >= RecheckAfter {
		f.allowed, f.asked = map[string]bool{}, time.Now()
	}
	if err := f.caller.Recheck(ctx); err != nil {
		return false, err
	}
	allowed, known := f.allowed[namespace]
	if !known {
		err := f.caller.Allows(ctx, f.need, namespace)
		if _, denied := errors.AsType[*helmtrail.ForbiddenError](err); err != nil && !denied {
			return false, err
		}
		allowed = err == nil
		f.allowed[namespace] = allowed
	}
	return allowed, nil
}

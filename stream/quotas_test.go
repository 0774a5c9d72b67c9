package stream_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/helmtrail/helmtrail"
	"github.com/helmtrail/helmtrail/decoder"
	"github.com/helmtrail/helmtrail/stream"
)

func TestQuotas(t *testing.T) {
	type submitted struct {
		operation       helmtrail.Operation
		namespace, user string
		want            helmtrail.QuotaKind // "" if accepted
	}
	const install, rollback, uninstall = helmtrail.OperationInstall, helmtrail.OperationRollback, helmtrail.OperationUninstall
	for name, test := range map[string]struct {
		quotas  stream.Quotas
		submits []submitted
	}{
		"the server keeps room for what ends trouble": {stream.Quotas{Operations: 2}, []submitted{
			{install, "a", "", ""}, {install, "b", "", ""}, {install, "c", "", helmtrail.QuotaServer},
			{rollback, "c", "", ""}, {uninstall, "c", "", helmtrail.QuotaServer},
		}},
		"a tenant's uninstalls take no place of others' installs": {stream.Quotas{Operations: 2, PerNamespace: 1}, []submitted{
			{install, "a", "ann", ""}, {uninstall, "a", "ann", ""}, {install, "b", "bob", ""},
		}},
		"of a namespace": {stream.Quotas{Operations: 9, PerNamespace: 1}, []submitted{
			{install, "a", "ann", ""}, {install, "a", "bob", helmtrail.QuotaNamespace}, {install, "b", "ann", ""},
			{uninstall, "a", "bob", ""}, {uninstall, "a", "ann", helmtrail.QuotaNamespace},
		}},
		"of a user": {stream.Quotas{Operations: 9, PerUser: 1}, []submitted{
			{install, "a", "ann", ""}, {install, "b", "ann", helmtrail.QuotaUser}, {install, "a", "bob", ""}, {rollback, "b", "ann", ""},
		}},
		"nobody is not a user": {stream.Quotas{Operations: 9, PerUser: 1}, []submitted{
			{install, "a", "", ""}, {install, "b", "", ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			o := stream.NewOperations(stream.Setup{Quotas: test.quotas})
			for i, s := range test.submits {
				err := o.Hold(helmtrail.Request{
					Operation: s.operation, User: helmtrail.User{Name: s.user},
					Release: helmtrail.ReleaseRef{Cluster: "dev", Namespace: s.namespace, Name: fmt.Sprint("release-", i)},
				})
				full, _ := errors.AsType[*helmtrail.QuotaError](err)
				switch {
				case s.want == "" && err != nil:
					t.Errorf("submit %d: %v", i, err)
				case s.want != "" && (full == nil || full.Kind != s.want || !errors.Is(err, helmtrail.ErrTooManyOperations)):
					t.Errorf("submit %d: %v, want the quota of the %s", i, err, s.want)
				}
			}
		})
	}
}

// The largest deadline holds for every operation. Only one that asks for more is
// refused.
func TestNoDeadlineIsLaterThanTheLargest(t *testing.T) {
	for _, test := range []struct {
		options helmtrail.Options
		largest time.Duration
		want    float64 // the session's deadline, 0 if it is refused
		field   string
	}{
		{helmtrail.Options{}, time.Hour, 315, ""},
		{helmtrail.Options{}, time.Minute, 60, ""},
		{helmtrail.Options{RollbackOnFailure: true}, 10 * time.Minute, 600, ""},
		{helmtrail.Options{DeadlineSeconds: 3600}, time.Hour, 3600, ""},
		{helmtrail.Options{DeadlineSeconds: 3601}, time.Hour, 0, "options.deadlineSeconds"},
		{helmtrail.Options{TimeoutSeconds: 20000}, time.Hour, 0, "options.timeoutSeconds"},
		{helmtrail.Options{TimeoutSeconds: 20000, DeadlineSeconds: 60}, time.Hour, 60, ""},
		{helmtrail.Options{TimeoutSeconds: 20000}, 0, 20015, ""},
	} {
		o := stream.NewOperations(stream.Setup{
			Journal: openJournal(t), Helm: &idleHelm{}, Quotas: stream.Quotas{Deadline: test.largest}, Logger: slog.New(slog.DiscardHandler),
			Cluster: func(string) (stream.Cluster, bool) {
				return lagging{live: revision(1, decoder.StatusDeployed, "")}, true
			},
		})
		opened, err := o.Start(t.Context(), helmtrail.Request{Operation: helmtrail.OperationUpgrade, Release: session.Release, Options: test.options})
		invalid, _ := errors.AsType[*helmtrail.InvalidError](err)
		switch {
		case test.want == 0 && (invalid == nil || invalid.Field != test.field):
			t.Errorf("%+v within %v: %v, want field %s refused", test.options, test.largest, err, test.field)
		case test.want != 0 && (err != nil || *opened.DeadlineSeconds != test.want):
			t.Errorf("%+v within %v: deadline %v, %v, want %v", test.options, test.largest, opened.DeadlineSeconds, err, test.want)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := o.Run(stopped); err != nil {
			t.Error(err)
		}
	}
}

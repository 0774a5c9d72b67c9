package stream

import (
	"strings"

	"github.com/helmtrail/helmtrail"
)

// race is a transient error, by its code and in a sentence.
type race struct {
	code   helmtrail.RetryCode
	reason string
}

var (
	raceConflict = race{helmtrail.RetryConflict, "conflict: another writer changed an object in between"}
	raceQuota    = race{helmtrail.RetryQuota, "conflict: the resource quota was updated at the same time"}
	raceLeader   = race{helmtrail.RetryLeader, "etcd elected another leader"}
	raceLost     = race{helmtrail.RetryLost, "the connection to the API server was lost"}
	raceRefused  = race{helmtrail.RetryRefused, "the API server refused the connection"}
)

// races are the errors after which another run of helm may succeed, because
// another writer or a short loss of the API server caused them. Each names where
// its text comes from.
var races = []struct {
	text string
	race race
}{
	// k8s.io/apiserver/pkg/registry/generic/registry/store.go, OptimisticLockErrorMsg:
	// a ResourceQuota or any other object that two writers updated at once.
	{"the object has been modified", raceConflict},
	// k8s.io/apiserver/pkg/admission/plugin/resourcequota: the quota's usage could not be updated in time.
	{"Operation cannot be fulfilled on resourcequotas", raceQuota},
	// go.etcd.io/etcd/api/v3rpc/rpctypes/error.go, ErrGRPCLeaderChanged, ErrGRPCNoLeader, ErrGRPCTimeoutDueToLeaderFail.
	{"etcdserver: leader changed", raceLeader},
	{"etcdserver: no leader", raceLeader},
	{"etcdserver: request timed out, possibly due to previous leader failure", raceLeader},
	// golang.org/x/net/http2/transport.go, errClientConnGotGoAway and errClientConnUnusable.
	{"http2: client connection lost", raceLost},
	{"http2: server sent GOAWAY", raceLost},
	// syscall.ECONNRESET and ECONNREFUSED as Go prints them.
	{"connection reset by peer", raceLost},
	{"connect: connection refused", raceRefused},
	// net/http/transport.go, errServerClosedIdle and transportReadFromServerError.
	{"http: server closed idle connection", raceLost},
	{"unexpected EOF", raceLost},
}

// raceOf returns the known race that helm's error contains.
func raceOf(message string) (found race, ok bool) {
	for _, r := range races {
		if strings.Contains(message, r.text) {
			return r.race, true
		}
	}
	return race{}, false
}

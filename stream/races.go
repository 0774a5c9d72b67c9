package stream

import "strings"

// races are the errors after which helm may well succeed when it is run again,
// since what stood in its way was another writer or a moment's loss of the API
// server. Each names where its text comes from.
var races = []struct {
	text, name string
}{
	// k8s.io/apiserver/pkg/registry/generic/registry/store.go, OptimisticLockErrorMsg:
	// a ResourceQuota or any other object that two writers updated at once.
	{"the object has been modified", "conflict: another writer changed an object in between"},
	// k8s.io/apiserver/pkg/admission/plugin/resourcequota: the quota's usage could not be updated in time.
	{"Operation cannot be fulfilled on resourcequotas", "conflict: the resource quota was updated at the same time"},
	// go.etcd.io/etcd/api/v3rpc/rpctypes/error.go, ErrGRPCLeaderChanged, ErrGRPCNoLeader, ErrGRPCTimeoutDueToLeaderFail.
	{"etcdserver: leader changed", "etcd elected another leader"},
	{"etcdserver: no leader", "etcd elected another leader"},
	{"etcdserver: request timed out, possibly due to previous leader failure", "etcd elected another leader"},
	// golang.org/x/net/http2/transport.go, errClientConnGotGoAway and errClientConnUnusable.
	{"http2: client connection lost", "the connection to the API server was lost"},
	{"http2: server sent GOAWAY", "the connection to the API server was lost"},
	// syscall.ECONNRESET and ECONNREFUSED as Go prints them.
	{"connection reset by peer", "the connection to the API server was lost"},
	{"connect: connection refused", "the API server refused the connection"},
	// net/http/transport.go, errServerClosedIdle and transportReadFromServerError.
	{"http: server closed idle connection", "the connection to the API server was lost"},
	{"unexpected EOF", "the connection to the API server was lost"},
}

// raceOf says which known race helm's error tells of.
func raceOf(message string) (name string, ok bool) {
	for _, r := range races {
		if strings.Contains(message, r.text) {
			return r.name, true
		}
	}
	return "", false
}

// Package clustertest gives tests a real Kubernetes API server and real Helms.
//
// $HELMTRAIL_TEST_KUBECONFIG names the API server, so that the packages of one test
// run can share it. Without that variable each test binary runs a dev cluster of its
// own. The dev cluster and both Helms are taken from
// $HELMTRAIL_TEST_BIN, by default the bin folder at the top of the repository,
// where `make build` puts them. A test fails if one of them is missing; it is never
// skipped.
//
// A package that uses clustertest has
//
//	func TestMain(m *testing.M) { clustertest.Main(m) }
package clustertest

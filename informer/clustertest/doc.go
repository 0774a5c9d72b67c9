// Package clustertest gives tests a real Kubernetes API server and real Helms.
//
// The API server is the one that $HELMTRAIL_TEST_KUBECONFIG names, so that the
// packages of one test run can share it; without that variable each test binary
// runs a dev cluster of its own. It and both Helms are taken from
// $HELMTRAIL_TEST_BIN, by default the bin folder at the top of the repository,
// where `make build` puts them. What is missing fails the test, never skips it.
//
// A package that uses it has
//
//	func TestMain(m *testing.M) { clustertest.Main(m) }
package clustertest

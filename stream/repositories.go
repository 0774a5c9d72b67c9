package stream

// ChartRepository is a chart repository that a cluster's own objects name.
type ChartRepository struct {
	Name string
	// Namespace is that of a project's repository, "" for the whole cluster's.
	Namespace string
	URL       string
	// Access is what its server wants to see: the keys username, password,
	// ca.crt, tls.crt and tls.key, as far as there are any. It is a secret.
	Access map[string][]byte
	// Problem says why the repository cannot be used, "" when it can.
	Problem string
}

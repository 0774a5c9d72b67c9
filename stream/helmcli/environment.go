package helmcli

import "os"

// passedOn are the variables of helmtrail's own environment that helm gets:
// how to find programs, proxies and certificate authorities (net/http,
// crypto/x509).
var passedOn = []string{
	"PATH", "LANG", "LC_ALL", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment is all that helm gets. It is built, not inherited, so nothing of
// helmtrail's own can leak into it and nobody else's plugins or repositories
// are found.
func environment(f folder, extra []string) []string {
	var env []string
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	home := f.path(homeFolder)
	env = append(env,
		"HOME="+home,
		"TMPDIR="+home+"/tmp",
		"KUBECONFIG="+f.path(kubeconfigFile),
		"HELM_CACHE_HOME="+home+"/cache",
		"HELM_CONFIG_HOME="+home+"/config",
		"HELM_DATA_HOME="+home+"/data",
		"HELM_PLUGINS="+home+"/plugins",
		"HELM_DRIVER=secret",
	)
	return append(env, extra...)
}

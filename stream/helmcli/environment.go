package helmcli

import "os"

// passedOn are the variables of helmtrail's environment that helm inherits. They
// locate programs, proxies and certificate authorities (net/http, crypto/x509).
var passedOn = []string{
	"PATH", "LANG", "LC_ALL", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment returns helm's whole environment. It is built, not inherited, so
// that nothing leaks from helmtrail's environment and helm finds no plugins or
// repositories of others.
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

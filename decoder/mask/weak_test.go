package mask_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/helmtrail/helmtrail/decoder/mask"
)

// N10. A password that equals a public name would otherwise be masked wherever the
// name occurs: readers learn the password, and texts become unreadable.
func TestAPasswordThatEqualsAPublicNameDoesNotHideTheName(t *testing.T) {
	const manifest = `kind: Deployment
metadata: {name: shop-frontend, namespace: storefront, labels: {app.kubernetes.io/instance: wordpress}}
spec: {template: {spec: {containers: [{name: webserver, image: "docker.io/bitnami/wordpress:6"}]}}}
---
kind: Secret
metadata: {name: shop-secrets}
stringData: {mariadb-password: x}
`
	for name, password := range map[string]string{
		"the release":           "wordpress",
		"in another case":       "WordPress",
		"the namespace":         "storefront",
		"the cluster":           "production-eu",
		"the chart":             "blogchart",
		"an object":             "shop-frontend",
		"words of an object":    "frontend",
		"a container":           "webserver",
		"an image's repository": "bitnami",
		"a key of the values":   "mariadb",
		"a key of a Secret":     "mariadb-password",
		"a user":                "bn_wordpress",
	} {
		t.Run(name, func(t *testing.T) {
			values := json.RawMessage(`{"mariadb":{"auth":{"password":"` + password + `","username":"bn_wordpress"}}}`)
			source := mask.Source{Values: []json.RawMessage{values}, Manifests: []string{manifest}, Names: []string{"blogchart"}}
			s := mask.New(key, mask.Release{Cluster: "production-eu", Namespace: "storefront", Name: "wordpress"}).Collect(source)
			masked, err := s.Values(values, nil)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(masked), `"password":"`+password) || !strings.Contains(string(masked), `"username":"bn_wordpress"`) || !strings.HasPrefix(string(masked), `{"mariadb"`) {
				t.Errorf("masked values: %s", masked)
			}
			for _, text := range []string{
				"wordpress: Deployment storefront/shop-frontend is not ready: container webserver waits for bitnami/wordpress:6",
				"mariadb: user bn_wordpress@production-eu is unknown; chart blogchart-1.0, key mariadb-password of shop-secrets",
				password + " " + strings.ToUpper(password) + " " + base64.StdEncoding.EncodeToString([]byte(password)),
			} {
				if got := s.Text(text); got != text {
					t.Errorf("%q became %q", text, got)
				}
			}
			if got := s.Manifest(manifest); !strings.HasPrefix(got, strings.Split(manifest, "---")[0]) {
				t.Errorf("the Deployment is changed:\n%s", got)
			}
		})
	}
}

// A secret that only contains a public name is found, but the name stays readable.
func TestAPublicNameInsideASecretStaysReadable(t *testing.T) {
	values := `{"password":"wordpress-Xk7vQ2mZ9pLr","redis":{"password":"o2p-red"},"existingSecret":"o2p-redis"}`
	s := mask.New(key, mask.Release{Cluster: "dev", Namespace: "shop", Name: "wordpress"}).Collect(mask.Source{Values: []json.RawMessage{json.RawMessage(values)}})
	for _, text := range []string{"pod wordpress-0 of release wordpress", "Secret o2p-redis not found", "my wordpress", "pod/o2p-redis-0 is ready"} {
		if got := s.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"with wordpress-Xk7vQ2mZ9pLr", "with Xk7vQ2mZ9pLr", "with o2p-red", "with WORDPRESS-XK7VQ2MZ9PLR"} {
		if got := s.Text(text); !strings.HasPrefix(got, "with «masked:") || !strings.HasSuffix(got, "»") {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A chart may use a secret as a name. It looks random, so it is no name.
func TestARandomSecretThatIsAlsoANameIsMaskedEverywhere(t *testing.T) {
	const secret = "q7Xk2vQm9ZpL4rTw"
	s := collect(`{"token":"`+secret+`"}`, "kind: Job\nmetadata: {name: run-"+secret+"}\n")
	if got := s.Text("job run-" + secret + " failed"); strings.Contains(got, secret) {
		t.Errorf("it became %q", got)
	}
}

// N11. Secret keys of well-known charts were shown, and harmless ones were masked.
func TestSecretsAreDecidedByNameAndValueTogether(t *testing.T) {
	const random = "9fK2mZx7QpLr4TwVb8Nc"
	for _, values := range []string{
		`{"fernetKey":"my-fernet"}`, `{"datadog":{"appKey":"dd-app"}}`, `{"auth":{"erlangCookie":"monster-cookie"}}`, `{"auth":{"replicaSetKey":"rs-key"}}`,
		`{"pagerduty":{"routing_key":"` + random + `"}}`, `{"service_key":"some-key"}`, `{"sessionCookie":"` + random + `"}`, `{"gossipKey":"` + random + `"}`,
		`{"env":[{"name":"GOSSIP_KEY","value":"` + random + `"}]}`, `{"env":{"GOSSIP_KEY":"` + random + `"}}`, `{"config":"gossip_key = ` + random + `"}`,
		`{"password":12345}`, `{"password":"12345"}`, `{"tokens":["12345"]}`, `{"secretKey":"not-a-secure-key"}`, `{"passwordKey":"` + random + `"}`,
		`{"args":["--gossip-key","` + random + `"]}`, `{"secretEnv":{"A":"b"}}`,
	} {
		if masked := maskValues(t, values, ""); !mask.Masked(masked) {
			t.Errorf("%s is shown", values)
		}
	}
	for _, values := range []string{
		`{"contextTokens":8192}`, `{"env":[{"name":"CONTEXT_TOKENS","value":"8192"}]}`, `{"cost_per_token":0.00001}`, `{"tokenLifetime":"24h"}`,
		`{"secretKeys":{"adminPasswordKey":"postgres-password","userPasswordKey":"password"}}`, `{"existingSecretPasswordKey":"redis-password"}`,
		`{"passwordKey":"redis-password"}`, `{"tokenSecretKey":"token"}`, `{"auth":{"clientSecretKey":"client-secret"}}`,
		`{"env":[{"name":"ALLOW_EMPTY_PASSWORD","value":"yes"}]}`, `{"password":"$(DB_PASSWORD)"}`, `{"credentialsSecret":"git-credentials"}`,
		`{"secrets":["etcd-client-cert"]}`, `{"passwordUpdateJob":{"image":"busybox","args":["run"]}}`, `{"topologyKey":"kubernetes.io/hostname"}`,
		`{"data":[{"secretKey":"password","remoteRef":{"key":"prod/db","property":"password"}}]}`, `{"publicKey":"` + random + `"}`, `{"routing_key":"orders.created"}`,
		`{"password":{"secret":"gitlab-postgres","key":"password"}}`, `{"vars":[{"envName":"AWS","secretName":"vault","secretKey":"AWS_SECRET_ACCESS_KEY"}]}`,
		`{"kind":"Certificate","privateKey":{"algorithm":"RSA","size":2048}}`, `{"usePassword":true,"passwordSet":false}`,
	} {
		if masked := maskValues(t, values, ""); masked != values {
			t.Errorf("%s became %s", values, masked)
		}
	}
}

func TestTokensOfWellKnownServicesAreMasked(t *testing.T) {
	s := collect(`{}`)
	hex := strings.Repeat("0a1b2c3d", 20)
	for _, token := range []string{
		"AKIAIOSFODNN7EXAMPLE", "AIza" + hex[:35], "GOCSPX-" + hex[:28], "ghp_" + hex[:36], "glpat-" + hex[:20], "glrt-" + hex[:20], "glsa_" + hex[:32] + "_0a1b2c3d",
		"xoxb-1234567890-abc", "xapp-1-A012-3456-abc", "sk_live_" + hex[:24], "npm_" + hex[:36], "dckr_pat_" + hex[:27], "dop_v1_" + hex[:64], "sk-ant-" + hex[:40],
		"hf_" + hex[:34], "hvs." + hex[:24], "SG." + hex[:22] + "." + hex[:43], "key-" + hex[:32], "SK" + hex[:32], "123456789:AA" + hex[:33], "shpat_" + hex[:32],
		"PMAK-" + hex[:24] + "-" + hex[:34], "pul-" + hex[:40], "NRAK-" + hex[:27], "dapi" + hex[:32], "tskey-auth-" + hex[:20], "whsec_" + hex[:32],
		"$2a$10$mivhwttXM0U5eBrZGtAG8.VSRL1l9cZNAmaSaqotIzXRBRwID1NT.", "{SHA}EWhzdhgoYJWy0z2gyzhRYlN9DSiv",
	} {
		text := "using " + token + " now"
		if got := s.Text(text); strings.Contains(got, token[len(token)/2:]) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

package mask_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helmtrail/helmtrail/decoder/mask"
)

var (
	key     = []byte("0123456789abcdef0123456789abcdef")
	release = mask.Release{Cluster: "dev", Namespace: "shop", Name: "web"}
)

const canary = "Zq9-canary+1/x"

func collect(values string, manifests ...string) *mask.Secrets {
	return mask.New(key, release).Collect(mask.Source{Values: []json.RawMessage{json.RawMessage(values)}, Manifests: manifests})
}

func maskValues(t *testing.T, values, schema string) string {
	t.Helper()
	s := mask.New(key, release).Collect(mask.Source{Values: []json.RawMessage{json.RawMessage(values)}, Schema: []byte(schema)})
	masked, err := s.Values(json.RawMessage(values), []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	return string(masked)
}

func TestSecretValuesAreMasked(t *testing.T) {
	for name, values := range map[string]string{
		"password":          `{"db":{"password":"%s"}}`,
		"deep list":         `{"auth":{"tokens":[["a","%s"]]}}`,
		"list of mappings":  `{"tokens":[{"name":"ci","value":"%s"}]}`,
		"mapping":           `{"credentials":{"anything":{"at":"%s"}}}`,
		"camel case":        `{"apiKey":"%s"}`,
		"capitals":          `{"env":{"AWS_SECRET_ACCESS_KEY":"%s"}}`,
		"word":              `{"db_pass":"%s"}`,
		"environment":       `{"extraEnv":[{"name":"DB_PASSWORD","value":"%s"}]}`,
		"arguments":         `{"args":["--db-password","%s"]}`,
		"argument":          `{"args":["--db-password=%s"]}`,
		"file":              `{"config":"[db]\npassword = %s\n"}`,
		"quoted in a file":  `{"config":"{\"clientSecret\": \"%s\"}"}`,
		"URL":               `{"url":"postgres://shop:%s@db/shop"}`,
		"XML":               `{"config":"<db><password>%s</password></db>"}`,
		"elsewhere":         `{"password":"%s","banner":"say %[1]s twice"}`,
		"under a key":       `{"password":"%s","users":{"%[1]s":true}}`,
		"elsewhere encoded": `{"password":"%s","header":"` + base64.StdEncoding.EncodeToString([]byte("user:"+canary)) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			values := strings.ReplaceAll(values, "%[1]s", "%s")
			masked := maskValues(t, strings.ReplaceAll(values, "%s", canary), "")
			if strings.Contains(masked, canary) || strings.Contains(masked, "Y2FuYXJ5") || !mask.Masked(masked) {
				t.Errorf("masked values: %s", masked)
			}
		})
	}
}

func TestValuesThatTheSchemaMarksSecretAreMasked(t *testing.T) {
	const schema = `{"$defs":{"hidden":{"type":"string","writeOnly":true}},"properties":{
		"code":{"format":"password"},"inner":{"allOf":[{"properties":{"a":{"$ref":"#/$defs/hidden"}}}]},
		"list":{"items":{"properties":{"b":{"anyOf":[{"$ref":"#/$defs/hidden"},{"type":"null"}]}}}},
		"loop":{"$ref":"#/properties/loop"}},
		"patternProperties":{"^x-":{"format":"password"}}}`
	const values = `{"code":"S1","inner":{"a":"S2"},"list":[{"b":"S3","c":"kept"}],"loop":"kept","x-y":"S4"}`
	masked := maskValues(t, values, schema)
	for _, secret := range []string{"S1", "S2", "S3", "S4"} {
		if strings.Contains(masked, secret) {
			t.Errorf("%s is shown: %s", secret, masked)
		}
	}
	if strings.Count(masked, "kept") != 2 {
		t.Errorf("too much is masked: %s", masked)
	}
}

func TestOtherValuesKeepTheirDigitsAndOrder(t *testing.T) {
	const values = `{"z":12345678901234567890123,"a":1.10,"existingSecret":"web-tls","secretName":"web","tls":{"secret":{"secretName":"x","optional":true}},` +
		`"imagePullSecrets":[{"name":"registry"}],"passwordPolicy":"strict","maxTokens":4096,"tokenizer":"bpe","password":"","usePassword":true,` +
		`"valueFrom":{"secretKeyRef":{"name":"web","key":"password"}},"url":"https://host:8080/a@b","image":"postgres:16","empty":{},"none":null}`
	if diff := cmp.Diff(values, maskValues(t, values, "")); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestTokensRevealChangesAndNothingElse(t *testing.T) {
	token := func(values, path string, r mask.Release) string {
		s := mask.New(key, r).Collect()
		masked, err := s.Values(json.RawMessage(values), nil)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]string
		if err := json.Unmarshal(masked, &m); err != nil {
			t.Fatal(err)
		}
		return m[path]
	}
	first := token(`{"password":"one","token":"one"}`, "password", release)
	if again := token(`{"x":"y","password":"one"}`, "password", release); again != first {
		t.Errorf("the same value has two tokens, %s and %s", first, again)
	}
	for name, other := range map[string]string{
		"another value":   token(`{"password":"two"}`, "password", release),
		"another place":   token(`{"password":"one","token":"one"}`, "token", release),
		"another release": token(`{"password":"one"}`, "password", mask.Release{Cluster: "dev", Namespace: "shop", Name: "other"}),
	} {
		if other == first {
			t.Errorf("%s has the same token", name)
		}
	}
}

const secretManifest = `---
# Source: web/templates/config.yaml
apiVersion: v1
kind: ConfigMap
metadata:
    name:   web
data: {url: "http://web:80/"}   # odd, but kept
---
# Source: web/templates/secret.yaml
apiVersion: v1
kind: Secret
metadata:
  name: web
data:
  first: %s
  username: cG9zdGdyZXM=
stringData:
  second: >-
    %s
`

func TestSecretsInManifestsAreMaskedAndTheirKeysKept(t *testing.T) {
	const other = "other-value-42"
	manifest := fmt.Sprintf(secretManifest, base64.StdEncoding.EncodeToString([]byte(canary)), other)
	s := collect(`{}`, manifest)
	masked := s.Manifest(manifest)
	first, _, _ := strings.Cut(manifest, "---\n# Source: web/templates/secret")
	if !strings.HasPrefix(masked, first) {
		t.Errorf("the document without secrets is changed:\n%s", masked)
	}
	for _, key := range []string{"# Source: web/templates/secret.yaml", "  first: «masked:", "  second: «masked:", "  username: «masked:", "kind: Secret"} {
		if !strings.Contains(masked, key) {
			t.Errorf("masked manifest lacks %q:\n%s", key, masked)
		}
	}
	for _, secret := range []string{canary, other, base64.StdEncoding.EncodeToString([]byte(canary))} {
		if strings.Contains(masked, secret) {
			t.Errorf("masked manifest has %q:\n%s", secret, masked)
		}
		for _, line := range []string{"the value is " + secret + ".", "x" + secret + "y"} {
			if got := s.Line(line); strings.Contains(got, secret) {
				t.Errorf("a line has %q: %s", secret, got)
			}
		}
	}
	if line := "pulling postgres:16"; s.Line(line) != line {
		t.Errorf("the line %q became %q", line, s.Line(line))
	}
}

// Names of secrets, and references to them, are not secret.
func TestReferencesToSecretsStayReadable(t *testing.T) {
	const manifest = `apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
secrets: [{name: web-token}]
automountServiceAccountToken: false
imagePullSecrets:
- name: regcred
---
apiVersion: v1
kind: Pod
spec:
  volumes:
  - name: s
    secret: {secretName: web, items: [{key: a, path: b}]}
  - name: t
    projected: {sources: [{serviceAccountToken: {path: token, expirationSeconds: 3600}}, {secret: {name: web}}]}
  containers:
  - name: c
    env:
    - name: DB_PASSWORD
      valueFrom: {secretKeyRef: {name: web, key: password}}
    - name: PASSWORD_FILE
      value: /run/secrets/x
    args: ["--token-file", "/var/x", "--secret-name=web"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules: [{apiGroups: [""], resources: ["secrets"], verbs: [get]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec: {tls: [{secretName: web-tls, hosts: [a.b]}]}
`
	if diff := cmp.Diff(manifest, collect(`{}`, manifest).Manifest(manifest)); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}

func TestManyLinesThatBeginAlikeAreFoundInLittleTime(t *testing.T) {
	var hosts strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&hosts, "    0.0.0.0 host-%x.example.org\n", i*7919)
	}
	manifest := "kind: Secret\nstringData:\n  hosts: |\n" + hosts.String()
	s := collect(`{}`, manifest)
	start := time.Now()
	masked := s.Text(strings.ReplaceAll(hosts.String(), "    ", ""))
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if strings.Contains(masked, "host-") {
		t.Errorf("a line is shown: %.200s", masked[strings.Index(masked, "host-"):])
	}
}

func TestSecretsInOddManifestsAreMasked(t *testing.T) {
	for name, manifest := range map[string]string{
		"list":          "kind: List\nitems:\n- kind: Secret\n  stringData: {a: %s}\n",
		"flow":          `{"kind":"Secret","stringData":{"a":"%s"}}`,
		"alias":         "x: &d {a: %s}\nobject:\n  kind: Secret\n  stringData: *d\n",
		"merge":         "x: &d {stringData: {a: %s}}\nobject:\n  kind: Secret\n  <<: *d\n",
		"merged kind":   "x: &d {kind: Secret}\nobject:\n  <<: *d\n  stringData: {a: %s}\n",
		"kind twice":    "kind: Secret\nkind: ConfigMap\nstringData: {a: %s}\n",
		"not YAML":      "kind: Secret\nstringData:\n\ta: %s\n",
		"URL":           "kind: ConfigMap\ndata:\n  a: amqp://user:%s@mq:5672/\n",
		"environment":   "kind: Pod\nspec: {containers: [{env: [{name: API_TOKEN, value: %s}]}]}\n",
		"comment":       "kind: Secret\nstringData: {a: %s}\n# it is %s\n",
		"block":         "kind: Secret\nstringData:\n  a: |\n    line\n    %s\n",
		"marker line":   "--- {kind: Secret, stringData: {a: %s}}\n",
		"second stream": "kind: Pod\n...\nkind: Secret\nstringData: {a: %s}\n",
	} {
		t.Run(name, func(t *testing.T) {
			manifest := strings.ReplaceAll(manifest, "%s", canary)
			if masked := collect(`{}`, manifest).Manifest(manifest); strings.Contains(masked, canary) {
				t.Errorf("masked manifest:\n%s", masked)
			}
		})
	}
}

func TestSecretsAreRecognizedByTheirForm(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"
	s := collect(`{}`)
	for _, text := range []string{
		"key: " + pem, pem[:40], base64.StdEncoding.EncodeToString([]byte(pem)),
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "AKIAIOSFODNN7EXAMPLE",
		`{"auths":{"r":{"auth":"dXNlcjpwYXNzd29yZA=="}}}`, "Authorization: Bearer abcdef1234567890",
		"https://u:p@ss@host/", "https://host/?token=abc", "Password: abc", "--password abc", "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
	} {
		if masked := s.Text(text); !mask.Masked(masked) {
			t.Errorf("%q is shown as it is", text)
		}
	}
	certificate := base64.StdEncoding.EncodeToString([]byte("-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQ\n"))
	for _, text := range []string{
		certificate, "basic authentication is on", "https://host:8080/a@b", "Get it with: export PASSWORD=$(kubectl get secret web)",
		"creating 3 resource(s)", `secret "web-tls" not found`, "Secret: web-tls", "wait.go:48: beginning wait for 3 resources",
	} {
		if masked := s.Text(text); masked != text {
			t.Errorf("%q became %q", text, masked)
		}
	}
}

func TestSecretsThatOverlapLeaveNothing(t *testing.T) {
	s := collect(`{"password":"firstmiddle","token":"middlelast"}`)
	if got := s.Line("<firstmiddlelast>"); strings.Contains(got, "last") || strings.Contains(got, "first") {
		t.Errorf("line is %s", got)
	}
}

func TestCommonWordsAreMaskedAtTheirKeyOnly(t *testing.T) {
	s := collect(`{"password":"password","token":"abc","secret":"true","pin_token":"12345"}`)
	const line = "the password is abc true 12345"
	if got := s.Line(line); got != line {
		t.Errorf("line became %s", got)
	}
}

func TestTokensAreReplacedByTheirValues(t *testing.T) {
	const base = `{"db":{"password":"hunter2!","pin":4,"url":"pg://u:s3cret@old/x"},"tokens":["one-token",12345678901234567890],"banner":"use hunter2! now","plain":1.10}`
	s := collect(base)
	shown, err := s.Values(json.RawMessage(base), nil)
	if err != nil {
		t.Fatal(err)
	}
	restored, err := s.Restore(shown, nil, json.RawMessage(base))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(base, string(restored)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}

	edited := strings.NewReplacer("@old/", "@new/", "1.10", "2").Replace(string(shown))
	restored, err = s.Restore([]byte(edited), nil, json.RawMessage(base))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("@old/", "@new/", "1.10", "2").Replace(base)
	if diff := cmp.Diff(want, string(restored)); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}

	var m struct{ DB map[string]any }
	if err := json.Unmarshal(shown, &m); err != nil {
		t.Fatal(err)
	}
	yaml := fmt.Sprintf("# kept\ndb:\n  password: %q # and this\n", m.DB["password"])
	restored, err = s.Restore([]byte(yaml), nil, json.RawMessage(base))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(restored), "# kept\ndb:\n  password: hunter2! # and this\n"; got != want {
		t.Errorf("restored %q, want %q", got, want)
	}
}

func TestTokensAtAnotherPlaceAreRejectedWithTheirPath(t *testing.T) {
	const base = `{"password":"hunter2!","list":[{"token":"one-token"}]}`
	s := collect(base)
	masked, err := s.Values(json.RawMessage(base), nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown struct{ Password string }
	if err := json.Unmarshal(masked, &shown); err != nil {
		t.Fatal(err)
	}
	for path, submitted := range map[string]string{
		"banner":           `{"banner":"` + shown.Password + `"}`,
		"list[0].token":    `{"list":[{"token":"` + shown.Password + `"}]}`,
		"list[1].token":    `{"list":[{},{"token":"«masked:0123456789abcdef»"}]}`,
		"password":         `{"password":"«masked:0123456789abcdef»"}`,
		"escaped.password": `{"escaped":{"password":"\u00abmasked:0123456789abcdef\u00bb"}}`,
		"cut":              `{"cut":"«masked:01»"}`,
	} {
		_, err := s.Restore([]byte(submitted), nil, json.RawMessage(base))
		refused, ok := errors.AsType[*mask.TokenError](err)
		if !ok || refused.Path != path {
			t.Errorf("%s: error %v, want a TokenError for %s", submitted, err, path)
		}
	}
	for _, none := range []string{`{"a": "\u0041 \\"}`, "a: 'kept'   # as \\ it is\n", "no: [YAML \\"} {
		if got, err := s.Restore([]byte(none), nil); err != nil || string(got) != none {
			t.Errorf("%q without tokens became %q, error %v", none, got, err)
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add("kind: Secret\nstringData: {a: x}\n", `{"password":"x","a":[1,{"b":null}]}`)
	f.Add(secretManifest, `{"url":"a://b:c@d"}`)
	f.Add("a: &a [*a]\n---\n? {x: y}\n: !!binary z\n", "password: |\n  a\n")
	f.Fuzz(func(t *testing.T, manifest, values string) {
		s := collect(values, manifest, "kind: Secret\nstringData: {a: '"+canary+"'}\n")
		for _, text := range []string{s.Manifest(manifest), s.Manifest(manifest + "\n# " + canary), s.Text(values + canary)} {
			if strings.Contains(text, canary) {
				t.Errorf("the canary is shown: %q", text)
			}
		}
		masked, err := s.Values(json.RawMessage(values), nil)
		if err != nil || len(masked) == 0 || strings.Contains(values, "masked:") {
			return
		}
		if !json.Valid(masked) {
			t.Errorf("masked values are no JSON: %q", masked)
		}
		restored, err := s.Restore(masked, nil, json.RawMessage(values))
		if err != nil {
			return // A key that is masked cannot come back.
		}
		if again, err := s.Values(restored, nil); err != nil || string(again) != string(masked) {
			t.Errorf("values %q\nmasked  %q\nrestored %q\nmasked again %q (%v)", values, masked, restored, again, err)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	manifest := strings.Builder{}
	for i := range 200 {
		fmt.Fprintf(&manifest, "---\nkind: Secret\nmetadata: {name: s%d}\nstringData: {a: \"%x-secret-%d\"}\n", i, i*7919, i)
	}
	s := collect(`{"password":"hunter2!"}`, manifest.String())
	const line = `wait.go:104: 2026-11-30 16:02:11.123 +0000 UTC m=+1.5 [debug] Deployment is not ready: shop/web. 0 out of 2 expected pods are ready`
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		s.Line(line)
	}
}

package informer

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Helm stores the API server's errors in the record. They may quote a Secret.
func TestDescriptionsQuoteNoSecret(t *testing.T) {
	const secret = "Zq9-canary-7f"
	record := func(description, more string) []byte {
		return []byte(base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
			`{"name":"web","info":{"status":"failed","description":%q},"config":{"db":{"password":%q}},"version":1%s`, description, secret, more)))
	}
	read := func(data []byte) string {
		s := describer{key: []byte("key"), cluster: "dev"}.read(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "sh.helm.release.v1.web.v1", Labels: map[string]string{"owner": "helm", "name": "web", "version": "1"}},
			Data:       map[string][]byte{recordKey: data},
		})
		if s.revision.Header == nil {
			t.Fatalf("the record was not read: %s", s.revision.Problem)
		}
		return s.revision.Header.Description
	}
	masked := read(record("Upgrade failed: Invalid value: "+secret, "}"))
	if !strings.HasPrefix(masked, "Upgrade failed: Invalid value: «masked:") {
		t.Errorf("the description is %q", masked)
	}
	if got := read(record("Rollback to 7", "}")); got != "Rollback to 7" {
		t.Errorf("helm's own words are %q", got)
	}
	// The secret stands where a long text would be cut.
	long := read(record(strings.Repeat("é", 508)+secret+strings.Repeat("x", 2000), "}"))
	if strings.Contains(long, secret[:5]) || len(long) > maxDescription+len("…") || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
		t.Errorf("a long description has %d bytes: %.40q ... %q", len(long), long, long[len(long)-40:])
	}
	// Masking the description of a large record would delay the watch.
	for _, more := range []string{`,"manifest":"` + strings.Repeat("x", 1<<20) + `"}`, `,"hooks":[],"values":[` + strings.Repeat("1,", 20_000) + `1]}`} {
		if got := read(record("failed: "+secret, more)); got != tooLargeToDescribe {
			t.Errorf("the description of a large record is %.80q", got)
		}
	}
	// A header may be readable although the whole record is not.
	if got := read(record("failed: "+secret, `,"chart":{"metadata":{"name":"web"}}} rubbish`)); got != undescribed {
		t.Errorf("the description of an unreadable record is %q", got)
	}
}

package resources

import (
	"strings"
	"testing"
)

func TestATruncatedMessageHasNoPartOfASecret(t *testing.T) {
	const secret = "correct-horse-battery-staple"
	for before := longest - 2*len(secret); before <= longest; before++ {
		message := strings.Repeat("x", before-1) + " "
		if before%2 == 0 {
			message = strings.Repeat("x ", before/2)
		}
		shown := cut(message + secret + strings.Repeat(" more", 20))
		if len(shown) > longest || !strings.HasSuffix(shown, " ...") {
			t.Fatalf("%d bytes are shown: %s", len(shown), shown)
		}
		if strings.Contains(strings.ReplaceAll(shown, secret, ""), "c") {
			t.Errorf("after %d bytes, half of the secret is shown: %s", before, shown[longest/2:])
		}
	}
}

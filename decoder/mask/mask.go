package mask

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Release names the release whose secrets are masked.
type Release struct {
	Cluster, Namespace, Name string
}

// Masker creates the tokens of one release.
type Masker struct {
	key     []byte
	release Release
	ctx     context.Context
}

// New returns the Masker of a release. The key is used for the fingerprints. It
// is secret: with it, guesses of a secret can be tested. It must have at least 16
// random bytes, and must be the same wherever tokens are compared.
func New(key []byte, release Release) *Masker {
	return &Masker{key: key, release: release, ctx: context.Background()}
}

// OwnKey derives a key from another one. Masks that are made with the one cannot
// be compared with masks that are made with the other. The purpose may be public.
func OwnKey(key []byte, purpose string) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte("own key " + purpose))
	return hash.Sum(nil)
}

// Within returns a copy of m whose work, and that of its Secrets, stops when
// ctx ends. What is masked afterwards is not shown, see [Secrets.Err].
func (m *Masker) Within(ctx context.Context) *Masker {
	within := *m
	within.ctx = ctx
	return &within
}

const (
	tokenStart = "«masked:"
	tokenEnd   = "»"
	// fingerprintBytes results in 16 hexadecimal digits: too short to find the
	// value, long enough that two values at one place do not collide.
	fingerprintBytes = 8
	maxToken         = len(tokenStart) + 2*fingerprintBytes + len(tokenEnd)
)

var tokens = regexp.MustCompile(tokenStart + `[0-9a-f]{16}` + tokenEnd)

// Masked reports whether text holds a token.
func Masked(text string) bool { return strings.Contains(text, tokenStart) }

// Cut returns the beginning of a masked text: at most limit bytes, without a part of a
// character or of a token. A text must be masked before it is cut, because a part of a
// secret would not be recognised.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	kept := text[:limit]
	if start := strings.LastIndex(kept, tokenStart[:len("«")]); start >= 0 && !strings.Contains(kept[start:], tokenEnd) && tokens.MatchString(text[start:min(len(text), start+maxToken)]) {
		kept = kept[:start]
	}
	return kept
}

// token returns the text that is shown instead of a value.
func (m *Masker) token(path, value string) string {
	mac := hmac.New(sha256.New, m.key)
	for _, part := range []string{m.release.Cluster, m.release.Namespace, m.release.Name, path, value} {
		// The zero byte separates the parts; only the last may contain one.
		_, _ = io.WriteString(mac, part+"\x00") // it never fails
	}
	return tokenStart + hex.EncodeToString(mac.Sum(nil)[:fingerprintBytes]) + tokenEnd
}

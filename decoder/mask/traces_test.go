package mask_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/helmtrail/helmtrail/decoder/mask"
)

// A chart or a program may print a secret in another form than it was given.
func TestSecretsAreRecognizedInEveryForm(t *testing.T) {
	const password, phrase, accented = "Xk7vQ2mZ9pLr4TwB", "correct horse battery staple", "éàüöñé7ß"
	values, err := json.Marshal(map[string]string{"password": password, "passphrase": phrase, "token": accented})
	if err != nil {
		t.Fatal(err)
	}
	secrets := mask.New(key, release).Collect(mask.Source{Values: []json.RawMessage{values}})
	plain := []byte(password)
	for form, text := range map[string]string{
		"as it is":                    password,
		"upper case":                  strings.ToUpper(password),
		"lower case":                  strings.ToLower(password),
		"hex":                         hex.EncodeToString(plain),
		"upper case hex":              strings.ToUpper(hex.EncodeToString(plain)),
		"hex with colons":             strings.TrimSuffix(strings.Join(strings.SplitAfter(hex.EncodeToString(plain), ""), ":"), ":"),
		"base32":                      base32.StdEncoding.EncodeToString(plain),
		"lower case base32":           strings.ToLower(base32.StdEncoding.EncodeToString(plain)),
		"base64":                      base64.StdEncoding.EncodeToString(plain),
		"base64 without padding":      base64.RawURLEncoding.EncodeToString(plain),
		"half of its base64":          base64.StdEncoding.EncodeToString(plain)[:14],
		"most of it":                  password[:15],
		"its first half":              password[:8],
		"its second half":             password[8:],
		"its middle":                  password[4:13],
		"dots between its letters":    strings.Join(strings.Split(password, ""), "."),
		"two lines":                   password[:8] + "\n" + password[8:],
		"quoted parts":                `"` + password[:5] + `" + "` + password[5:] + `"`,
		"an upper case phrase":        strings.ToUpper(phrase),
		"most of a text with accents": accented[:12],
		"hex of a phrase":             hex.EncodeToString([]byte(phrase)),
	} {
		masked := secrets.Text("before " + text + " after")
		left := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, tokenFree(masked))
		if left != "beforeafter" || !utf8.ValidString(masked) {
			t.Errorf("%s: %q is shown as %q", form, text, masked)
		}
	}
}

// tokenFree returns a text without its tokens.
func tokenFree(text string) string {
	for {
		before, after, ok := strings.Cut(text, "«masked:")
		if !ok {
			return text
		}
		_, after, _ = strings.Cut(after, "»")
		text = before + after
	}
}

// What only resembles a secret stays readable.
func TestTextsThatResembleASecretStayReadable(t *testing.T) {
	values := `{"password":"postgres-4711","db":{"password":"20261203"},"webhookSecret":"https://hooks.example.com/services/T0001/B0002","secretNote":"the shop opens at nine every morning"}`
	secrets := mask.New(key, release).Collect(mask.Source{Values: []json.RawMessage{json.RawMessage(values)}})
	for _, text := range []string{
		"postgres is ready",
		"2026-12-03T10:11:12Z started",
		"GET https://hooks.example.com/services/status",
		"the shop opens",
		"Every morning at nine",
		"deployment.apps/web-20261204 created",
	} {
		if masked := secrets.Text(text); masked != text {
			t.Errorf("%q is shown as %q", text, masked)
		}
	}
}

// A token that stands for two spellings cannot be restored to one of them.
func TestATokenOfTwoSpellingsIsNotRestored(t *testing.T) {
	base := json.RawMessage(`{"password":"Xk7vQ2mZ9pLr","note":"Xk7vQ2mZ9pLr or XK7VQ2MZ9PLR"}`)
	secrets := mask.New(key, release).Collect(mask.Source{Values: []json.RawMessage{base}})
	masked, err := secrets.Values(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	if restored, err := secrets.Restore(masked, nil, base); err != nil || string(restored) != string(base) {
		t.Errorf("unchanged values are restored to %s, %v", restored, err)
	}
	edited := strings.Replace(string(masked), " or ", " and ", 1)
	if restored, err := secrets.Restore([]byte(edited), nil, base); err == nil {
		t.Errorf("an edited text is restored to %s", restored)
	}
}

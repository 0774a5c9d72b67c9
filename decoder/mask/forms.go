package mask

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
)

// span is a part of a text, as byte offsets.
type span struct{ start, end int }

// part is a part of a text that is masked by a token, "" for one that is made for it.
type part struct {
	span
	token string
}

// form is a way to recognise a secret by its form or by the text around it.
type form struct {
	// sign must be in a text for the pattern to be tried; "" means any text.
	sign    string
	pattern *regexp.Regexp
	// group is the secret submatch, 0 for the whole match.
	group int
	// accept reports whether a match is a secret; nil accepts every match.
	accept func(secret string) bool
}

// forms are tried on every text. An unfinished block is a secret up to its end,
// since logs come line by line.
var forms = []form{
	{"-----BEGIN", regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|\z)`), 0, nil},
	{"LS0tLS1CRUdJTi", regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=_-]*`), 0, hidesPrivateKey},
	{"eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`), 0, nil},
	{"eyJhdXRocyI6", regexp.MustCompile(`eyJhdXRocyI6[A-Za-z0-9+/=_-]*`), 0, nil},
	{`"auths"`, regexp.MustCompile(`"(?:auth|password|identitytoken)"\s*:\s*"([^"]+)"`), 1, nil},
	{"$", regexp.MustCompile(`\$(?:2[abxy]\$[0-9]{2}|apr1|[156]|argon2id?)\$[./0-9A-Za-z$=,+]{16,}`), 0, nil}, // crypt(3)
	{"SHA}", regexp.MustCompile(`\{S?SHA\}([A-Za-z0-9+/]{20,}={0,2})`), 1, nil},
	{"hooks.slack.com/", regexp.MustCompile(`hooks\.slack\.com/(?:services|workflows)/([0-9A-Za-z/_-]+)`), 1, nil},
	{"/api/webhooks/", regexp.MustCompile(`/api/webhooks/([0-9]+/[0-9A-Za-z_-]+)`), 1, nil},
	{"@tcp(", regexp.MustCompile(`[\w.-]+:([^\s"']+)@tcp\(`), 1, nil}, // MySQL in Go
	{"://", regexp.MustCompile(`://[^\s/:@?#"'<>]*:([^\s"'<>/]+)@`), 1, nil},
	{"://", regexp.MustCompile(`://[^\s/:@?#"'<>]*:([^\s"'<>@]+)@`), 1, func(s string) bool { return !portThenPath.MatchString(s) }},
	{"=", regexp.MustCompile(`(?i)[?&;](?:[\w.-]*(?:token|secret|passw(?:or)?d|pwd|apikey|api_key|access_key)|sig|signature|x-amz-signature|key)=([^&\s"'<>;]+)`), 1, nil},
	{"asic ", regexp.MustCompile(`\b[Bb]asic ([A-Za-z0-9+/]{8,}={0,2})`), 1, isCredential},
	{"earer ", regexp.MustCompile(`\b[Bb]earer ([A-Za-z0-9+/=._~-]{12,})`), 1, isCredential},
}

var allForms = slices.Concat(forms, prefixes)

var portThenPath = regexp.MustCompile(`^\d{1,5}/`)

// hidesPrivateKey reports whether base64 holds a private key, and not just a
// certificate. Base64 that is cut off counts as a private key.
func hidesPrivateKey(text string) bool {
	start, err := base64.StdEncoding.DecodeString(text[:min(len(text), 64)&^3])
	return err != nil || len(start) < 40 || strings.Contains(string(start), "PRIVATE KEY")
}

// isCredential reports whether text is a credential and not a word of a sentence.
func isCredential(text string) bool {
	return strings.ContainsAny(text, "0123456789=+/_") || strings.ToLower(text[1:]) != text[1:]
}

// element matches a key and a value in XML.
var element = regexp.MustCompile(`<([A-Za-z][\w.:-]*)>([^<\n]+)</`)

// namer reports whether the value that a text assigns to a key is secret.
type namer func(key, value string) bool

// find returns the parts of a text that are secret by their form or by their key, or
// the whole text if there are too many.
func find(text string, names namer) []part {
	const least = 3
	if len(text) < least {
		return nil
	}
	var found []span
	tried := forms
	if hasRun(text) {
		tried = allForms
	}
	for _, f := range tried {
		if !strings.Contains(text, f.sign) {
			continue
		}
		for _, at := range f.pattern.FindAllStringSubmatchIndex(text, maxParts+1) {
			s := span{at[2*f.group], at[2*f.group+1]}
			if f.accept == nil || f.accept(text[s.start:s.end]) {
				found = append(found, s)
			}
		}
	}
	found = appendAssigned(found, text, names)
	found = appendFlags(found, text, names)
	if strings.Contains(text, "</") {
		found = appendNamed(found, element, text, names)
	}
	if len(found) > maxParts {
		return whole(text)
	}
	parts := make([]part, len(found))
	for i, s := range found {
		parts[i].span = s
	}
	return parts
}

// hasRun reports whether a text has so long a run of characters of keys that the token
// of a service may be in it.
func hasRun(text string) bool {
	const least = 14
	run := 0
	for i := 0; i < len(text) && run < least; i++ {
		if run++; !inKey(text[i]) {
			run = 0
		}
	}
	return run >= least
}

// appendNamed appends the values of elements that are named like a secret.
func appendNamed(found []span, pattern *regexp.Regexp, text string, names namer) []span {
	for _, at := range pattern.FindAllStringSubmatchIndex(text, maxParts+1) {
		if value := text[at[4]:at[5]]; !computed(value) && names(text[at[2]:at[3]], value) {
			found = append(found, span{at[4], at[5]})
		}
	}
	return found
}

// computed reports whether a value is filled in elsewhere, so that the text is
// not a secret.
func computed(value string) bool {
	if startsComputed(value) {
		return true
	}
	switch value {
	case "null", "~", "true", "false", "nil":
		return true
	}
	return false
}

// startsComputed reports whether text begins like a value that is filled in
// elsewhere.
func startsComputed(text string) bool {
	for _, start := range []string{"$(", "${", "{{", "<", "%(", tokenStart, "|", ">", "//"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

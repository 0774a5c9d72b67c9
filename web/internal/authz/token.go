package authz

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Expiry returns when a token says that it expires, nil if it does not say. It
// reads the claims of a JSON Web Token; checking the signature is up to the API
// server.
func Expiry(token string) *time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	// Fractions of seconds, and no expiry at all, are both legal (RFC 7519).
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return nil
	}
	at := time.Unix(int64(claims.Expires), 0).UTC()
	return &at
}

package authz

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Expiry returns the expiry in a token's claims, or nil if it has none. It reads
// the claims of a JSON Web Token and leaves the signature to the API server.
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
	// RFC 7519 allows fractions of seconds, and no expiry at all.
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 || claims.Expires > 1<<40 {
		return nil
	}
	at := time.Unix(int64(claims.Expires), 0).UTC()
	return &at
}

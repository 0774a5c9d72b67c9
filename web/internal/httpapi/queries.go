package httpapi

import (
	"strconv"

	"github.com/gin-gonic/gin"
)

const (
	defaultLimit = 500
	maxLimit     = 5000
)

// Limit returns the page size in the query.
func Limit(c *gin.Context) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, BadField("limit", "limit must be a number from 1 to "+strconv.Itoa(maxLimit)+".")
	}
	return limit, nil
}

// BadContinue returns the error for a page token that no page returned.
func BadContinue() *Error {
	return BadField("continue", "continue must be a token from the previous page.")
}

// QueryBool returns a boolean parameter, false if it is missing.
func QueryBool(c *gin.Context, name string) (bool, error) {
	switch c.Query(name) {
	case "true":
		return true, nil
	case "", "false":
		return false, nil
	}
	return false, BadField(name, name+" must be true or false.")
}

// Package httpapi holds what all routes share: errors and their codes, request
// bodies and query parameters, JSON answers, ETags, content negotiation and
// responses that are sent bit by bit.
package httpapi

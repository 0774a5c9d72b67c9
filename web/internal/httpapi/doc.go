// Package httpapi has what all routes share: errors and their codes, request bodies and
// query parameters, JSON responses, ETags, content negotiation and paced responses.
package httpapi

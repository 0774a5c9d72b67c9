package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// recoverPanics answers 500 when a handler panics. What is logged holds no
// value of the request: a panic's own text may quote one, so only Go's own
// runtime errors are quoted.
func (s *Server) recoverPanics(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		text := fmt.Sprintf("%T", p)
		if err, ok := p.(runtime.Error); ok {
			text = err.Error()
		}
		s.logger.Error("a handler panicked", "method", c.Request.Method, "route", c.FullPath(), "panic", text, "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		writeError(c, internalError)
		c.Abort()
	}()
	c.Next()
}

// guard refuses requests that a foreign page makes a browser send.
func (s *Server) guard(c *gin.Context) {
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Referrer-Policy", "same-origin")
	c.Header("Cross-Origin-Resource-Policy", "same-origin")
	c.Header("Cross-Origin-Opener-Policy", "same-origin")
	c.Header("X-Frame-Options", "DENY")
	// Pages say more; nothing else is to be shown as one.
	c.Header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if c.Request.TLS != nil {
		c.Header("Strict-Transport-Security", "max-age=31536000")
	}
	if s.options.LocalOnly && !s.local(c.Request.Host) {
		writeError(c, &apiError{
			status: http.StatusForbidden, code: codeForbidden,
			message: "This server answers to loopback names and addresses only, since it asks for no login.",
		})
		c.Abort()
		return
	}
	if s.origins.Check(c.Request) != nil {
		writeError(c, &apiError{status: http.StatusForbidden, code: codeForbidden, message: "The request comes from another site's page."})
		c.Abort()
	}
}

// local reports whether a Host header names this machine or a configured name.
func (s *Server) local(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(s.options.Hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

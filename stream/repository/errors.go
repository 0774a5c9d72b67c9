package repository

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/helmtrail/helmtrail"
)

// refusal is an error of our own. Its text may be shown.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	errInside    = refusal("its address is a loopback, link-local or private one, and --chart-hosts does not list the host")
	errPlain     = refusal("credentials are sent over https only")
	errRedirects = refusal("it redirects too often")
)

// failed returns the error for a server that could not be used. It leaves out the
// text of err unless that is our own, because net/http and the registry's client
// quote what the server has sent.
func failed(doing, address string, err error) error {
	return fmt.Errorf("%w: %s %s: %s", helmtrail.ErrNoChart, doing, address, reason(err))
}

func reason(err error) string {
	if own, ok := errors.AsType[refusal](err); ok {
		return string(own)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "its certificate is not trusted"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "its name cannot be resolved"
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return "it takes too long"
	}
	if errors.Is(err, context.Canceled) {
		return "the request was canceled"
	}
	if opened, ok := errors.AsType[*net.OpError](err); ok && opened.Op == "dial" {
		return "no connection could be opened"
	}
	return "it does not answer as a chart server does"
}

// status returns the error for an answer other than 200.
func status(code int) error { return refusal(fmt.Sprintf("the server answered %d", code)) }

package repository

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Hosts say from which hosts charts may be fetched. The zero value allows none.
type Hosts struct {
	public  bool // every host with a public address
	listed  []hostPattern
	origins map[string]bool // of the configured repositories
}

// hostPattern is one listed host.
type hostPattern struct {
	// host is in lower case. If it begins with a dot, it stands for all names
	// that end with it.
	host string
	// port is "" for the scheme's own port.
	port string
	// plain allows credentials over http, if the address is a loopback one.
	plain bool
}

// ParseHosts reads the entries of --chart-hosts. An entry is a host with an
// optional port, "*.domain" with an optional port, or "*" for every host with a
// public address. "http://" before a host allows credentials over plain HTTP to a
// loopback address.
func ParseHosts(entries []string) (Hosts, error) {
	var hosts Hosts
	for _, entry := range entries {
		if entry == "*" {
			hosts.public = true
			continue
		}
		rest, plain := strings.CutPrefix(entry, "http://")
		name, wild := strings.CutPrefix(rest, "*.")
		parsed, err := url.Parse("https://" + name)
		if err != nil || parsed.Hostname() == "" || parsed.Host != name || strings.Contains(name, "*") {
			return Hosts{}, fmt.Errorf("%q: must be HOST, HOST:PORT, *.DOMAIN or *", entry)
		}
		p := hostPattern{host: hostName(parsed), port: parsed.Port(), plain: plain}
		if wild {
			p.host = "." + p.host
		}
		hosts.listed = append(hosts.listed, p)
	}
	return hosts, nil
}

// With returns the hosts with those of configured repositories. They are allowed
// with a public address.
func (h Hosts) With(repositories ...string) Hosts {
	h.origins = map[string]bool{}
	for _, address := range repositories {
		if parsed, err := url.Parse(address); err == nil {
			h.origins[originOf(parsed)] = true
		}
	}
	return h
}

// Configured reports whether a URL has the scheme, host and port of a configured
// repository.
func (h Hosts) Configured(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && h.origins[originOf(parsed)]
}

// Check returns an error that names the host if a URL's host is not allowed. It
// does not resolve the name.
func (h Hosts) Check(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return errors.New("is not a URL")
	}
	_, err = h.permit(parsed)
	return err
}

// permission is what is allowed with an allowed host.
type permission struct {
	inside bool // addresses that are not public
	plain  bool // credentials over http to a loopback address
}

// permit returns what is allowed with a URL's host, or a refusal.
func (h Hosts) permit(u *url.URL) (permission, error) {
	host, port := hostName(u), portOf(u)
	allowed, found := permission{}, false
	for _, p := range h.listed {
		match := p.host == host || strings.HasPrefix(p.host, ".") && strings.HasSuffix(host, p.host)
		if match && port == cmp.Or(p.port, defaultPort(u.Scheme)) {
			found, allowed.inside, allowed.plain = true, true, allowed.plain || p.plain
		}
	}
	if !found && !h.public && !h.origins[originOf(u)] {
		return allowed, refusal(fmt.Sprintf("charts may not be fetched from %s, which --chart-hosts does not list", u.Host))
	}
	if address, err := netip.ParseAddr(host); err == nil && !allowed.inside && !public(address) {
		return allowed, refusal(u.Host + " has a loopback, link-local or private address, and --chart-hosts does not list it")
	}
	return allowed, nil
}

// hostName returns a URL's host in lower case, without its port and the root's dot.
func hostName(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// portOf returns the port that a URL is connected to.
func portOf(u *url.URL) string { return cmp.Or(u.Port(), defaultPort(u.Scheme)) }

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443" // oci is https
}

// originOf returns a URL's scheme, host and port.
func originOf(u *url.URL) string {
	scheme := u.Scheme
	if scheme == "oci" {
		scheme = "https"
	}
	return scheme + "://" + hostName(u) + ":" + portOf(u)
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return originOf(a) == originOf(b) }

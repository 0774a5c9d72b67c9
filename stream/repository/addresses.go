package repository

import (
	"net/netip"
	"syscall"
)

// reserved are the blocks that do not lead to a host on the Internet, beside those
// that package netip knows (IANA's special-purpose address registries).
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared by providers and cluster networks
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), // IPv4 in IPv6, in its deprecated form
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), // Teredo and others
	netip.MustParsePrefix("2002::/16"), // 6to4, which holds an IPv4 address
	netip.MustParsePrefix("fec0::/10"),
}

// translated is where DNS64 places IPv4 addresses: in the last four bytes.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// public reports whether an address is one of the Internet's.
func public(address netip.Addr) bool {
	address = address.WithZone("").Unmap()
	if translated.Contains(address) {
		bytes := address.As16()
		return public(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	if !address.IsGlobalUnicast() || address.IsPrivate() {
		return false
	}
	for _, block := range reserved {
		if block.Contains(address) {
			return false
		}
	}
	return true
}

// onlyPublic is a net.Dialer's Control. It runs after the name was resolved and
// before the connection is opened.
func onlyPublic(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !public(target.Addr()) {
		return errInside
	}
	return nil
}

// onlyLoopback is onlyPublic for connections that must not leave the machine.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || !target.Addr().Unmap().IsLoopback() {
		return errPlain
	}
	return nil
}

package web

import (
	"net/http"
	"net/netip"
	"strings"
)

// addresses determines the address that a request comes from.
type addresses struct {
	// trusted are the proxies whose X-Forwarded-For is believed.
	trusted []netip.Prefix
}

// Loopback returns the networks of proxies on this machine, which are trusted by default.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// client returns the address a request came from, invalid if the connection has
// none. Each proxy appends the address it saw to X-Forwarded-For, so the header is
// read from the right, past the trusted proxies: the first other address is the client's,
// and anything left of it is only the client's claim. Where an entry is no address, the last
// proxy before it stands for the client.
func (a addresses) client(r *http.Request) netip.Addr {
	at, ok := hopAddress(r.RemoteAddr)
	if !ok || !a.trusts(at) {
		return at
	}
	lines := r.Header.Values("X-Forwarded-For")
	for i := len(lines) - 1; i >= 0; i-- {
		for rest, more := lines[i], true; more; {
			var hop string
			rest, hop, more = cutLast(rest)
			next, ok := hopAddress(hop)
			if !ok {
				return at
			}
			if at = next; !a.trusts(at) {
				return at
			}
		}
	}
	return at
}

// cutLast splits a list at its last comma; more is false if there is none.
func cutLast(list string) (rest, last string, more bool) {
	i := strings.LastIndexByte(list, ',')
	if i < 0 {
		return "", list, false
	}
	return list[:i], list[i+1:], true
}

func (a addresses) trusts(at netip.Addr) bool {
	for _, p := range a.trusted {
		if p.Contains(at) {
			return true
		}
	}
	return false
}

// hopAddress reads an address with or without a port: 192.0.2.1, 192.0.2.1:80,
// 2001:db8::1, [2001:db8::1], [2001:db8::1]:443.
func hopAddress(text string) (at netip.Addr, ok bool) {
	text = strings.TrimSpace(text)
	at, err := netip.ParseAddr(text)
	if err != nil {
		var with netip.AddrPort
		if with, err = netip.ParseAddrPort(text); err == nil {
			at = with.Addr()
		} else if inner, found := strings.CutPrefix(text, "["); found {
			if inner, found = strings.CutSuffix(inner, "]"); found {
				at, err = netip.ParseAddr(inner)
			}
		}
	}
	if err != nil {
		return netip.Addr{}, false
	}
	return at.Unmap().WithZone(""), true
}

// text is the client's address for the log.
func (a addresses) text(r *http.Request) string {
	if at := a.client(r); at.IsValid() {
		return at.String()
	}
	return r.RemoteAddr
}

// key is the origin of a request for limits: the client's IPv4 address, or its IPv6 /64,
// which one household has.
func (a addresses) key(r *http.Request) string {
	at := a.client(r)
	if !at.IsValid() {
		return r.RemoteAddr
	}
	if at.Is4() {
		return at.String()
	}
	return netip.PrefixFrom(at, 64).Masked().String()
}

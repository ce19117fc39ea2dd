package fetch

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxAddress is the length of the longest address that is fetched, in bytes.
const maxAddress = 4096

// parse returns an address that may be fetched, with its host in ASCII, or ErrInvalid.
func parse(address string) (*url.URL, error) {
	if len(address) > maxAddress {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrInvalid, maxAddress)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: it is malformed", ErrInvalid)
	}
	if err := check(u); err != nil {
		return nil, err
	}
	return u, nil
}

// check returns nil if an address may be fetched, as far as one can tell without looking up
// its name, and ErrInvalid otherwise. It writes the host in ASCII.
func check(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%w: want http or https", ErrInvalid)
	}
	if u.User != nil {
		return fmt.Errorf("%w: it contains a user name", ErrInvalid)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%w: want a port from 1 to 65535", ErrInvalid)
		}
	}
	host := u.Hostname()
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return fmt.Errorf("%w: the host is no name", ErrInvalid)
		}
		host, u.Host = ascii, strings.Replace(u.Host, host, ascii, 1)
	}
	if host == "" {
		return fmt.Errorf("%w: there is no host", ErrInvalid)
	}
	if at, err := netip.ParseAddr(host); err == nil {
		if at.Zone() != "" {
			return fmt.Errorf("%w: the host has a zone", ErrInvalid)
		}
		return nil
	}
	if numeric(host) {
		return fmt.Errorf("%w: the host is a number, but not as in 192.0.2.1", ErrInvalid)
	}
	return nil
}

// numeric reports whether browsers take a host for an IPv4 address: its last part is a
// number, in decimal or after 0x in hexadecimal (https://url.spec.whatwg.org/#ends-in-a-number-checker).
// The system's resolver may take it for one as well.
func numeric(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// ParseAllow parses a list of networks for Config.Allow, separated by commas or white space, as in
// "10.1.0.0/16, 192.0.2.7 fd00::/8". An empty text is an empty list. The error names the wrong entry.
func ParseAllow(text string) ([]netip.Prefix, error) {
	var allow []netip.Prefix
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		network, err := netip.ParsePrefix(entry)
		if err != nil {
			var at netip.Addr
			if at, err = netip.ParseAddr(entry); err == nil && at.Zone() == "" {
				network = netip.PrefixFrom(at, at.BitLen())
			}
		}
		if err != nil || !network.IsValid() {
			return nil, fmt.Errorf("%q: want networks separated by commas, as in 10.1.0.0/16,192.0.2.7,fd00::/8", entry)
		}
		if at := network.Addr(); at.Is4In6() && network.Bits() >= 96 {
			network = netip.PrefixFrom(at.Unmap(), network.Bits()-96) // addresses are compared so
		}
		if network.Bits() == 0 {
			return nil, fmt.Errorf("%q: that is every address: strangers could reach all that this machine can", entry)
		}
		allow = append(allow, network.Masked())
	}
	return allow, nil
}

// Package fetch reads web addresses that strangers chose: links to preview, feeds to import. It is an
// HTTP client that reaches only public addresses, so that nobody can use a riverrun to look around in
// the network that it stands in.
//
// # Promises
//
//   - No connection is made to an address that is not public (code.dny.dev/ssrf, from IANA's
//     registries), nor to any port but 80 and 443, unless the address is in a network that
//     the host allows. The check is of the address that is really dialled, for each
//     connection. So a name whose address changes in between (DNS rebinding) gains nothing,
//     and neither does a redirect.
//   - Only http and https. At most MaxRedirects redirects, none from https to http.
//     No names and passwords in addresses, no cookies, no Referer.
//   - Everything ends: connecting, TLS, the header and the whole exchange have a time each,
//     and Close ends them all. The time for a feed (Client.Feed) grows with the bytes that
//     came, up to a bound. The header, the body and the compressed body have a size each.
//     Memory does not depend on what a server sends.
//   - Each failure has a type (errors.go).
//
// # Proxy
//
// The environment's proxy is not used: it would resolve names itself, where the check cannot reach.
// If the configuration names a proxy, names are resolved and checked here. The proxy is asked for a
// tunnel to the checked address, by number, for http as well as for https. So there is no DNS
// rebinding behind a proxy either. This has a price: this machine must be able to resolve names, the
// proxy cannot choose by name, and an HTTP proxy must permit CONNECT to port 80 too, or pages without
// TLS cannot be read. A SOCKS5 proxy has no such rule. The host still has to trust the proxy, which
// may connect to another address than it was asked for. The proxy's own address is the host's choice
// and is not checked.
//
// # Refused
//
// HTTP/2, as nothing here needs it; encodings other than gzip; hosts that are numbers in other forms
// than 192.0.2.1 (decimal, octal, hexadecimal), as programs disagree about them.
package fetch

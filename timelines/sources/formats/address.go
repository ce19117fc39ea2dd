package formats

import "strings"

// Address completes the address of a feed as people write it and readers hand it on: feed: is no
// scheme of its own, and without one it is https. Any other text is returned as it is, so whether
// the result is an address of the web is still to be checked. No http is tried where https cannot
// be reached: somebody who means it can write it.
func Address(s string) string {
	s = strings.TrimSpace(s)
	rest := s
	if len(s) > 5 && strings.EqualFold(s[:5], "feed:") {
		if rest = s[5:]; hasWebScheme(rest) {
			return rest
		}
	}
	rest = strings.TrimPrefix(rest, "//")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	host, port, hasPort := strings.Cut(host, ":")
	end := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(port, "0123456789") != "" || hasPort && port == "" || len(end) < 2 || len(end) == len(host) || strings.HasPrefix(host, ".") || strings.ContainsAny(host, "@ \t%#") {
		return s
	}
	return "https://" + rest
}

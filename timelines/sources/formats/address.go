package formats

import (
	"slices"
	"strings"
)

// fileEndings are endings of the names of feeds. No host name ends so.
var fileEndings = []string{"xml", "rss", "rdf", "atom", "json"}

// Address completes the address of a feed as people write it and as feed readers pass it on. The
// scheme feed: only marks a feed, and an address without a scheme gets https. Any other text is
// returned as it is, so the caller must still check that the result is a web address. A bare name of
// a file, as atom.xml, is such a text. Address does not fall back to http where https cannot be
// reached: people who mean http can write it.
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
	isFile := strings.Count(host, ".") == 1 && slices.Contains(fileEndings, strings.ToLower(end))
	if isFile || strings.Trim(port, "0123456789") != "" || hasPort && port == "" || len(end) < 2 || len(end) == len(host) || strings.HasPrefix(host, ".") || strings.ContainsAny(host, "@ \t%#") {
		return s
	}
	return "https://" + rest
}

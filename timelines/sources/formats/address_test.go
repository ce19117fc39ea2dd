package formats

import "testing"

func TestAddress(t *testing.T) {
	for given, want := range map[string]string{
		"blog.example.com":              "https://blog.example.com",
		" example.com/feed?a=b ":        "https://example.com/feed?a=b",
		"example.com:8443/feed":         "https://example.com:8443/feed",
		"//example.com/feed":            "https://example.com/feed",
		"пример.рф/лента":               "https://пример.рф/лента",
		"feed://example.com/feed":       "https://example.com/feed",
		"feed:https://example.com/feed": "https://example.com/feed",
		"FEED:http://example.com/feed":  "http://example.com/feed",
		"feed:example.com":              "https://example.com",
		"http://example.com/":           "http://example.com/",
		"https://example.com/":          "https://example.com/",
		"feed:javascript:alert(1.com)":  "feed:javascript:alert(1.com)",
		"javascript:alert(1.com)":       "javascript:alert(1.com)",
		"ftp://example.com":             "ftp://example.com",
		"mailto:ann@example.com":        "mailto:ann@example.com",
		"ann@example.com":               "ann@example.com",
		"example":                       "example",
		"../feeds.opml":                 "../feeds.opml",
		"two words.com":                 "two words.com",
		"example.com:feed":              "example.com:feed",
		"example.com:/feed":             "example.com:/feed",
		"vol.2":                         "vol.2",
		".example.com":                  ".example.com",
		"example.com#feed":              "example.com#feed",
		"100%.com":                      "100%.com",
		"atom.xml":                      "atom.xml",
		"Feed.JSON?page=2":              "Feed.JSON?page=2",
		"my.atom.xml":                   "https://my.atom.xml",
		"xml.example":                   "https://xml.example",
		"":                              "",
		"feed:":                         "feed:",
	} {
		if got := Address(given); got != want {
			t.Errorf("Address(%q) is %q, want %q", given, got, want)
		}
	}
}

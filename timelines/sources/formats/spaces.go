package formats

import "strings"

// space is a namespace of XML that feeds use.
type space uint8

const (
	noSpace space = iota // none, or that of RSS
	otherSpace
	xmlSpace
	ownSpace
	atomSpace
	rdfSpace
	dcSpace
	contentSpace
	mediaSpace
	itunesSpace
	georssSpace
	geoSpace
	gmlSpace
	syndicationSpace
	historySpace
	xhtmlSpace
)

// Namespace is the namespace of our own XML.
const Namespace = "urn:riverrun:items:1"

// spaces are the namespaces by their addresses, in the form of plainSpace.
var spaces = map[string]space{
	Namespace:                              ownSpace,
	"w3.org/2005/atom":                     atomSpace,
	"purl.org/atom/ns":                     atomSpace, // 0.3
	"w3.org/1999/02/22-rdf-syntax-ns":      rdfSpace,
	"purl.org/rss/1.0":                     noSpace,
	"my.netscape.com/rdf/simple/0.9":       noSpace, // RSS 0.90
	"channel.netscape.com/rdf/simple/0.9":  noSpace,
	"backend.userland.com/rss":             noSpace,
	"backend.userland.com/rss2":            noSpace,
	"blogs.law.harvard.edu/tech/rss":       noSpace,
	"purl.org/dc/elements/1.1":             dcSpace,
	"purl.org/dc/elements/1.0":             dcSpace,
	"purl.org/dc/terms":                    dcSpace,
	"purl.org/rss/1.0/modules/content":     contentSpace,
	"search.yahoo.com/mrss":                mediaSpace,
	"itunes.com/dtds/podcast-1.0.dtd":      itunesSpace,
	"georss.org/georss":                    georssSpace,
	"w3.org/2003/01/geo/wgs84_pos":         geoSpace,
	"opengis.net/gml":                      gmlSpace,
	"purl.org/rss/1.0/modules/syndication": syndicationSpace,
	"purl.org/syndication/history/1.0":     historySpace,
	"w3.org/1999/xhtml":                    xhtmlSpace,
	"w3.org/xml/1998/namespace":            xmlSpace,
}

// usualPrefixes are prefixes that files use without declaring them.
var usualPrefixes = map[string]space{
	"atom": atomSpace, "dc": dcSpace, "dcterms": dcSpace, "content": contentSpace, "media": mediaSpace,
	"itunes": itunesSpace, "georss": georssSpace, "geo": geoSpace, "gml": gmlSpace, "rdf": rdfSpace,
	"sy": syndicationSpace,
}

// spaceOf returns the namespace with an address. Feeds write the addresses with and without www and a
// slash at the end, and with https. Our own has only one form.
func spaceOf(address string, strict bool) space {
	if strict {
		switch address {
		case Namespace:
			return ownSpace
		case "":
			return noSpace
		}
		return otherSpace
	}
	if address == "" {
		return noSpace
	}
	if sp, ok := spaces[plainSpace(address)]; ok {
		return sp
	}
	return otherSpace
}

func plainSpace(address string) string {
	s := strings.ToLower(strings.TrimSpace(address))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
	return strings.TrimRight(strings.TrimPrefix(s, "www."), "/#")
}

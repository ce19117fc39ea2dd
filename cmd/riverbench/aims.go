package main

// aims are the figures that we want, in the full town (scale 1) with two cores that run the server,
// PostgreSQL and riverbench, by row and figure. AIMS.md numbers them.
var aims = map[string]float64{
	// B1: a warm home page.
	"home p50": 0.6, "home requests, 32 at once": 1500, "home processor, server": 0.5, "home processor, PostgreSQL": 0.25,
	"home statements": 1, "home page": 60, "again p50": 0.35,
	// B2: further down.
	"older p50": 0.72,
	// B3: a cold one.
	"cold p50": 12, "cold slowest": 40, "herd builds": 1,
	// B4: other warm pages.
	"user p50": 0.6, "discussions p50": 0.6, "single p50": 0.6, "group p50": 0.72, "best p50": 0.72, "search p50": 0.72, "search first, p50": 60,
	// B5: changes.
	"like p50": 3, "like requests, 32 at once": 600, "like statements": 15,
	"comment p50": 3, "comment requests, 32 at once": 600, "comment statements": 15,
	"post p50": 3, "post requests, 32 at once": 600, "post statements": 15,
	// B6: from one browser to another.
	"pushed p50 at 100/s": 8, "pushed p99 at 100/s": 50,
	// B7: to many watchers.
	"watch like, median of 500": 15, "watch like, last of 500": 25, "watch like, processor, server": 15, "watch like, last of 5000": 120,
	// B9: a post into many rivers.
	"rivers many, entries": 50_000,
	// B12 and B17: open pages.
	"sockets memory of one": 20, "sockets memory of the server": 150, "sockets processor, server, for 3000": 10,
	"crash median of 1740": 3000,
	// B16: what a browser loads.
	"client scripts, compressed": 16,
}

// aim is what we want of a figure, 0 for nothing. Some aims are for a number of open pages that the figure's name does
// not say.
func (o *options) aim(row, name string) float64 {
	if row == "watch" && o.watchers != peerWatchers && name == "like, processor, server" ||
		row == "sockets" && o.sockets != peerSockets && name == "memory of the server" {
		return 0
	}
	return aims[row+" "+name]
}

package formats

var (
	wordpress  = ""
	jsonFeed11 = ""
)

var goodFeeds = map[string]struct {
	text    string
	options Options
}{}

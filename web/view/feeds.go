package view

import (
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// Feeds is the viewer's feeds as components see them, with one of the forms
// as it was sent if it had an error.
type Feeds struct {
	*Base
	Feeds []timelines.OwnFeed
	Parts map[string]ListPart // of the people of the feeds, by name
	Saved bool
	Form  FeedForm
	// Error is the error of the form Act of the feed with this slug.
	Slug, Act string
	Error     FormError
}

// FeedForm is the form for a new sub-feed, empty or as it was sent.
type FeedForm struct {
	Slug, Title string
	Access      timelines.Level
	Error       FormError
}

// NewFeedForm is the form as it is offered.
func NewFeedForm() FeedForm { return FeedForm{Access: timelines.Private} }

// errorAt returns the error of the forms of a feed.
func (v Feeds) errorAt(f timelines.OwnFeed, acts ...string) string {
	for _, act := range acts {
		if v.Act == act && v.Slug == f.Slug {
			return v.Error.Text
		}
	}
	return ""
}

// title is what a feed is called.
func (v Feeds) title(f timelines.OwnFeed) string {
	if f.Slug == "" {
		return v.Locale.T("feeds.own")
	}
	return v.subfeedTitle(f.Subfeed)
}

// fixed reports whether a feed is one that everybody has.
func (v Feeds) fixed(f timelines.OwnFeed) bool {
	return f.Slug == "" || f.Slug == kinds.PrivateTerm
}

// Names of lists, and of the sections they stand in or are.
func ReadersList(f timelines.OwnFeed) string { return "page-" + f.Slug }

func ExcludedList(f timelines.OwnFeed) string { return "out-" + f.Slug }

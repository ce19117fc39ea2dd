package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/friendfeed"
)

// score is an archive as a replay plays it: everything anybody did, in the order
// of time.
type score struct {
	file   string
	events []event
	// people are all who act; first is the one who writes first.
	people []timelines.ImportedAccount
	first  timelines.ImportedAccount
	// The title and description of the feed in the archive.
	feedTitle, about string
	// private is how many posts are left out because they stood in no public place.
	private int
}

// event is one thing somebody did.
type event struct {
	at      time.Time
	kind    string // post, comment or like
	id      string // the archive's; empty for likes
	post    string // the archive's id of the post
	who     string // the archive's id of the account
	byGroup bool   // who is a group
	body    string
	element int
}

// nothing replaces an empty text, which no form accepts.
const nothing = "…"

// readScore reads a whole archive. Anything wrong with it is an error.
func readScore(file string) (*score, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	s := &score{file: file}
	seen := map[string]bool{}
	var errs []error
	for r := friendfeed.NewReader(f, file); ; {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			errs = append(errs, err)
			var at *friendfeed.Error
			if !errors.As(err, &at) || at.Broken {
				break
			}
			continue
		}
		s.add(e, seen)
	}
	// A post comes before its comments and likes, whatever their dates.
	slices.SortStableFunc(s.events, func(a, b event) int { return a.at.Compare(b.at) })
	if i := slices.IndexFunc(s.events, func(ev event) bool { return !ev.byGroup }); i >= 0 {
		for _, p := range s.people {
			if p.ExternalID == s.events[i].who {
				s.first = p
			}
		}
	}
	return s, errors.Join(errs...)
}

func (s *score) add(e *friendfeed.Entry, seen map[string]bool) {
	p := timelines.FromFriendFeed(e)
	s.feedTitle, s.about = cmp.Or(s.feedTitle, e.Feed.Title), cmp.Or(s.about, e.Feed.About)
	if !public(p) {
		s.private++
		return
	}
	person := func(a timelines.ImportedAccount) {
		if a.Kind == timelines.User && !seen[a.ExternalID] {
			seen[a.ExternalID] = true
			s.people = append(s.people, a)
		}
	}
	person(p.Author)
	s.events = append(s.events, event{
		at: p.CreatedAt, kind: "post", id: p.ExternalID, post: p.ExternalID, who: p.Author.ExternalID,
		byGroup: p.Author.Kind == timelines.Group, body: playable(p), element: e.Element,
	})
	for _, c := range p.Comments {
		person(c.Author)
		s.events = append(s.events, event{
			at: later(p.CreatedAt, c.CreatedAt), kind: "comment", id: c.ExternalID, post: p.ExternalID, who: c.Author.ExternalID,
			byGroup: c.Author.Kind == timelines.Group, body: cmp.Or(c.Body, nothing), element: e.Element,
		})
	}
	for _, l := range p.Likes {
		person(l.Account)
		s.events = append(s.events, event{
			at: later(p.CreatedAt, l.CreatedAt), kind: "like", post: p.ExternalID, who: l.Account.ExternalID,
			byGroup: l.Account.Kind == timelines.Group, element: e.Element,
		})
	}
}

// public reports whether everybody could read the post. Other posts do not go into a group
// that is open to all.
func public(p timelines.Imported) bool {
	return slices.ContainsFunc(p.To, func(a timelines.ImportedAccount) bool { return !a.Private })
}

// playable is the text of a post, its attachments written out below: a composer
// has no place for links to files.
func playable(p timelines.Imported) string {
	lines := []string{p.Body}
	if p.Body == "" {
		lines = nil
	}
	for _, a := range p.Attachments {
		if strings.HasSuffix(a.URL, a.Title) {
			lines = append(lines, a.URL)
		} else {
			lines = append(lines, a.Title+" "+a.URL)
		}
	}
	if len(lines) == 0 {
		lines = append(lines, cmp.Or(p.URL, nothing))
	}
	return strings.Join(lines, "\n")
}

func (s *score) title(otherwise string) string { return cmp.Or(s.feedTitle, otherwise) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

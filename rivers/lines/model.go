package lines

import (
	"context"
	"slices"
	"strconv"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/timelines/kinds"
)

// Person is an account that a post names.
type Person struct {
	Name  string `json:"name" doc:"unique, and its address on the site"`
	Title string `json:"title" doc:"the name that is shown"`
	Group bool   `json:"group,omitempty"`
}

// Post is a post as the reader may see it.
type Post struct {
	Code      string     `json:"code"`
	Page      string     `json:"page" format:"uri" doc:"its address on the site"`
	Author    Person     `json:"author"`
	To        []string   `json:"to" doc:"where it stands, as far as the owner may know: the name of a feed or a group, name/feed of a sub-feed, ~eyes for its author alone"`
	Text      string     `json:"text"`
	Markup    bool       `json:"markup" doc:"the text is read as markup"`
	Cut       bool       `json:"cut,omitempty" doc:"only the beginning of the text is here; the post alone has all"`
	Created   time.Time  `json:"created"`
	Edited    *time.Time `json:"edited,omitempty"`
	Version   int64      `json:"version" doc:"grows with each change of the post, of its comments and likes"`
	Via       string     `json:"via,omitempty" doc:"the source or program that brought it"`
	Likes     int        `json:"likes"`
	LikedBy   []Person   `json:"liked_by" doc:"the newest, 20 at most"`
	Saves     int        `json:"saves"`
	Comments  []Comment  `json:"comments" doc:"all, of a post alone; in a river the first and the last ones"`
	Commented int        `json:"commented" doc:"how many comments there are"`
	Files     []File     `json:"files"`
	Listing   *Listing   `json:"listing,omitempty"`
	Held      string     `json:"held,omitempty" enum:"waiting,blocked" doc:"why others do not see it: it waits for the approval of a group, or moderators blocked it"`
}

// Comment is a comment. One of a person whom the owner does not see has no author and no text.
type Comment struct {
	ID      int64      `json:"id"`
	Author  *Person    `json:"author,omitempty"`
	Text    string     `json:"text"`
	Cut     bool       `json:"cut,omitempty"`
	Created time.Time  `json:"created"`
	Edited  *time.Time `json:"edited,omitempty"`
	Likes   int        `json:"likes"`
	Hidden  bool       `json:"hidden,omitempty" doc:"by a ban"`
}

// File is a file of a post.
type File struct {
	URL    string `json:"url" format:"uri"`
	Title  string `json:"title"`
	Type   string `json:"type,omitempty"`
	Bytes  int64  `json:"bytes,omitempty"`
	Alt    string `json:"alt,omitempty"`
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
}

// Listing is what a listing offers.
type Listing struct {
	State     string    `json:"state" enum:"active,expired,closed"`
	Price     *int64    `json:"price,omitempty" doc:"in the smallest unit of the currency"`
	Currency  string    `json:"currency,omitempty"`
	Place     string    `json:"place,omitempty"`
	Condition string    `json:"condition,omitempty"`
	Until     time.Time `json:"until"`
	How       string    `json:"how,omitempty" doc:"how it was closed: sold or given"`
	Paid      *int64    `json:"paid,omitempty"`
}

// mostLikers is how many people who like a post an answer names.
const mostLikers = 20

// Posts makes the posts of items, with the names that accounts have at that moment.
func (l *Log) Posts(ctx context.Context, items []rivers.Item) ([]Post, error) {
	var ids []int64
	for i := range items {
		it := &items[i]
		ids = append(ids, it.Fold.Text.Author)
		for _, t := range it.To {
			ids = append(ids, t.TheirID)
		}
		likers := it.Likes().IDs
		ids = append(ids, likers[:min(len(likers), mostLikers)]...)
		for _, c := range it.Fold.Comments.Shown {
			ids = append(ids, c.Author)
		}
	}
	slices.Sort(ids)
	people, err := l.rivers.Access().Accounts(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	posts := make([]Post, len(items))
	for i := range items {
		posts[i] = l.post(&items[i], people)
	}
	return posts, nil
}

func (l *Log) post(it *rivers.Item, people map[int64]timelines.Account) Post {
	t, likes := &it.Fold.Text, it.Likes()
	p := Post{
		Code: t.Code, Page: l.base + "/p/" + t.Code, Author: person(people[t.Author]), To: destinations(it, people),
		Text: t.Body, Markup: t.Markup, Cut: t.Cut, Created: instant(t.CreatedAt), Edited: later(t.EditedAt), Version: it.Stamp.Fold, Via: t.Via,
		Likes: likes.Total, LikedBy: []Person{}, Saves: it.Fold.Faves, Comments: []Comment{}, Commented: it.Fold.Comments.Total, Files: []File{}, Held: string(t.Held),
	}
	for _, id := range likes.IDs[:min(len(likes.IDs), mostLikers)] {
		p.LikedBy = append(p.LikedBy, person(people[id]))
	}
	for i := range it.Fold.Comments.Shown {
		c := &it.Fold.Comments.Shown[i]
		said := Comment{ID: c.ID, Created: instant(c.CreatedAt)}
		if it.Hides(c.Author) {
			said.Hidden = true
		} else {
			by := person(people[c.Author])
			said.Author, said.Text, said.Cut, said.Edited, said.Likes = &by, c.Body, c.Cut, later(c.EditedAt), it.CommentLikes(c).Total
		}
		p.Comments = append(p.Comments, said)
	}
	for _, f := range it.Fold.Attached {
		switch {
		case f.State == string(files.Picture), f.State == string(files.Download):
			p.Files = append(p.Files, File{
				URL: l.base + "/files/" + f.Code, Title: f.Title, Type: f.Type, Bytes: f.Bytes, Alt: f.Alt, Width: f.Width, Height: f.Height,
			})
		case f.URL != "":
			p.Files = append(p.Files, File{URL: f.URL, Title: f.Title})
		}
	}
	if offer := t.Listing; offer != nil {
		p.Listing = &Listing{
			State: offer.State, Price: offer.Price, Currency: offer.Currency, Place: offer.Place, Condition: offer.Condition,
			Until: instant(offer.Until), How: offer.How, Paid: offer.Paid,
		}
	}
	return p
}

// destinations are where a post stands, in the form in which a post is sent there.
func destinations(it *rivers.Item, people map[int64]timelines.Account) []string {
	to := []string{}
	for _, t := range it.To {
		name := people[t.TheirID].Name
		switch t.Kind {
		case kinds.Eyes:
			name = timelines.ToEyes
		case kinds.Subfeed:
			name += "/" + t.Term
		case kinds.Directs:
			if t.TheirID == it.Fold.Text.Author {
				continue // where the author keeps their own messages
			}
		}
		if name != "" {
			to = append(to, name)
		}
	}
	return to
}

func person(a timelines.Account) Person {
	return Person{Name: a.Name, Title: a.Title, Group: a.Kind == timelines.Group}
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func later(micros int64) *time.Time {
	if micros == 0 {
		return nil
	}
	at := instant(micros)
	return &at
}

// number is a number of the log as text: it does not fit into the numbers of JavaScript for ever.
func number(n int64) string { return strconv.FormatInt(n, 10) }

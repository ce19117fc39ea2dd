package view

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/notices"
	"riverrun/timelines/scheduled"
	"riverrun/timelines/sources"
)

// NotificationsPath is the address of the page of notifications.
const NotificationsPath = "/filter/notifications"

// Notifications is that page: the river, and above it the requests that wait, the sources that ask or have come to a
// stop, and who came of late.
type Notifications struct {
	*River
	Requests Requests
	Alerts   []sources.Alerting
	// Failed are scheduled posts of the viewer's that could not be published.
	Failed   []scheduled.Post
	Arrivals []Arrival
	// Approvals are groups of the viewer's where posts wait, and Refused the viewer's posts that were blocked or that a
	// group did not take.
	Approvals []timelines.Account
	Refused   []timelines.Refused
	// Answered: reports of the viewer's are done, and the viewer has not seen it.
	Answered bool
}

// MostAlerts is how many of them the page shows.
const MostAlerts = 20

// alertText says why a source has an alert, with the slot {source}.
func alertText(loc *Locale, a sources.Alert) string {
	switch a {
	case sources.AlertAsks:
		return loc.T("alerts.asks")
	case sources.AlertFails:
		return loc.T("alerts.fails")
	}
	return loc.T("alerts.gone")
}

// refusedText says what became of a post, with the slots {post} and {group}.
func refusedText(loc *Locale, post timelines.Refused) string {
	if post.GroupID == 0 {
		return loc.T("alerts.blocked")
	}
	return loc.T("alerts.refused")
}

func refusedBeginning(loc *Locale, post timelines.Refused) string {
	return BeginningOf(loc, PlainText(post.Beginning, post.Markup))
}

// newAlert reports whether the viewer has not seen an alert before.
func newAlert(p *Base, a sources.Alerting) bool {
	return a.Alert == sources.AlertAsks || a.At > p.Sets.AlertsSeen
}

// Arrival are people who began to follow somebody, or joined a group; either the viewer is the one
// who came, or they came to the viewer or to a group of the viewer's.
type Arrival struct {
	Who    []timelines.Account // the last ones first
	Others int                 // how many more
	To     timelines.Account
	At     time.Time // of the last one
}

// MostArrivals is how many the page shows, and MostArrived how many people each of them names.
const (
	MostArrivals = 6
	MostArrived  = 3
)

// line is the account whose avatar stands beside what is said, and what is said.
func (a Arrival) line(p *Base) (face timelines.Account, text string) {
	group := a.To.Kind == timelines.Group
	switch {
	case a.Who[0].ID == p.Viewer.AccountID && group:
		return a.To, p.Locale.T("arrivals.in")
	case a.Who[0].ID == p.Viewer.AccountID:
		return a.To, p.Locale.T("arrivals.reads")
	case group:
		return a.Who[0], p.Locale.T("arrivals.joined")
	case len(a.Who) > 1:
		return a.Who[0], p.Locale.T("arrivals.follow")
	}
	return a.Who[0], p.Locale.T("arrivals.follows")
}

// unreadCount is the number of unread notifications as badges and titles have it.
func unreadCount(n int) string {
	if n >= rivers.MaxCounted {
		return strconv.Itoa(rivers.MaxCounted-1) + "+"
	}
	return strconv.Itoa(n)
}

// How many people a sentence names, and how many facesShown stand below it. Fewer than leastFaces
// are named all the same.
const (
	namedActors = 2
	facesShown  = 5
	leastFaces  = 3
)

// shownActors are the people of a group whose names or facesShown are shown.
func shownActors(g *rivers.NoticeGroup) []int64 { return g.Actors[:min(len(g.Actors), facesShown)] }

// firstGroup is that of the latest event, by which the entry is headed.
func (e *Entry) firstGroup() *rivers.NoticeGroup { return &e.Item.Notice.Groups[0] }

// restGroups are the others, each a line below it.
func (e *Entry) restGroups() []rivers.NoticeGroup { return e.Item.Notice.Groups[1:] }

// actor is who did the last of it.
func (e *Entry) actor() timelines.Account { return e.Account(e.firstGroup().Actors[0]) }

// noticePicture is the icon of a kind of event.
func noticePicture(k notices.Kind) string {
	switch k {
	case notices.Like, notices.CommentLike:
		return "heart"
	case notices.Mention:
		return "at"
	case notices.Message:
		return "mail"
	}
	return "comment"
}

// noticeText says what happened, with the slot {who} for the people.
func noticeText(loc *Locale, g *rivers.NoticeGroup) string {
	one := len(g.Actors)+g.Others == 1
	switch g.Kind {
	case notices.Like:
		return loc.T("notices.like")
	case notices.CommentLike:
		return loc.T("notices.commentlike")
	case notices.Comment:
		if g.Events > len(g.Actors) {
			return loc.N("notices.comments", g.Events)
		}
		return loc.T("notices.comment")
	case notices.After:
		if g.Events > len(g.Actors) {
			return loc.N("notices.afters", g.Events)
		}
		return loc.T("notices.after")
	case notices.Mention:
		if one {
			return loc.T("notices.mention")
		}
		return loc.T("notices.mention.many")
	}
	if one {
		return loc.T("notices.message")
	}
	return loc.T("notices.message.many")
}

// noticeSentence says what happened and who did it.
func noticeSentence(e *Entry, g *rivers.NoticeGroup) templ.Component {
	named := g.Actors
	if len(named)+g.Others > namedActors+1 || len(named) > namedActors && g.Others > 0 {
		named = named[:min(len(named), namedActors)]
	}
	others := len(g.Actors) - len(named) + g.Others
	return sentence(noticeText(e.Locale, g), slots{"who": noticeActors(e, named, others)})
}

// Quoted is what the entry is about: the comment, or the post's text.
func (e *Entry) Quoted() string {
	if c := e.firstGroup().Comment; c != nil {
		return beginning(PlainText(c.Body, c.Markup))
	}
	if e.firstGroup().CommentID != 0 {
		return ""
	}
	return beginning(PlainText(e.Item.Fold.Text.Body, e.Item.Fold.Text.Markup))
}

// quotedRunes is more than the two lines that are shown hold.
const quotedRunes = 240

// beginning is the first part of a text, in one line.
func beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > quotedRunes {
		text = string(runes[:quotedRunes]) + "…"
	}
	return Unturned(text)
}

// About is the address of what the entry is about.
func (e *Entry) About() string {
	if id := e.firstGroup().CommentID; id != 0 {
		return e.path() + "#" + CommentID(id)
	}
	return e.path()
}

// answers are the viewer's comments at the end of the conversation, after what happened: what
// was answered here.
func (e *Entry) answers() []int {
	shown := e.Item.Fold.Comments.Shown
	var own []int
	for i := len(shown) - 1; i >= 0 && i >= len(shown)-2 && e.isMe(shown[i].Author) && shown[i].CreatedAt > e.Item.Notice.At; i-- {
		own = append(own, i)
	}
	slices.Reverse(own)
	return own
}

// wants reports whether the viewer wants notifications of a kind.
func (v Settings) wants(k notices.Kind) bool { return !notices.Off(v.Sets.NoticesOff).Has(k) }

// wanted says how many kinds of notifications the viewer wants.
func (v Settings) wanted() string {
	on := 0
	for _, k := range notices.Choices {
		if v.wants(k) {
			on++
		}
	}
	switch on {
	case len(notices.Choices):
		return v.Locale.T("settings.notices.all")
	case 0:
		return v.Locale.T("settings.notices.none")
	}
	return v.Locale.T("settings.notices.some", "n", on, "all", len(notices.Choices))
}

// noticeName is what the settings call a kind.
func noticeName(loc *Locale, k notices.Kind) string {
	switch k {
	case notices.Like:
		return loc.T("settings.notices.like")
	case notices.CommentLike:
		return loc.T("settings.notices.commentlike")
	case notices.Comment:
		return loc.T("settings.notices.comment")
	case notices.After:
		return loc.T("settings.notices.after")
	case notices.Mention:
		return loc.T("settings.notices.mention")
	case notices.Source:
		return loc.T("settings.notices.source")
	}
	return loc.T("settings.notices.message")
}

// NoticeLine is the sentence of a notification as plain text.
func (e *Entry) NoticeLine() (string, error) {
	written, err := Bytes(noticeSentence(e, e.firstGroup()))
	if err != nil {
		return "", err
	}
	text := html.UnescapeString(string(tags.ReplaceAll(written, nil)))
	return strings.Join(strings.Fields(text), " "), nil
}

// tags are the elements of our own HTML, in which no attribute contains >.
var tags = regexp.MustCompile(`<[^>]*>`)

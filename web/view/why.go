package view

import (
	"slices"

	"github.com/a-h/templ"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// shownReasons is how many people one reason names.
const shownReasons = 3

// why gives the reason why the entry is here. Only the home page and lists mix reasons, so only
// their entries have one: the plainest, with everybody it holds for.
func (e *Entry) why() templ.Component {
	if !e.RiverName.Kind.HasModes() || len(e.Item.Why) == 0 {
		return templ.NopComponent
	}
	first := plainest(e.Item.Why)
	if first.Kind == kinds.Discussions && e.isMe(e.Item.Fold.Text.Author) {
		first.Kind = kinds.Feed // who wrote a post takes part in its discussion before anybody else does
	}
	if e.isMe(first.TheirID) {
		return because(whyPicture(first.Kind), word(e.Locale.T(whyMine(first.Kind))))
	}
	var who []int64
	for _, t := range e.Item.Why {
		if t.Kind == first.Kind && !e.isMe(t.TheirID) && !slices.Contains(who, t.TheirID) {
			who = append(who, t.TheirID)
		}
	}
	if len(who) > shownReasons {
		who = who[:shownReasons]
	}
	return because(whyPicture(first.Kind), sentence(e.Locale.T(whyTheirs(first.Kind)), slots{"who": whoList(e, who)}))
}

// plainest returns the reason people would give first: the place of the post, then a like or
// comment, then the viewer's own part in it. Among equals it is the earliest.
func plainest(why []timelines.Timeline) timelines.Timeline {
	rank := func(t timelines.Timeline) int {
		switch {
		case kinds.Of(t.Kind).Base:
			return 0
		case t.Kind == kinds.Discussions:
			return 2
		}
		return 1
	}
	return slices.MinFunc(why, func(a, b timelines.Timeline) int { return rank(a) - rank(b) })
}

// whyMine are the reasons that are the viewer's own doing.
func whyMine(kind string) string {
	switch kind {
	case kinds.Likes:
		return "why.likes.me"
	case kinds.Comments:
		return "why.comments.me"
	case kinds.Discussions:
		return "why.discussions"
	case kinds.Directs:
		return "why.message"
	case kinds.Eyes:
		return "why.eyes"
	}
	return "why.feed.me"
}

func whyTheirs(kind string) string {
	switch kind {
	case kinds.Group:
		return "why.group"
	case kinds.Likes:
		return "why.likes"
	case kinds.Comments:
		return "why.comments"
	}
	return "why.feed"
}

// whyPicture is the icon of what somebody did; a post that stands where the viewer follows
// needs none.
func whyPicture(kind string) string {
	switch kind {
	case kinds.Likes:
		return "heart"
	case kinds.Comments, kinds.Discussions:
		return "talk"
	}
	return ""
}

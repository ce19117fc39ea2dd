package view

import (
	"riverrun/timelines"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
	"riverrun/timelines/rules"
)

// Title names a post's page: who wrote it, and how it begins. It is part of the
// entry there, so that it follows what is edited.
func (e *Entry) Title() string {
	const longest = 60
	line := headline(e.Locale, PlainText(e.Item.Fold.Text.Body, e.Item.Fold.Text.Markup), e.Item.Fold.Attached)
	return e.author().Title + ": " + ShortText(line, longest)
}

// Heading names a post's page where there is little room: after the group it stands in, if it
// stands in one.
func (e *Entry) Heading() string {
	for _, d := range e.destinations() {
		if d.who.Kind == timelines.Group {
			return e.Locale.T("entry.heading.group", "group", d.who.Title)
		}
	}
	return e.Locale.T("entry.heading")
}

// Edit is a form that changes or deletes what was written.
type Edit struct {
	Address string // without the last segment
	Back    string
	Body    string
	Comment bool
	// Change: the text may be changed, not only deleted.
	Change bool
	Lang   string // chosen, "" automatic; of a post
	Files  []files.File
	Error  FormError
	// Places are where the post stands, to be changed; nil: not a post. was is how they
	// are when the form is opened, as it spells them.
	Places *Composer
	Was    string
	// Listing are the fields of a listing that is not closed; nil: none.
	Listing *listings.Fields
}

func (e Edit) title(loc *Locale) string {
	switch {
	case !e.Change:
		return e.deleteTitle(loc)
	case e.Comment:
		return loc.T("edit.comment.title")
	}
	return loc.T("edit.post.title")
}

func (e Edit) label(loc *Locale) string {
	if e.Comment {
		return loc.T("comment.body")
	}
	return loc.T("compose.body")
}

func (e Edit) longest() string {
	if e.Comment {
		return rules.CommentLong.Maxlength()
	}
	return rules.PostLong.Maxlength()
}

func (e Edit) deleteTitle(loc *Locale) string {
	if e.Comment {
		return loc.T("delete.comment.title")
	}
	return loc.T("delete.post.title")
}

func (e Edit) deleteSure(loc *Locale) string {
	if e.Comment {
		return loc.T("delete.comment.sure")
	}
	return loc.T("delete.post.sure")
}

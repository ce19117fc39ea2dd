package view

import (
	"net/url"
	"slices"
	"unicode/utf8"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Waiting is a page of the posts that wait for a group, for its administrators.
type Waiting struct {
	*Base
	Group timelines.Account
	Posts []timelines.WaitingPost
	// After and Next are codes of posts after which this page and the next one begin; empty: the beginning, or none.
	After, Next string
	Done        Answer
	// Code is the post whose form had an error, with what was typed.
	Code, Reason string
	Error        FormError
}

// Answer is what became of a post that waited, for the note above the others.
type Answer string

// The answers. AnswerLate: it waits no more.
const (
	AnswerPublished Answer = "published"
	AnswerRefused   Answer = "refused"
	AnswerLate      Answer = "late"
)

func (v Waiting) done() string {
	if slices.Contains([]Answer{AnswerPublished, AnswerRefused, AnswerLate}, v.Done) {
		return v.Locale.T("waiting.done." + string(v.Done))
	}
	return ""
}

// WaitingPath is the address of the posts that wait for a group.
func WaitingPath(group string) string { return "/" + group + "/waiting" }

func (v Waiting) path(post timelines.WaitingPost, act string) string {
	return WaitingPath(v.Group.Name) + "/" + post.Code + "/" + act
}

func (v Waiting) next() string {
	return WaitingPath(v.Group.Name) + "?" + url.Values{"after": {v.Next}}.Encode()
}

// wrong is the error of the form of a post.
func (v Waiting) wrong(post timelines.WaitingPost) FormError {
	if post.Code == v.Code {
		return v.Error
	}
	return FormError{}
}

// stray is an error that no form on the page has a place for.
func (v Waiting) stray() string {
	if slices.ContainsFunc(v.Posts, func(p timelines.WaitingPost) bool { return p.Code == v.Code }) {
		return v.Error.at("")
	}
	return v.Error.Text
}

// typed is the reason in the form of a post.
func (v Waiting) typed(post timelines.WaitingPost) string {
	if post.Code == v.Code {
		return v.Reason
	}
	return ""
}

// A text longer than foldedRunes is folded: the page shows waitingRunes of it at first.
const (
	foldedRunes  = 1200
	waitingRunes = 400
)

func isLong(post timelines.WaitingPost) bool { return utf8.RuneCountInString(post.Body) > foldedRunes }

// pictureOf is a picture of a post that waits, as those of entries are.
func pictureOf(post timelines.WaitingPost, i int) rivers.Attachment {
	p := post.Pictures[i]
	return rivers.Attachment{Code: p.Code, Title: p.Title, Alt: p.Alt, Width: p.Width, Height: p.Height}
}

// waitingNow says how many posts wait.
func (v Manage) waitingNow() string {
	if v.Waiting == 0 {
		return v.Locale.T("waiting.none")
	}
	return v.Locale.N("waiting.now", v.Waiting)
}

// waitsAt reports whether a post of the viewer's to a group waits for its administrators.
func (p *Base) waitsAt(g timelines.Account) bool {
	return g.Kind == timelines.Group && g.Approves && !p.Administers(g.ID)
}

// mayWait reports whether one of the groups to choose among lets posts in first.
func (c Composer) mayWait(p *Base) bool { return slices.ContainsFunc(c.boxes(p), p.waitsAt) }

package view

import (
	"time"

	"riverrun/timelines/edits"
)

// History is how a post was edited, the last edit first.
type History struct {
	*Base
	Code  string // the post's
	Edits []HistoryEdit
	Older string // where older edits begin, "" if there are none
}

// HistoryEdit is one edit.
type HistoryEdit struct {
	At    time.Time
	Spans []edits.Span
}

func (h History) post() string { return "/p/" + h.Code }

func (h History) older() string { return h.post() + "/history?before=" + h.Older }

package view

import (
	"time"

	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
)

// CommentForms is a comment's form as it was sent.
type CommentForms struct {
	Address, Back, Body, Key string
	Files                    []files.File
	Place                    string // of its draft, or empty
	Saved                    time.Time
	Newer                    *drafts.Draft // as those of Composer
	Error                    FormError
}

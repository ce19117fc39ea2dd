package view

import "riverrun/timelines/files"

// CommentForms is a comment's form as it was sent.
type CommentForms struct {
	Address, Back, Body, Key string
	Files                    []files.File
	Place                    string // of its draft, or empty
	Error                    FormError
}

package view

// CommentForms is a comment's form as it was sent.
type CommentForms struct {
	Address, Back, Body, Key string
	Place                    string // of its draft, or empty
	Error                    FormError
}

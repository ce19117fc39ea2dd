package view

import (
	"riverrun/timelines"
)

// Removal is the page that takes a post out of groups the viewer administers.
type Removal struct {
	*Base
	Code   string
	Text   string // how the post begins
	Groups []timelines.Account
}

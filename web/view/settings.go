package view

import (
	"riverrun/timelines"
)

// Settings is the settings as components see them, with one of the forms as
// it was sent if it had an error.
type Settings struct {
	*Base
	Title, About, Language string
	Access                 timelines.Level
	Writers                timelines.Writers
	Groups                 []timelines.Account // those the viewer administers
	Requests               Requests
	Saved                  bool
	Error                  FormError
}

package view

import (
	"riverrun/timelines"
)

// People is the directory of people as components see it.
type People struct {
	*Base
	All      []timelines.Account
	Next     string
	Requests Requests
}

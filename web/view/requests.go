package view

import "riverrun/timelines"

// Requests is a part of those who wait for the viewer's answer.
type Requests struct {
	ListPart
	All []Request
}

// Request is somebody who waits for the viewer's answer.
type Request struct {
	Who   timelines.Account
	Group timelines.Account // zero: asks to read the viewer
}

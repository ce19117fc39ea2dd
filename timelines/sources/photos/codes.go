package photos

import (
	"time"

	"riverrun/timelines/sources/formats"
)

// The problems of pictures of items.
const (
	NotFound    formats.Code = "picture_not_found"
	Denied      formats.Code = "picture_denied"
	Unreachable formats.Code = "picture_unreachable"
	TooLarge    formats.Code = "picture_too_large"
	NotAPicture formats.Code = "picture_not_a_picture"
	Forbidden   formats.Code = "picture_forbidden_address"
)

// Codes are all codes of pictures. The item is posted without the picture.
var Codes = []formats.CodeInfo{
	{Code: NotFound, Level: formats.LevelWarning, Means: "There is no picture at this address.", Do: "Correct the address, or publish the picture there."},
	{Code: Denied, Level: formats.LevelWarning, Means: "The server refuses the picture.", Do: "Let everybody read the picture."},
	{Code: Unreachable, Level: formats.LevelWarning, Means: "The picture could not be fetched, though it was tried several times.", Do: "Look whether the address works from elsewhere, and whether its server answers in time."},
	{Code: TooLarge, Level: formats.LevelWarning, Means: "The picture is too large.", Do: "Give the address of a smaller one: at most 20 MB and 50 megapixels."},
	{Code: NotAPicture, Level: formats.LevelWarning, Means: "What stands at this address is no JPEG, PNG, GIF or WebP picture, or is damaged.", Do: "Give the address of the picture itself, not of a page that shows it."},
	{Code: Forbidden, Level: formats.LevelWarning, Means: "The address is not a public one, and was not asked.", Do: "Publish the picture on a public server."},
}

// tries is how often a picture is tried if its failure may pass.
const tries = 5

// again returns how long to wait until a picture is tried again after this number of failures: a
// minute, five, 25, two hours. chance is a random number in [0, 1).
func again(failures int, chance float64) time.Duration {
	after := time.Minute
	for range failures - 1 {
		after *= 5
	}
	return after + time.Duration(chance*float64(after)/4)
}

package view

import "riverrun/timelines/markup"

// Balance passes on stretches of one paragraph and keeps count of the directions begun in
// them. The zero Balance is ready.
type Balance = markup.Balance

// Turns reports whether a character turns the direction of what follows, or ends that.
func Turns(r rune) bool { return markup.Turns(r) }

// Unturned returns a text without the characters that turn its direction.
func Unturned(text string) string { return markup.Unturned(text) }

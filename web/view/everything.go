package view

import (
	"slices"
)

// Aggregates are the pages of that kind.
func Aggregates() []Page {
	return slices.DeleteFunc(slices.Clone(Pages), func(p Page) bool { return p.By != "lang" })
}

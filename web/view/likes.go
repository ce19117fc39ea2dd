package view

import (
	"riverrun/rivers"
)

// likesStep is how many likers one step unfolds.
const likesStep = 100

// nextLikes is how many likers the step after these shows.
func nextLikes(shown int) int { return min(shown+likesStep, rivers.MaxPeople) }

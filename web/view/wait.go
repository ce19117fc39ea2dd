package view

import (
	"time"

	"riverrun/timelines"
)

// RoundWait rounds a time to wait up to what In says in words: seconds, from a minute on minutes,
// from an hour on hours. Somebody who waits that long has waited long enough.
func RoundWait(d time.Duration) time.Duration {
	unit := time.Second
	switch {
	case d > time.Hour:
		unit = time.Hour
	case d > 59*time.Second:
		unit = time.Minute
	}
	return max((d+unit-1)/unit*unit, time.Second)
}

// In says when something may be tried again.
func In(loc *Locale, d time.Duration) string {
	d = RoundWait(d)
	switch {
	case d >= time.Hour:
		return loc.N("wait.hours", int(d/time.Hour))
	case d >= time.Minute:
		return loc.N("wait.minutes", int(d/time.Minute))
	}
	return loc.N("wait.seconds", int(d/time.Second))
}

// StrangerText tells somebody new that they have written as much as they may for now.
func StrangerText(loc *Locale, slow *timelines.StrangerError) string {
	key := "stranger.posts"
	if slow.Comments {
		key = "stranger.comments"
	}
	return loc.N(key, slow.Most, "when", In(loc, slow.After))
}

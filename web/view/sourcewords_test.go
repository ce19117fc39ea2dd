package view

import (
	"testing"
	"time"

	"riverrun/timelines/sources"
)

// Pages tell the truth about a source: how long it waits, and why nothing was
// removed.
func TestWordsOfSources(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	row := func(next time.Duration) SourceRow {
		at := now.Add(next)
		return SourceRow{Base: &Base{Locale: LocaleOf("en"), Now: now}, Source: sources.Source{
			Way: sources.Link, Mode: sources.Append, Status: sources.Active, NextAt: &at,
		}}
	}
	for next, want := range map[time.Duration]string{
		5 * time.Minute: "Will be fetched in a few minutes", time.Hour: "Will be fetched in 60 min",
	} {
		if got := row(next).stateText(); got != want {
			t.Errorf("it is fetched in %v: got %q, want %q", next, got, want)
		}
	}
	page := LoadPage{SourceRow: row(time.Hour)}
	page.Load = &sources.Load{State: sources.Done, Counts: sources.Counts{Unreadable: 1}}
	if page.heldBack() {
		t.Error("a window holds nothing back")
	}
	if page.Mode = sources.Sync; !page.heldBack() {
		t.Error("a full list with an unreadable id holds deletions back, and the page does not say so")
	}
}

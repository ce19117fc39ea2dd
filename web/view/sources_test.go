package view

import (
	"testing"
	"time"

	"github.com/a-h/templ"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

type flowing struct {
	list, group, wrong, loading, failed, held, preview, push, rules, feeds, load, partner templ.Component
}

// sourceComponents are the pages of sources in each of their states.
func sourceComponents(me, russian *Base, club timelines.Account) flowing {
	now := me.Now
	at := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	load := func(no int64, state sources.State, change func(*sources.Load)) *sources.Load {
		l := &sources.Load{No: no, State: state, CreatedAt: now.Add(-time.Hour), Format: "rss", Bytes: 2100}
		if change != nil {
			change(l)
		}
		return l
	}
	row := func(p *Base, change func(*SourceRow)) SourceRow {
		s := SourceRow{Base: p, Posts: 40, Source: sources.Source{
			Code: "0123456789", OwnerID: anna, AddedBy: anna, Way: sources.Link, Mode: sources.Append, Status: sources.Active, Format: formats.RSS,
			Title: "Anna’s <blog>", URL: "https://www.anna.example/feed?a=1&b=2", NextAt: at(25 * time.Minute), SucceededAt: at(-5 * time.Minute), FetchedAt: at(-5 * time.Minute),
			ErrorsVisible: true,
		}}
		s.Load = load(3, sources.Done, func(l *sources.Load) { l.Added, l.Warnings = 2, 1 })
		change(&s)
		return s
	}
	fine := func(*SourceRow) {}
	lines := int64(5000)
	loading := row(me, func(s *SourceRow) {
		s.Load = load(4, sources.Applying, func(l *sources.Load) { l.Lines, l.Cursor, l.Added, l.Errors = &lines, 1240, 1200, 3 })
	})
	failed := row(russian, func(s *SourceRow) {
		s.Problem, s.Failures = string(formats.Malformed), 3
		s.Load = load(5, sources.Failed, func(l *sources.Load) {
			l.Problem = &formats.Fatal{Code: formats.Malformed, Line: 17, Column: 4, Excerpt: "<title>A & B</title>"}
		})
	})
	held := row(me, func(s *SourceRow) {
		s.Way, s.URL, s.Mode, s.NextAt, s.OwnerID, s.AddedBy = sources.File, "", sources.Sync, nil, chess, bob
		s.Load = load(6, sources.Held, func(l *sources.Load) { l.Gone, l.Settings.Gone = 120, sources.KeepDiscussed })
	})
	preview := row(russian, func(s *SourceRow) {
		s.Load = load(7, sources.Previewed, func(l *sources.Load) { l.Dry, l.Added, l.Changed, l.Gone = true, 12, 3, 1 })
	})
	push := row(me, func(s *SourceRow) {
		s.Way, s.URL, s.Mode, s.NextAt, s.Load, s.SucceededAt, s.HasToken, s.Title = sources.Push, "", sources.Sync, nil, nil, nil, true, "Log book"
	})
	removing := row(me, func(s *SourceRow) { s.Status = sources.Removing })
	gone := row(me, func(s *SourceRow) { s.Status, s.Problem, s.NextAt = sources.Paused, string(sources.Gone), nil })
	fetching := row(me, func(s *SourceRow) {
		s.FetchedAt, s.SucceededAt, s.Load, s.NextAt, s.Posts = nil, nil, nil, at(-time.Second), 0
	})
	paused := row(me, func(s *SourceRow) { s.Status, s.Posts, s.Slug = sources.Paused, 10_001, "photos" })
	page := func(s SourceRow, change func(*SourcePage)) templ.Component {
		v := SourcePage{SourceRow: s, Rules: RulesOf(s.Source), From: sources.From{URL: s.URL, Mode: s.Mode}, Groups: []timelines.Account{club}}
		if s.Load != nil {
			v.Loads = []sources.Load{*s.Load}
		}
		change(&v)
		return SourcePageOf(v)
	}
	none := func(*SourcePage) {}
	problems := row(me, fine)
	problems.Load = load(8, sources.Done, func(l *sources.Load) {
		l.Lines, l.Added, l.Errors, l.Warnings = &lines, 4998, 2, 1
		l.Codes = map[formats.Code]int64{formats.IDMissing: 2, formats.DateOld: 1}
	})
	partner := row(russian, func(s *SourceRow) { s.ErrorsVisible, s.Origin = false, "Parsers <Ltd>" })
	partner.Load = problems.Load
	return flowing{
		list: SourcesPage(Sources{
			Base: me, Who: me.Account(anna), Most: 50, Rows: []SourceRow{row(me, fine), loading, gone, fetching, paused, removing, push},
			Done: &AddedSources{Added: 2, There: 1, Invalid: 1, TooMany: 3},
		}),
		group: SourcesPage(Sources{Base: russian, Who: club, Most: 50}),
		wrong: SourcesPage(Sources{Base: me, Who: me.Account(anna), Most: 50, Form: SourceForm{
			Way: "link", URL: "javascript:<x>", Title: "Kept", To: "anna/photos", Mode: "sync", Error: FormError{Field: "url", Text: "No address."},
		}}),
		loading: page(loading, func(v *SourcePage) {
			v.Last = &sources.Trouble{Error: true, Code: string(formats.IDMissing), Title: "A <boat>"}
			v.Older = 3
		}),
		failed:  page(failed, none),
		held:    page(held, none),
		preview: page(preview, none),
		push:    page(push, func(v *SourcePage) { v.Token = "ABC-def" }),
		rules: page(row(me, func(s *SourceRow) {
			s.Mode = sources.Sync
			s.Settings.Rules = sources.Rules{Tags: []sources.TagRule{{Category: "Boats", Tag: "sailing"}, {Category: "Ads"}}, Only: []string{"a", "b c"}}
		}), func(v *SourcePage) {
			v.Act, v.Error = "change", FormError{Field: "rules.tags", Text: "Like this."}
		}),
		feeds: page(row(russian, func(s *SourceRow) {
			s.Settings.Rules.LinkedTitle = true
			s.URL = "https://anna.example/comments.xml"
			s.Feeds = []formats.Discovered{
				{URL: "https://anna.example/feed.xml", Title: "Anna » Feed", Type: "application/rss+xml"},
				{URL: "https://anna.example/comments.xml", Title: "<b>Comments</b>\u202e", Type: "application/atom+xml"},
				{URL: "https://anna.example/feed.json", Type: "application/feed+json"},
				{URL: "https://anna.example/x"},
			}
		}), func(v *SourcePage) {
			v.Act, v.Error, v.From.URL = "from", FormError{Field: "url", Text: "No address."}, "javascript:<x>"
		}),
		load: LoadPageOf(LoadPage{SourceRow: problems, Next: "17.0", Problems: []sources.Trouble{
			{Line: 3, RawLine: 41, Error: true, Code: string(formats.IDMissing), Title: "A <boat>"},
			{Line: 4, RawLine: 52, Code: string(formats.DateOld), Field: "date", Value: "=1066", ExternalID: "harbour-17", Title: "Hastings"},
		}}),
		partner: LoadPageOf(LoadPage{SourceRow: partner}),
	}
}

// A source says when it is looked at next, and what would help.
func TestTimesOfSources(t *testing.T) {
	p := testPresent(t, testRenderer(t), anna, "en")
	for d, want := range map[time.Duration]string{
		-time.Hour: "in a minute", 90 * time.Second: "in 2 min", 25 * time.Minute: "in 25 min", 5 * time.Hour: "in 5 h", 72 * time.Hour: "in 3 d",
	} {
		if got := p.inText(p.Now.Add(d)); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "just now", time.Minute: "1 min ago", 5 * time.Hour: "5 h ago",
	} {
		if got := p.whenText(p.Now.Add(-d)); got != want {
			t.Errorf("%v ago: got %q, want %q", d, got, want)
		}
	}
}

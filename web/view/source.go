package view

import (
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// SourcePage is the page of one source, with one of its forms as it was sent if that had an error.
type SourcePage struct {
	SourceRow
	Last *sources.Trouble // the last error of the load that is worked
	// Loads are the history, the last one first, and Older the number before which it goes on, or 0.
	Loads []sources.Load
	Older int64
	// After is where this part of the history begins, 0: with the last load.
	After int64
	// Places are where the source may go: those of the viewer and of groups that they run.
	Groups []timelines.Account
	Rules  SourceRules
	From   sources.From
	Token  string // a new one, which is shown once
	Note   SourceNote
	Act    string // the form that had an error
	Error  FormError
}

// SourceNote is what a page of a source says of the form before it.
type SourceNote string

const (
	NoteAdded SourceNote = "added"
	NoteSaved SourceNote = "saved"
	NoteMoved SourceNote = "moved"
	NoteStale SourceNote = "stale"
)

// SourceRules are the settings of a source as their form has them.
type SourceRules struct {
	Title, Form, Text, Tags, Groups, Only, Without, Gone, MostGone string
	AllTags, LinkedTitle, WaitPictures                             bool
}

// RulesOf are the settings of a source for the form.
func RulesOf(s sources.Source) SourceRules {
	r := SourceRules{
		WaitPictures: s.Settings.WaitPictures, LinkedTitle: s.Settings.Rules.LinkedTitle,
		Title: s.Title, Form: s.Settings.Rules.Title, Text: s.Settings.Rules.Text, AllTags: s.Settings.Rules.AllTags,
		Only: strings.Join(s.Settings.Rules.Only, "\n"), Without: strings.Join(s.Settings.Rules.Without, "\n"), Gone: s.Settings.Gone,
	}
	var tags []string
	for _, t := range s.Settings.Rules.Tags {
		tag := ""
		if t.Tag != "" {
			tag = " #" + strings.TrimPrefix(t.Tag, "#")
		}
		tags = append(tags, t.Category+" ="+tag)
	}
	r.Tags = strings.Join(tags, "\n")
	var groups []string
	for _, g := range s.Settings.Rules.Groups {
		groups = append(groups, g.Category+" = "+g.Group)
	}
	r.Groups = strings.Join(groups, "\n")
	if r.Text == "" {
		r.Text = sources.TextBeginning
	}
	if r.Gone == "" {
		r.Gone = sources.Delete
	}
	most := s.Settings.MostGone
	if most == 0 {
		most = sources.DefaultMostGone
	}
	r.MostGone = strconv.Itoa(most)
	return r
}

func (v SourcePage) path() string { return SourcePath(v.code()) }

func (v SourcePage) errorIn(act, field string) string {
	if v.Act != act {
		return ""
	}
	return v.Error.at(field)
}

// stray is the error of a form as a whole, or of a field that no form shows.
func (v SourcePage) stray() string {
	switch v.Act {
	case "change", "from", "feed", "move", "file", "remove":
		return ""
	}
	return v.Error.Text
}

// fromTitle names the form of where the source comes from, and what it holds.
func (v SourcePage) fromTitle() string {
	if v.Way == sources.Link {
		return v.Locale.T("source.at")
	}
	return v.Locale.T("sources.mode")
}

// modeText says what the source holds.
func (s SourceRow) modeText() string {
	if s.fullList() {
		return s.Locale.T("sources.mode.sync")
	}
	return s.Locale.T("sources.mode.append")
}

// several reports whether the page at the source's address named several feeds.
func (v SourcePage) several() bool { return v.Way == sources.Link && len(v.Feeds) > 1 }

// feedNow names the feed that is the source.
func (v SourcePage) feedNow() string {
	for _, f := range v.Feeds {
		if f.URL == v.URL {
			return feedName(f)
		}
	}
	return shownAddress(v.URL)
}

// feedName is what a page calls its feed, or else where that is.
func feedName(f formats.Discovered) string {
	if name := ShortText(f.Title, 100); name != "" {
		return name
	}
	return shownAddress(f.URL)
}

// feedNote says where a feed is that has a name, and what it is, as its page has it.
func feedNote(f formats.Discovered) string {
	var parts []string
	if f.Title != "" {
		parts = append(parts, shownAddress(f.URL))
	}
	for _, known := range []struct{ sign, name string }{{"atom", "Atom"}, {"json", "JSON Feed"}, {"rss", "RSS"}, {"rdf", "RSS"}} {
		if strings.Contains(f.Type, known.sign) {
			parts = append(parts, known.name)
			break
		}
	}
	return strings.Join(parts, " · ")
}

// preview is the last load if it shows what it would change; nil: it does not.
func (v SourcePage) preview() *sources.Load {
	if v.Load != nil && v.Load.State == sources.Previewed {
		return v.Load
	}
	return nil
}

// held is the last load that asks whether it may remove so much; nil: there is none.
func (v SourcePage) held() *sources.Load {
	for i := range v.Loads {
		if v.Loads[i].State == sources.Held {
			return &v.Loads[i]
		}
	}
	return nil
}

// mayFetch reports whether it makes sense to have it fetched.
func (v SourcePage) mayFetch() bool {
	return v.Way == sources.Link && v.Status == sources.Active && v.state() != stateFetching && v.state() != statePreview
}

// fullList reports whether what is absent goes.
func (s SourceRow) fullList() bool { return s.Mode == sources.Sync }

// movers are the places that the source may be moved to, without where it is.
func (v SourcePage) movers() []sourcePlace {
	list := v.ownPlaces()
	for _, g := range v.Groups {
		list = append(list, sourcePlace{g.Name, g.Title})
	}
	here := v.place().name
	return slices.DeleteFunc(list, func(p sourcePlace) bool { return p.name == here })
}

// countsOf are the counts of a load in words, such as "12 new".
func countsOf(loc *Locale, l sources.Load) []string {
	var list []string
	add := func(key string, n int64) {
		if n > 0 {
			list = append(list, loc.N(key, int(n)))
		}
	}
	if l.Dry {
		add("loads.would.added", l.Added)
		add("loads.would.changed", l.Changed)
		add("loads.would.gone", l.Gone)
	} else {
		add("loads.added", l.Added)
		add("loads.changed", l.Changed)
		add("loads.removed", l.Removed)
		add("loads.kept", l.Kept)
		if l.State == sources.Held {
			add("loads.would.gone", l.Gone)
		}
	}
	add("loads.errors", l.Errors)
	add("loads.warnings", l.Warnings)
	if len(list) == 0 && !l.State.Working() && l.State != sources.Failed && l.State != sources.Cancelled {
		list = append(list, loc.T("loads.nothing"))
	}
	return list
}

// loadState names the state of a load.
func loadState(loc *Locale, l sources.Load) string {
	switch l.State {
	case sources.Receiving:
		return loc.T("loads.state.receiving")
	case sources.Waiting:
		return loc.T("loads.state.waiting")
	case sources.Reading, sources.Applying, sources.Finishing, sources.Sweeping:
		return loc.T("loads.state.working")
	case sources.Previewed:
		return loc.T("loads.state.previewed")
	case sources.Held:
		return loc.T("loads.state.held")
	case sources.Failed:
		return loc.T("loads.state.failed")
	case sources.Cancelled:
		return loc.T("loads.state.cancelled")
	}
	return loc.T("loads.state.done")
}

// backText leads to the list that the source is in.
func (v SourcePage) backText() string {
	if who := v.Account(v.OwnerID); who.Kind == timelines.Group {
		return v.Locale.T("sources.of", "who", who.Title)
	}
	return v.Locale.T("sources.title")
}

func (v SourcePage) tokenNow() string {
	if v.HasToken {
		return v.Locale.T("source.token.has")
	}
	return v.Locale.T("source.token.none")
}

// itemName is what an item with a problem is called.
func itemName(t sources.Trouble) string {
	if t.Title != "" {
		return t.Title
	}
	return t.ExternalID
}

// goneText says what happens to posts whose items are gone.
func goneText(p *Base, gone string) string {
	switch gone {
	case sources.Keep:
		return p.Locale.T("source.held.keep")
	case sources.KeepDiscussed:
		return p.Locale.T("source.held.discussed")
	}
	return p.Locale.T("source.held.delete")
}

// plainNumber is n as attributes have it.
func (l *Locale) plainNumber(n int64) string { return strconv.FormatInt(n, 10) }

// code is that of the source; the page has a Code of its own.
func (s SourceRow) code() string { return s.Source.Code }

// pushAddress is the request by which a program begins a load.
func pushAddress(code string) string { return "POST /api/sources/" + code + "/loads" }

package view

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// Sources is the page of somebody's sources, or of a group's, as components see it, with the form as
// it was sent if it had an error.
type Sources struct {
	*Base
	Who  timelines.Account // whose they are
	Rows []SourceRow
	Form SourceForm
	Most int // how many one may have
	Done *AddedSources
}

// SourceRow is one of them.
type SourceRow struct {
	*Base
	sources.Source
	Load  *sources.Load // the load that is worked, or the last one; nil: none
	Posts int
}

// SourceForm adds a source, in the way that it names.
type SourceForm struct {
	Way, URL, Title, To, Mode string
	Error                     FormError
}

// WayOPML is the way of a form that brings many links at once.
const WayOPML = "opml"

// errorIn is the error of a field in the form of one way.
func (f SourceForm) errorIn(way, field string) string {
	if f.Way != way {
		return ""
	}
	return f.Error.at(field)
}

func (f SourceForm) value(way, value string) string {
	if f.Way != way {
		return ""
	}
	return value
}

// stray is the error of a form that the page does not have, such as a hand-made one.
func (v Sources) stray() string {
	switch v.Form.Way {
	case string(sources.Link), string(sources.File), string(sources.Push), WayOPML:
		return ""
	}
	return v.Form.Error.Text
}

// AddedSources counts the results of many links.
type AddedSources struct{ Added, There, Invalid, TooMany int }

// SourcesPath is where the sources of a person or a group are.
func SourcesPath(who timelines.Account) string {
	if who.Kind == timelines.Group {
		return "/" + who.Name + "/sources"
	}
	return "/settings/sources"
}

// SourcePath is where a source is.
func SourcePath(code string) string { return "/sources/" + code }

// LoadPath is where a load of a source is.
func LoadPath(code string, no int64) string {
	return SourcePath(code) + "/loads/" + strconv.FormatInt(no, 10)
}

func (v Sources) path() string { return SourcesPath(v.Who) }

func (v Sources) group() bool { return v.Who.Kind == timelines.Group }

// Working reports whether the list changes by itself.
func (v Sources) working() bool {
	return slices.ContainsFunc(v.Rows, func(s SourceRow) bool { return s.working() })
}

// sourcePlace is where posts of sources may go, as a choice in a form.
type sourcePlace struct{ name, title string }

// ownPlaces are the viewer's feed and sub-feeds.
func (p *Base) ownPlaces() []sourcePlace {
	list := []sourcePlace{{p.me().Name, p.Locale.T("sources.to.own")}}
	for _, f := range p.mySubfeeds() {
		list = append(list, sourcePlace{p.me().Name + "/" + f.Slug, p.subfeedTitle(f)})
	}
	return list
}

// place is where the posts of the source go.
func (s SourceRow) place() sourcePlace {
	who := s.Account(s.OwnerID)
	if who.Kind == timelines.Group {
		return sourcePlace{who.Name, who.Title}
	}
	for _, f := range s.subfeeds {
		if f.AccountID == s.OwnerID && f.Slug == s.Slug {
			return sourcePlace{who.Name + "/" + f.Slug, s.subfeedTitle(f)}
		}
	}
	return sourcePlace{who.Name, s.Locale.T("sources.to.own")}
}

// from says where it comes from.
func (s SourceRow) from() string {
	switch s.Way {
	case sources.Link:
		if u, err := url.Parse(s.URL); err == nil {
			host, ok := PlainHost(u.Hostname())
			if !ok {
				host = u.Hostname()
			}
			return strings.TrimPrefix(host, "www.")
		}
	case sources.Push:
		return s.Locale.T("sources.way.push")
	}
	return s.Locale.T("sources.way.file")
}

// posts says how many posts it has.
func (s SourceRow) posts() string {
	if s.Posts > sources.MostCounted {
		return s.Locale.T("sources.posts.many", "n", s.Locale.Number(sources.MostCounted))
	}
	return s.Locale.N("sources.posts", s.Posts)
}

// sourceState is what holds of a source now.
type sourceState string

const (
	stateRemoving  sourceState = "removing"
	stateLoading   sourceState = "loading"
	stateReceiving sourceState = "receiving"
	stateFetching  sourceState = "fetching"
	statePreview   sourceState = "preview"
	stateHeld      sourceState = "held"
	stateFailed    sourceState = "failed"
	statePaused    sourceState = "paused"
	stateEmpty     sourceState = "empty"
	stateFine      sourceState = "fine"
)

// fetchWithin is how long a node that fetches a source is believed to do so.
const fetchWithin = 15 * time.Minute

func (s SourceRow) state() sourceState {
	active := s.Status == sources.Active
	switch {
	case s.Status == sources.Removing:
		return stateRemoving
	case s.Load != nil && s.Load.State == sources.Receiving:
		return stateReceiving
	case s.Load != nil && s.Load.State.Working():
		return stateLoading
	case active && s.Preview == sources.PreviewAsked:
		return statePreview
	case active && s.ClaimedAt != nil && s.Now.Sub(*s.ClaimedAt) < fetchWithin, active && s.NextAt != nil && !s.NextAt.After(s.Now),
		active && s.Way == sources.Link && s.FetchedAt == nil:
		return stateFetching
	case s.Load != nil && s.Load.State == sources.Held:
		return stateHeld
	case s.Problem != "":
		return stateFailed
	case !active:
		return statePaused
	case s.SucceededAt == nil && s.Load == nil:
		return stateEmpty
	}
	return stateFine
}

// working reports whether the state changes by itself within moments.
func (s SourceRow) working() bool {
	switch s.state() {
	case stateRemoving, stateLoading, stateReceiving, stateFetching, statePreview:
		return true
	}
	return false
}

// soon is as long as "in a few minutes" may last.
const soon = 10 * time.Minute

// stateText says the state in a sentence.
func (s SourceRow) stateText() string {
	loc := s.Locale
	switch s.state() {
	case stateRemoving:
		return loc.T("sources.state.removing")
	case stateReceiving:
		return loc.T("sources.state.receiving")
	case stateLoading:
		return s.loadingText()
	case stateFetching:
		if s.ClaimedAt == nil && s.FetchedAt == nil && s.NextAt != nil && s.NextAt.After(s.Now) {
			if s.NextAt.Sub(s.Now) > soon {
				return loc.T("sources.state.later", "when", s.inText(*s.NextAt))
			}
			return loc.T("sources.state.soon")
		}
		return loc.T("sources.state.fetching")
	case statePreview:
		return loc.T("sources.state.preview")
	case stateHeld:
		return loc.N("sources.state.held", int(s.Load.Gone))
	case stateFailed:
		what, _ := ProblemText(loc, s.Problem)
		if s.Status == sources.Paused && s.Problem != string(sources.Gone) { // which says it
			return loc.T("sources.state.paused.failed", "why", what)
		}
		return what
	case statePaused:
		return loc.T("sources.state.paused")
	case stateEmpty:
		if s.Way == sources.Push {
			return loc.T("sources.state.empty.push")
		}
		return loc.T("sources.state.empty.file")
	}
	at := s.SucceededAt
	if l := s.Load; l != nil && l.State == sources.Done && l.FinishedAt != nil {
		at = l.FinishedAt // also of single items
	}
	if at == nil {
		return loc.T("sources.state.none")
	}
	return loc.T("sources.state.fine", "when", s.whenText(*at))
}

// loadingText says how far the load is.
func (s SourceRow) loadingText() string {
	loc, l := s.Locale, s.Load
	switch {
	case l.State == sources.Sweeping:
		return loc.T("sources.state.sweeping", "n", loc.Number(int(l.Removed+l.Kept)), "of", loc.Number(int(l.Gone)))
	case l.State == sources.Finishing:
		return loc.T("sources.state.finishing")
	case l.Lines != nil && l.Dry:
		return loc.T("sources.state.comparing", "n", loc.Number(int(l.Cursor)), "of", loc.Number(int(*l.Lines)))
	case l.Lines != nil:
		return loc.T("sources.state.applying", "n", loc.Number(int(l.Cursor)), "of", loc.Number(int(*l.Lines)))
	}
	return loc.T("sources.state.reading")
}

// done is how much of the load is done of how much; most is 0 while that is not known.
func (s SourceRow) done() (n, most int64) {
	switch l := s.Load; {
	case s.state() != stateLoading:
	case l.State == sources.Sweeping:
		return l.Removed + l.Kept, l.Gone
	case l.Lines != nil:
		return l.Cursor, *l.Lines
	}
	return 0, 0
}

// icon is that of the state.
func (s sourceState) icon() string {
	switch s {
	case stateHeld, stateFailed:
		return "warn"
	case statePaused:
		return "pause"
	case stateFine:
		return "check"
	case stateRemoving:
		return "trash"
	}
	return "feed"
}

// tone is the class of the state.
func (s sourceState) tone() string {
	switch s {
	case stateHeld:
		return "asks"
	case stateFailed:
		return "fails"
	}
	return "rests"
}

// todo says what can be done about a failure.
func (s SourceRow) todo() string {
	if s.state() != stateFailed {
		return ""
	}
	_, todo := ProblemText(s.Locale, s.Problem)
	return todo
}

// nextText says when a link is fetched next.
func (s SourceRow) nextText() string {
	if s.Status != sources.Active || s.NextAt == nil || s.state() == stateFetching {
		return ""
	}
	if s.Problem != "" {
		return s.Locale.T("sources.next.again", "when", s.inText(*s.NextAt))
	}
	return s.Locale.T("sources.next", "when", s.inText(*s.NextAt))
}

// whenText is a moment in the past in words that can stand in a sentence.
func (p *Base) whenText(t time.Time) string {
	switch d := p.Now.Sub(t); {
	case d < time.Minute:
		return p.Locale.T("sources.when.now")
	case d < time.Hour:
		return p.Locale.T("sources.when.minutes", "n", int(d/time.Minute))
	case d < 24*time.Hour:
		return p.Locale.T("sources.when.hours", "n", int(d/time.Hour))
	}
	return p.Locale.ago(t, p.Now)
}

// inText is a moment to come in words that can stand in a sentence.
func (p *Base) inText(t time.Time) string {
	d := t.Sub(p.Now).Round(time.Minute)
	switch {
	case d < 2*time.Minute:
		return p.Locale.T("sources.in.minute")
	case d < 2*time.Hour:
		return p.Locale.T("sources.in.minutes", "n", int(d/time.Minute))
	case d < 48*time.Hour:
		return p.Locale.T("sources.in.hours", "n", int(d.Round(time.Hour)/time.Hour))
	}
	return p.Locale.T("sources.in.days", "n", int(d/(24*time.Hour)))
}

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

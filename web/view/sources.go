package view

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
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

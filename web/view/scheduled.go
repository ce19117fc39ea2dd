package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/scheduled"
)

// ScheduledPath is the page of the viewer's scheduled posts.
const ScheduledPath = "/scheduled"

// Fields of a form that is to be published at a time: the time, its time zone, and the scheduled post
// that the form was filled from, with its version.
const (
	DueField       = "due"
	ZoneField      = "zone"
	ScheduledField = "scheduled"
	VersionField   = "version"
)

// Later is the time at which what a form makes is to be published, as the form has it.
type Later struct {
	Due, Zone string
	// Filled from this scheduled post, if any.
	Of scheduled.Version
}

// zone is the time zone of the field: without scripts, and until they are loaded, UTC.
func (l Later) zone() string {
	if l.Zone == "" {
		return "UTC"
	}
	return l.Zone
}

func (l Later) edits() bool { return l.Of.Code != "" }

// ComposerOfScheduled is the form for a post with what is scheduled in it. It has no destinations and files yet.
func ComposerOfScheduled(p scheduled.Post) Composer {
	c := NewComposer(ScheduledPath)
	c.Body, c.Lang, c.Open, c.Place = p.Body, p.Language, true, ""
	c.Direct = strings.HasPrefix(p.Place, "/filter/messages")
	c.Later = Later{Due: p.DueAt.In(zoneOf(p)).Format(timelines.DueForm), Zone: p.Zone, Of: p.Version()}
	return c
}

// zoneOf is the time zone in which the author chose the time.
func zoneOf(p scheduled.Post) *time.Location {
	in, err := time.LoadLocation(p.Zone)
	if err != nil {
		return time.UTC // a zone that the program knew when the time was chosen
	}
	return in
}

// dueText is the time in the zone in which it was chosen.
func dueText(loc *Locale, p scheduled.Post) string {
	in := zoneOf(p)
	t := p.DueAt.In(in)
	when := fmt.Sprintf("%d %s %d, %02d:%02d", t.Day(), loc.months[t.Month()-1], t.Year(), t.Hour(), t.Minute())
	return loc.T("scheduled.at", "when", when, "zone", in.String())
}

// scheduledPlaces names where the post will go.
func scheduledPlaces(p *Base, post scheduled.Post) string {
	if len(post.Destinations) == 0 {
		return p.Locale.T("compose.to.own")
	}
	own, groups := p.OwnPlaces(), p.Groups()
	names := make([]string, len(post.Destinations))
	for i, name := range post.Destinations {
		names[i] = "@" + name
		if name == p.me().Name {
			names[i] = p.Locale.T("compose.to.own")
		} else if at := slices.IndexFunc(own, func(o OwnPlace) bool { return o.Name == name }); at >= 0 {
			names[i] = own[at].title
		} else if at := slices.IndexFunc(groups, func(g timelines.Account) bool { return g.Name == name }); at >= 0 {
			names[i] = groups[at].Title
		} else if title, ok := p.GroupTitles[name]; ok {
			names[i] = title
		}
	}
	return strings.Join(names, ", ")
}

// scheduledBeginning is how the text begins, or, without text, that there are files.
func scheduledBeginning(p *Base, post scheduled.Post) string {
	if strings.TrimSpace(post.Body) == "" {
		return p.Locale.T("entry.files")
	}
	return ShortText(Unturned(post.Body), 200)
}

// scheduledProblem says why the post could not be published.
func scheduledProblem(p *Base, post scheduled.Post) string {
	loc := p.Locale
	key := "invalid." + post.Problem.Code
	if _, ok := loc.Texts[key]; !ok {
		key = "invalid.other"
	}
	why := loc.T(key, "value", Unturned(p.groupTitle(post.Problem.Value)), "most", loc.Number(post.Problem.Most))
	return loc.T("scheduled.failed", "why", why)
}

func scheduledURL(post scheduled.Post, act string) string {
	return ScheduledPath + "/" + post.Code + "/" + act
}

package view

import (
	"context"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
)

// audience says who can read a post that is sent to one destination.
type audience struct {
	level timelines.Level
	who   string // names the readers beside others
	alone string // says it of the destination alone
}

// audiences are the readers of destinations, by name.
type audiences map[string]audience

// Size is an estimate: an audience is two short sentences.
func (a audiences) Size() int { return 256 + 256*len(a) }

// AudienceGroups returns the groups whose audiences a composer to these places needs: the viewer's own, and those of the
// places that the viewer reads and is no member of. It is nil if the viewer's own are enough.
func (p *Base) AudienceGroups(places []timelines.Account) []timelines.Account {
	var groups []timelines.Account
	for _, g := range places {
		if g.Kind == timelines.Group && !p.follows(g.ID) && p.Sets.Reads(g.FeedID, g.Access) {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	return append(p.Groups(), groups...)
}

// NameAudiences finds out who can read what is sent to the viewer's own pages and to these
// groups, or to those that the viewer follows. p must name the viewer's sub-feeds. While nothing of it changed it costs no
// statement.
func (r *Renderer) NameAudiences(ctx context.Context, p *Base, groups []timelines.Account) error {
	if !p.signedIn() {
		return nil
	}
	var err error
	if groups != nil {
		p.audiences, err = r.audiencesOf(ctx, p, groups)
		return err
	}
	p.audiences, err = keep(p, "audiences", func() (audiences, error) { return r.audiencesOf(ctx, p, p.Groups()) })
	return err
}

// audiencesOf returns who can read what is sent to the viewer's own pages, which p must name, and to these groups.
func (r *Renderer) audiencesOf(ctx context.Context, p *Base, groups []timelines.Account) (audiences, error) {
	me, loc := p.me(), p.Locale
	accounts, feeds := []int64{me.ID}, []int64{me.FeedID}
	for _, g := range groups {
		accounts, feeds = append(accounts, g.ID), append(feeds, g.FeedID)
	}
	own := p.mySubfeeds()
	for _, f := range own {
		feeds = append(feeds, f.TimelineID)
	}
	levels, err := r.access.Levels(ctx, feeds)
	if err != nil {
		return nil, err
	}
	readers, err := r.access.Readers(ctx, accounts)
	if err != nil {
		return nil, err
	}
	found := audiences{timelines.ToEyes: {timelines.Private, loc.T("audience.you"), loc.T("audience.eyes")}}
	add := func(name, who string, timeline int64) {
		found[name] = audienceOf(loc, levels, timeline, readers[timeline], who)
	}
	add(me.Name, loc.T("audience.own"), me.FeedID)
	for _, f := range own {
		add(me.Name+"/"+f.Slug, loc.T("audience.page", "page", p.subfeedTitle(f)), f.TimelineID)
	}
	for _, g := range groups {
		add(g.Name, loc.T("audience.group", "group", g.Title), g.FeedID)
	}
	return found, nil
}

func audienceOf(loc *Locale, levels access.Levels, timeline int64, readers int, who string) audience {
	a := audience{level: levels.Level(timeline), who: who}
	switch {
	case a.level == timelines.Public:
		a.alone = loc.T("audience.public")
	case a.level == timelines.Protected:
		a.alone = loc.T("audience.protected")
	case readers <= 1:
		a.alone = loc.T("audience.nobody", "who", who)
	default:
		a.alone = loc.N("audience.private", readers, "who", who)
	}
	return a
}

func (a audience) number() string { return strconv.Itoa(int(a.level)) }

// audience says who can read what the form would send now; "" if the page does not know. It is
// the rule of river.js, which follows what is chosen.
func (c Composer) audience(p *Base) string {
	var chosen []audience
	for _, a := range c.To {
		chosen = append(chosen, p.audiences[a.Name])
	}
	for _, name := range c.Own {
		chosen = append(chosen, p.audiences[name])
	}
	switch {
	case c.Direct && c.People == "":
		return p.Locale.T("compose.message.hint")
	case c.People != "" || len(chosen) > 1:
		return ""
	case len(chosen) == 1:
		return chosen[0].alone
	}
	return p.audiences[p.me().Name].alone
}

// audienceUnchosen is what the line says when nothing is chosen.
func (c Composer) audienceUnchosen(p *Base) string {
	if c.Direct {
		return p.Locale.T("compose.message.hint")
	}
	return p.audiences[p.me().Name].alone
}

// AudienceOf says who can read a post, by those of its places that the viewer may know of.
func (r *Renderer) AudienceOf(ctx context.Context, e *Entry) (string, error) {
	ids := make([]int64, len(e.Item.To))
	for i, t := range e.Item.To {
		ids[i] = t.ID
	}
	levels, err := r.access.Levels(ctx, ids)
	if err != nil {
		return "", err
	}
	if e.onlyMe() {
		return e.Locale.T("audience.eyes"), nil
	}
	widest := timelines.Private
	var who []string
	direct := false // people are not named here: the entry names those whom the viewer sees
	for _, t := range e.Item.To {
		title := e.Account(t.TheirID).Title
		switch t.Kind {
		case kinds.Directs:
			direct = true
			continue // nobody but its owner reads it, at whatever level
		case kinds.Group:
			who = append(who, e.Locale.T("audience.group", "group", title))
		case kinds.Subfeed:
			who = append(who, e.Locale.T("audience.page", "page", e.subfeedTitle(e.subfeeds[t.ID])))
		default:
			who = append(who, e.Locale.T("audience.page", "page", title))
		}
		widest = min(widest, levels.Level(t.ID))
	}
	if direct {
		who = append(who, e.Locale.T("audience.direct"))
	}
	switch {
	case widest == timelines.Public:
		return e.Locale.T("audience.public"), nil
	case widest == timelines.Protected:
		return e.Locale.T("audience.protected"), nil
	case len(who) == 0:
		return "", nil
	}
	return e.Locale.T("audience.some", "who", strings.Join(who, ", ")), nil
}

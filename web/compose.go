package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"riverrun/timelines"
)

func (s *Server) routeCompose(mux *http.ServeMux) {
	mux.Handle("POST /posts", s.members(s.createPost))
}

// composer is the form for a new post as it is shown: empty, made ready for a
// destination, or as it was sent.
type composer struct {
	body   string
	to     []timelines.Account // chosen among the boxes
	own    []string            // the writer's own places chosen, as destinations are spelt
	people string              // names typed
	open   bool                // the destinations are unfolded from the start
	lang   string              // chosen, "" automatic
	direct bool                // to people only, and to at least one
	shows  bool                // what is sent will be seen on the page it is sent from
	key    string
	back   string
	wrong  wrong
}

func newComposer(back string, to ...timelines.Account) composer {
	return composer{to: to, key: formKey(), back: back, shows: true}
}

// directComposer is a composer of direct messages. It never means the writer's
// own page, not even with nobody named.
func directComposer(back string) composer {
	c := newComposer(back)
	c.direct = true
	return c
}

// eyesComposer is a composer of what nobody else sees.
func eyesComposer(back string) composer { return newComposer(back).within(timelines.ToEyes) }

// within is the composer with one of the writer's own places chosen.
func (c composer) within(place string) composer {
	c.own = append(slices.Clone(c.own), place)
	return c
}

// ownPlace is one of the writer's own places besides the own page: name as
// destinations are spelt.
type ownPlace struct{ name, title string }

// ownPlaces are all of them to choose among: the sub-feeds, and nobody else's
// eyes.
func (p *present) ownPlaces() []ownPlace {
	var all []ownPlace
	for _, f := range p.mySubfeeds() {
		all = append(all, ownPlace{p.me().Name + "/" + f.Slug, p.subfeedTitle(f)})
	}
	return append(all, ownPlace{timelines.ToEyes, p.loc.T("compose.to.eyes")})
}

func (c composer) chosen(name string) bool {
	return slices.Contains(c.own, name) || slices.ContainsFunc(c.to, func(a timelines.Account) bool { return a.Name == name })
}

func (c composer) placeholder(loc *locale) string {
	if c.direct {
		return loc.T("compose.direct.placeholder")
	}
	return loc.T("compose.placeholder")
}

// boxes are the groups to choose among: those of the viewer's that take their
// posts, and before them what was chosen besides (some groups take posts from
// everybody who is signed in).
func (c composer) boxes(p *present) []timelines.Account {
	groups := slices.DeleteFunc(p.groups(), func(g timelines.Account) bool { return !p.mayPostTo(g) })
	for _, a := range c.to {
		if a.Kind == timelines.Group && !slices.ContainsFunc(groups, func(g timelines.Account) bool { return g.ID == a.ID }) {
			groups = append([]timelines.Account{a}, groups...)
		}
	}
	return groups
}

// summary says where the post goes while the choice is folded away.
func (c composer) summary(p *present) string {
	if len(c.to) == 0 && len(c.own) == 0 && c.people == "" {
		return p.loc.T("compose.to.own")
	}
	var names []string
	for _, a := range c.to {
		if p.isMe(a.ID) {
			names = append(names, p.loc.T("compose.to.own"))
		} else {
			names = append(names, a.Title)
		}
	}
	for _, own := range p.ownPlaces() {
		if c.chosen(own.name) {
			names = append(names, own.title)
		}
	}
	if c.people != "" {
		names = append(names, c.people)
	}
	return strings.Join(names, ", ")
}

// destinationsOf reads the names a post is sent to: boxes, and one field in
// which several names may be typed, with or without @.
func destinationsOf(values []string) []string {
	var names []string
	seen := map[string]struct{}{}
	for _, value := range values {
		for name := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ' ' || c == ',' || c == ';' || c == '\t' }) {
			name = strings.ToLower(strings.TrimPrefix(name, "@"))
			if _, again := seen[name]; name != "" && !again {
				seen[name] = struct{}{}
				names = append(names, name)
			}
		}
	}
	return names
}

func (s *Server) createPost(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	post := timelines.NewPost{
		Author: r.viewer.AccountID,
		Body:   r.PostFormValue("body"),
		To:     destinationsOf(r.PostForm["to"]),
		Key:    r.PostFormValue("key"),

		Language: r.PostFormValue("language"),
	}
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
		if len(post.To) == 0 && r.PostFormValue("direct") != "" {
			return timelines.Change{}, &timelines.InvalidError{Field: "to", Code: "to_empty"}
		}
		return s.timelines.CreatePost(ctx, post)
	})
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		page, err := s.composePage(r, post, is)
		if err != nil {
			return err
		}
		return s.again(w, r, is, page)
	}
	return s.answerEntry(w, r, c, r.back("/"))
}

// composePage is the composer alone, as it was sent, with what is wrong with it.
func (s *Server) composePage(r *request, sent timelines.NewPost, is wrong) (templ.Component, error) {
	var err error
	p := s.simple(r)
	if p.sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return nil, err
	}
	if err := s.nameFollows(r, p); err != nil {
		return nil, err
	}
	c := composer{
		body: sent.Body, key: is.key(sent.Key), back: r.back("/"), wrong: is,
		lang: sent.Language, open: true, direct: r.PostFormValue("direct") != "",
	}
	if c.direct {
		c.people = strings.Join(sent.To, " ")
	} else if err := s.choose(r, p, &c, sent.To); err != nil {
		return nil, err
	}
	return composeAgain(p, c), nil
}

// choose puts destinations, as they were sent or as a post has them, into the
// form: what names no box that can be ticked was typed.
func (s *Server) choose(r *request, p *present, c *composer, sent []string) error {
	own := p.ownPlaces()
	boxes := map[string]timelines.Account{}
	places, err := s.timelines.AccountsNamed(r.Context(), sent[:min(len(sent), timelines.MaxDestinations)])
	if err != nil {
		return err
	}
	for _, a := range places {
		if a.Kind == timelines.Group || a.ID == r.me.ID {
			boxes[a.Name] = a
		}
	}
	var typed []string
	for _, name := range sent {
		if a, ok := boxes[name]; ok {
			c.to = append(c.to, a)
		} else if slices.ContainsFunc(own, func(o ownPlace) bool { return o.name == name }) {
			c.own = append(c.own, name)
		} else {
			typed = append(typed, name)
		}
	}
	c.people = strings.Join(typed, " ")
	return nil
}

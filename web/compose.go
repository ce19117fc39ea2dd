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
	to     []string // names chosen among the boxes
	people string   // names typed
	key    string
	back   string
	wrong  wrong
}

func newComposer(back string, to ...string) composer {
	return composer{to: to, key: formKey(), back: back}
}

func (c composer) chosen(name string) bool { return slices.Contains(c.to, name) }

// open reports whether the destinations are unfolded from the start.
func (c composer) open() bool {
	return c.people != "" || len(c.to) > 0 || strings.HasPrefix(c.wrong.Field, "to")
}

// destinationsOf reads the names a post is sent to: boxes, and one field in
// which several names may be typed, with or without @.
func destinationsOf(values []string) []string {
	var names []string
	for _, value := range values {
		for _, name := range strings.FieldsFunc(value, func(c rune) bool { return c == ' ' || c == ',' || c == ';' || c == '\t' }) {
			name = strings.ToLower(strings.TrimPrefix(name, "@"))
			if name != "" && !slices.Contains(names, name) {
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
	}
	c, err := s.act(r, func(ctx context.Context) (timelines.Change, error) {
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
	c := composer{body: sent.Body, key: sent.Key, back: r.back("/"), wrong: is}
	boxes := map[string]bool{r.me.Name: true}
	for _, g := range p.groups() {
		boxes[g.Name] = true
	}
	var typed []string
	for _, name := range sent.To {
		if boxes[name] {
			c.to = append(c.to, name)
		} else {
			typed = append(typed, name)
		}
	}
	c.people = strings.Join(typed, " ")
	return composeAgain(p, c), nil
}

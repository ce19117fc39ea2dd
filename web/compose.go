package web

import (
	"net/http"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/rules"
	"riverrun/timelines/scheduled"
	"riverrun/web/view"
)

// posts serves the pages of single posts, and the forms that write, change and move them.
type posts struct{ *Server }

func (s posts) routes(mux router) {
	mux.Handle("POST /posts", s.withFiles(s.createPost))
	mux.Handle("GET "+view.WritePath, s.either(visitors(s).form, s.newPost))
	mux.Handle("POST "+view.WritePath, s.either(visitors(s).send, s.signedInSince))
	mux.Handle("GET /p/{code}/remove", s.members(s.removeForm))
	mux.Handle("POST /p/{code}/remove", s.members(s.removeFromGroup))
	mux.Handle("GET /p/{code}", s.page(s.post))
	mux.Handle("GET /p/{code}/edit", s.members(s.editPostForm))
	mux.Handle("POST /p/{code}/edit", s.withFiles(s.editPost))
	mux.Handle("GET /p/{code}/history", s.members(s.history))
	mux.Handle("POST /p/{code}/delete", s.members(s.deletePost))
}

// destinationsOf reads the names a post is sent to, from checkboxes and from one field in
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

// newPost is the page with the form for a post: with the draft of the place asked for, or the current
// one if it is a plain post's. That of a listing goes on in the form of its group.
func (s posts) newPost(w http.ResponseWriter, r *request) error {
	if r.URL.Query().Has("listing") {
		return s.newListing(w, r)
	}
	place, err := r.placeAsked()
	if err != nil {
		return err
	}
	d, found, err := s.draftToWrite(r, place)
	if err != nil {
		return err
	}
	page, err := s.composeDraft(r, d, view.ComposerOf(d))
	if err != nil {
		return err
	}
	keepNoCopy(w, found)
	return s.html(w, r, http.StatusOK, page)
}

// draftToWrite is the draft that the form of a place begins with, or, without a place, the current one if it
// is a plain post's; found is false if it is a new one.
func (s *Server) draftToWrite(r *request, place string) (d drafts.Draft, found bool, err error) {
	if place == "" {
		d, found, err = s.timelines.Drafts.Current(r.Context(), r.viewer.AccountID)
		if err != nil || found && drafts.IsPostPlace(d.Place) {
			return d, found, err
		}
		place = "/"
	}
	if d, found, err = s.timelines.Drafts.Find(r.Context(), r.viewer.AccountID, place); err == nil && !found {
		d = drafts.Draft{Place: place, Destinations: drafts.DestinationsOf(place)}
	}
	return d, found, err
}

func (s posts) createPost(w http.ResponseWriter, r *request) error {
	if r.PostForm.Has(view.KeepField) {
		return unsent(s).save(w, r)
	}
	post := timelines.NewPost{
		Author: r.viewer.AccountID,
		Body:   r.PostFormValue("body"),
		To:     destinationsOf(r.PostForm["to"]),
		Key:    r.PostFormValue("key"),

		Language: r.PostFormValue("language"),
		Files:    r.attachments(),
		Draft:    r.draft(),
		Listing:  r.listing(),
	}
	later := r.later()
	post.Scheduled = later.Of
	var c timelines.Change
	err := s.mayChange(r)
	if err == nil {
		err = r.fault()
	}
	switch {
	case err != nil:
	case len(post.To) == 0 && r.PostFormValue("direct") != "":
		err = rules.ToEmpty.Broken("")
	case later.Due != "":
		c, err = s.carry(r)(s.schedule(r.Context(), post, later))
	default:
		c, err = s.carry(r)(s.timelines.Posts.Create(r.Context(), post))
	}
	if err != nil {
		if isGone(err) {
			later.Of = scheduled.Version{} // so that the form, sent again, makes a post
		}
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		page, err := s.composePage(r, post, later, is)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, page)
	}
	if later.Due != "" {
		return s.answerScheduled(w, r)
	}
	back := r.back("/")
	if later.Of.Code != "" || c.Waits {
		back = "/p/" + c.Code // no other page has it
	}
	return s.answerEntry(w, r, c, back)
}

// composePage is the composer alone, with the form as it was sent and its errors.
func (s posts) composePage(r *request, sent timelines.NewPost, later view.Later, is view.FormError) (view.Component, error) {
	var err error
	p := s.simple(r)
	if p.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return nil, err
	}
	if err := s.nameFollows(r, p); err != nil {
		return nil, err
	}
	c := view.Composer{
		Body: sent.Body, Key: is.Key(sent.Key), Back: r.back("/"), Error: is,
		Lang: sent.Language, Open: true, Direct: r.PostFormValue("direct") != "",
		Place: sent.Draft.Place, Saved: sent.Draft.SavedAt, Later: later, Listing: sent.Listing,
	}
	if c.Files, err = s.shownAgain(r); err != nil {
		return nil, err
	}
	if c.Direct {
		c.People = strings.Join(sent.To, " ")
	} else if err := s.choose(r, p, &c, sent.To); err != nil {
		return nil, err
	}
	return view.ComposeAgain(p, c), nil
}

// choose puts destinations, as they were sent or as a post has them, into the form. Those
// without a checkbox go into the field for typed names.
func (s posts) choose(r *request, p *view.Base, c *view.Composer, sent []string) error {
	own := p.OwnPlaces()
	boxes := map[string]timelines.Account{}
	places, err := s.timelines.Accounts.Named(r.Context(), sent[:min(len(sent), timelines.MaxDestinations)])
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
			c.To = append(c.To, a)
		} else if slices.ContainsFunc(own, func(o view.OwnPlace) bool { return o.Name == name }) {
			c.Own = append(c.Own, name)
		} else {
			typed = append(typed, name)
		}
	}
	c.People = strings.Join(typed, " ")
	if groups := p.AudienceGroups(c.To); groups != nil {
		return s.view.NameAudiences(r.Context(), p, groups)
	}
	return nil
}

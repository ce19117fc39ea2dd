package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/web/view"
)

// subfeeds serves the page on which people manage their feed and sub-feeds.
type subfeeds struct{ *Server }

const ownPagesPath = "/settings/pages"

func (s subfeeds) routes(mux router) {
	mux.Handle("GET "+ownPagesPath, s.members(s.feeds))
	mux.Handle("POST "+ownPagesPath, s.members(s.createFeed))
	mux.Handle("POST "+ownPagesPath+"/{act}", s.members(s.changeFeed))
}

// feedActs are the forms of one feed or sub-feed. The field feed has its slug; it is empty
// for the own feed.
var feedActs = map[string]func(*Server, context.Context, *request, string) (timelines.Change, error){
	"rename": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		return s.timelines.Feeds.Rename(ctx, r.viewer.AccountID, slug, r.PostFormValue("title"))
	},
	"access": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		level, err := view.LevelOf(r.PostFormValue("level"))
		if err != nil {
			return timelines.Change{}, err
		}
		return s.timelines.Feeds.SetSubfeedAccess(ctx, r.viewer.AccountID, slug, level)
	},
	"delete": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		return s.timelines.Feeds.Delete(ctx, r.viewer.AccountID, slug)
	},
	"admit":     readerAct(timelines.Feeds.Admit),
	"remove":    readerAct(timelines.Feeds.Remove),
	"exclude":   readerAct(timelines.Feeds.Exclude),
	"unexclude": readerAct(timelines.Feeds.Unexclude),
}

// readerAct is a form about one person, named as people are elsewhere: with or
// without @.
func readerAct(set func(s timelines.Feeds, ctx context.Context, actor int64, slug, name string) (timelines.Change, error),
) func(*Server, context.Context, *request, string) (timelines.Change, error) {
	return func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(r.PostFormValue("name")), "@"))
		return set(s.timelines.Feeds, ctx, r.viewer.AccountID, slug, name)
	}
}

func (s subfeeds) feeds(w http.ResponseWriter, r *request) error {
	v, err := s.feedsView(r)
	if err != nil {
		return err
	}
	v.Saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, view.FeedsPage(v))
}

func (s subfeeds) feedsView(r *request) (view.Feeds, error) {
	v := view.Feeds{Base: s.simple(r), Form: view.NewFeedForm(), Parts: map[string]view.ListPart{}}
	var err error
	if v.Feeds, err = s.timelines.Feeds.Own(r.Context(), r.viewer.AccountID); err != nil {
		return v, err
	}
	for i := range v.Feeds {
		if err := s.feedPeople(r, &v, &v.Feeds[i]); err != nil {
			return v, err
		}
	}
	return v, nil
}

// feedPeople reads the parts of a feed's lists of people that the request asks for, unless
// they are the first parts, which were read with the feed.
func (s subfeeds) feedPeople(r *request, v *view.Feeds, f *timelines.OwnFeed) error {
	read := func(list string, people *[]timelines.Account, total int,
		read func(ctx context.Context, timeline int64, after string, limit int) ([]timelines.Account, error),
	) error {
		at, err := partOf(r, ownPagesPath, list)
		if err != nil {
			return err
		}
		switch {
		case at.After != "":
			found, err := read(r.Context(), f.TimelineID, at.After, view.DirectoryPage+1)
			if err != nil {
				return err
			}
			*people = at.Cut(found)
		case total > len(*people) && len(*people) > 0:
			at.Next = (*people)[len(*people)-1].Name
		}
		v.Parts[list] = at
		return nil
	}
	if err := read(view.ReadersList(*f), &f.Readers, f.ReadersTotal, s.timelines.Feeds.Readers); err != nil {
		return err
	}
	return read(view.ExcludedList(*f), &f.Excluded, f.ExcludedTotal, s.timelines.Feeds.Excluded)
}

func (s subfeeds) createFeed(w http.ResponseWriter, r *request) error {
	form := view.NewFeedForm()
	form.Slug, form.Title = strings.ToLower(strings.TrimSpace(r.PostFormValue("slug"))), r.PostFormValue("title")
	level, err := view.LevelOf(r.PostFormValue("access"))
	if err == nil {
		form.Access = level
		if err = s.mayChange(r); err == nil {
			_, err = s.carry(r)(s.timelines.Feeds.Create(r.Context(), r.viewer.AccountID, form.Slug, form.Title, form.Access))
		}
	}
	if err != nil {
		if form.Error, err = s.formError(r, err); err != nil {
			return err
		}
		v, err := s.feedsView(r)
		if err != nil {
			return err
		}
		v.Form = form
		return s.redisplay(w, r, form.Error, view.FeedsPage(v))
	}
	return s.done(w, r, ownPagesPath+"?saved#page-"+form.Slug)
}

// changeFeed does one of feedActs.
func (s subfeeds) changeFeed(w http.ResponseWriter, r *request) error {
	act, ok := feedActs[r.PathValue("act")]
	if !ok {
		return errNoPage
	}
	slug := r.PostFormValue("feed")
	err := s.mayChange(r)
	if err == nil {
		_, err = s.carry(r)(act(s.Server, r.Context(), r, slug))
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		v, err := s.feedsView(r)
		if err != nil {
			return err
		}
		v.Error, v.Slug, v.Act = is, slug, r.PathValue("act")
		return s.redisplay(w, r, is, view.FeedsPage(v))
	}
	return s.done(w, r, ownPagesPath+"?saved")
}

package web

import (
	"context"
	"net/http"
	"strings"

	"riverrun/timelines"
)

func (s *Server) routeFeeds(mux *http.ServeMux) {
	mux.Handle("GET /settings/feeds", s.members(s.feeds))
	mux.Handle("POST /settings/feeds", s.members(s.createFeed))
	mux.Handle("POST /settings/feeds/{act}", s.members(s.changeFeed))
}

// feedActs are the forms of one feed or sub-feed: its slug stands in the field
// feed, empty for the own feed.
var feedActs = map[string]func(*Server, context.Context, *request, string) (timelines.Change, error){
	"rename": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		return s.timelines.RenameSubfeed(ctx, r.viewer.AccountID, slug, r.PostFormValue("title"))
	},
	"access": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		level, err := levelOf(r.PostFormValue("level"))
		if err != nil {
			return timelines.Change{}, err
		}
		return s.timelines.SetSubfeedAccess(ctx, r.viewer.AccountID, slug, level)
	},
	"delete": func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		return s.timelines.DeleteSubfeed(ctx, r.viewer.AccountID, slug)
	},
	"admit":     readerAct((*timelines.Store).AdmitReader),
	"remove":    readerAct((*timelines.Store).RemoveReader),
	"exclude":   readerAct((*timelines.Store).ExcludeReader),
	"unexclude": readerAct((*timelines.Store).UnexcludeReader),
}

// readerAct is a form about one person, named as people are elsewhere: with or
// without @.
func readerAct(set func(s *timelines.Store, ctx context.Context, actor int64, slug, name string) (timelines.Change, error),
) func(*Server, context.Context, *request, string) (timelines.Change, error) {
	return func(s *Server, ctx context.Context, r *request, slug string) (timelines.Change, error) {
		name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(r.PostFormValue("name")), "@"))
		return set(s.timelines, ctx, r.viewer.AccountID, slug, name)
	}
}

// feedsView is the viewer's feeds as components see them, with one of the forms
// as it was sent if something was wrong with it.
type feedsView struct {
	*present
	feeds []timelines.OwnFeed
	parts map[string]listPart // of the people of the feeds, by name
	saved bool
	form  feedForm
	// wrong is wrong with the form of that act of the feed of that slug.
	slug, act string
	wrong     wrong
}

// feedForm is the form for a new sub-feed, empty or as it was sent.
type feedForm struct {
	slug, title string
	access      timelines.Level
	wrong       wrong
}

// newFeedForm is the form as it is offered.
func newFeedForm() feedForm { return feedForm{access: timelines.Private} }

// wrongAt returns what is wrong with the forms of a feed.
func (v feedsView) wrongAt(f timelines.OwnFeed, acts ...string) string {
	for _, act := range acts {
		if v.act == act && v.slug == f.Slug {
			return v.wrong.Text
		}
	}
	return ""
}

// title is what a feed is called.
func (v feedsView) title(f timelines.OwnFeed) string {
	if f.Slug == "" {
		return v.loc.T("feeds.own")
	}
	return v.subfeedTitle(f.Subfeed)
}

// fixed reports whether a feed is one that everybody has.
func (v feedsView) fixed(f timelines.OwnFeed) bool {
	return f.Slug == "" || f.Slug == timelines.PrivateSlug
}

func (s *Server) feeds(w http.ResponseWriter, r *request) error {
	v, err := s.feedsView(r)
	if err != nil {
		return err
	}
	v.saved = r.URL.Query().Has("saved")
	return s.html(w, r, http.StatusOK, feedsPage(v))
}

func (s *Server) feedsView(r *request) (feedsView, error) {
	v := feedsView{present: s.simple(r), form: newFeedForm(), parts: map[string]listPart{}}
	var err error
	if v.feeds, err = s.timelines.OwnFeeds(r.Context(), r.viewer.AccountID); err != nil {
		return v, err
	}
	for i := range v.feeds {
		if err := s.feedPeople(r, &v, &v.feeds[i]); err != nil {
			return v, err
		}
	}
	return v, nil
}

// feedPeople reads the parts of a feed's people that the request asks for, where they
// are not the first, which were read with the feed.
func (s *Server) feedPeople(r *request, v *feedsView, f *timelines.OwnFeed) error {
	read := func(list string, people *[]timelines.Account, total int,
		read func(ctx context.Context, timeline int64, after string, limit int) ([]timelines.Account, error),
	) error {
		at, err := partOf(r, "/settings/feeds", list)
		if err != nil {
			return err
		}
		switch {
		case at.after != "":
			found, err := read(r.Context(), f.TimelineID, at.after, directoryPage+1)
			if err != nil {
				return err
			}
			*people = at.cut(found)
		case total > len(*people) && len(*people) > 0:
			at.next = (*people)[len(*people)-1].Name
		}
		v.parts[list] = at
		return nil
	}
	if err := read(readersList(*f), &f.Readers, f.ReadersTotal, s.timelines.FeedReaders); err != nil {
		return err
	}
	return read(excludedList(*f), &f.Excluded, f.ExcludedTotal, s.timelines.FeedExcluded)
}

// Names of lists, and of the sections they stand in or are.
func readersList(f timelines.OwnFeed) string  { return "page-" + f.Slug }
func excludedList(f timelines.OwnFeed) string { return "out-" + f.Slug }

func (s *Server) createFeed(w http.ResponseWriter, r *request) error {
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	form := newFeedForm()
	form.slug, form.title = strings.ToLower(strings.TrimSpace(r.PostFormValue("slug"))), r.PostFormValue("title")
	level, err := levelOf(r.PostFormValue("access"))
	if err == nil {
		form.access = level
		_, err = s.act(r, func(ctx context.Context) (timelines.Change, error) {
			return s.timelines.CreateSubfeed(ctx, r.viewer.AccountID, form.slug, form.title, form.access)
		})
	}
	if err != nil {
		if form.wrong, err = s.wrongIn(r, err); err != nil {
			return err
		}
		v, err := s.feedsView(r)
		if err != nil {
			return err
		}
		v.form = form
		return s.again(w, r, form.wrong, feedsPage(v))
	}
	return s.done(w, r, "/settings/feeds?saved#page-"+form.slug)
}

// changeFeed does one of feedActs.
func (s *Server) changeFeed(w http.ResponseWriter, r *request) error {
	act, ok := feedActs[r.PathValue("act")]
	if !ok {
		return errNoPage
	}
	if err := r.ParseForm(); err != nil {
		return malformedForm(err)
	}
	slug := r.PostFormValue("feed")
	_, err := s.act(r, func(ctx context.Context) (timelines.Change, error) { return act(s, ctx, r, slug) })
	if err != nil {
		is, err := s.wrongIn(r, err)
		if err != nil {
			return err
		}
		v, err := s.feedsView(r)
		if err != nil {
			return err
		}
		v.wrong, v.slug, v.act = is, slug, r.PathValue("act")
		return s.again(w, r, is, feedsPage(v))
	}
	return s.done(w, r, "/settings/feeds?saved")
}

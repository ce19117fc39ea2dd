package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/web/view"
)

// unsent serves the drafts of posts and comments: river.js keeps and fetches them while
// somebody writes, and there is a page of all for everybody.
type unsent struct{ *Server }

func (s unsent) routes(mux router) {
	mux.Handle("GET "+draftsPath, s.members(s.list))
	mux.Handle("GET "+draftsPath+"/edit", s.members(s.edit))
	mux.Handle("POST "+draftsPath, s.either(visitors(s).keep, s.save))
	mux.Handle("POST "+draftsPath+"/discard", s.either(visitors(s).discard, s.discard))
	mux.Handle("POST "+draftsPath+"/open", s.either(visitors(s).open, s.open))
}

const draftsPath = "/drafts"

// draftJSON is a draft as river.js gets it. Without a draft its body is empty.
type draftJSON struct {
	Body     string   `json:"body"`
	To       []string `json:"to"`
	Language string   `json:"language"`
	Uploads  []string `json:"uploads"`
	Saved    string   `json:"saved"`
}

// list is the page of all drafts. For river.js, which names a place, it is the draft of that
// place.
func (s unsent) list(w http.ResponseWriter, r *request) error {
	ctx, me := r.Context(), r.viewer.AccountID
	if r.wantsJSON() {
		place := r.URL.Query().Get("place")
		if !drafts.IsPlace(place) {
			return timelines.ErrNotFound
		}
		d, _, err := s.timelines.Drafts.Find(ctx, me, place)
		if err != nil {
			return err
		}
		writeJSON(w, http.StatusOK, draftJSON{d.Body, d.Destinations, d.Language, d.Uploads, view.SavedAs(d.SavedAt)})
		return nil
	}
	p := s.simple(r)
	all, err := s.timelines.Drafts.All(ctx, me)
	if err != nil {
		return err
	}
	ids := make([]int64, len(all))
	for i, d := range all {
		ids[i] = d.PostAuthor
	}
	if err := s.view.NameAccounts(ctx, p, ids); err != nil {
		return err
	}
	var places []string
	for _, d := range all {
		places = append(places, d.PostedIn())
	}
	if err := s.nameGroups(r, p, places); err != nil {
		return err
	}
	keepNoCopy(w, true)
	numbers, err := mine(s).numbers(r)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, view.DraftsPage(p, all, numbers))
}

// save keeps a form as it is written so far. The fields are those of the form itself.
func (s unsent) save(w http.ResponseWriter, r *request) error {
	if r.resumed {
		return errResumed
	}
	if err := s.limits.drafts.allow(accountKey(r.viewer.AccountID)); err != nil {
		return err
	}
	d, key := draftOf(r), ""
	if r.wantsJSON() {
		key = strings.ToValidUTF8(strings.ReplaceAll(r.PostFormValue("key"), "\x00", ""), "") // such a form was never sent
	}
	longest := timelines.MaxPostRunes
	if d.CommentOn() != "" {
		longest = timelines.MaxCommentRunes
	}
	savedAt, err := s.timelines.Drafts.Save(r.Context(), r.viewer.AccountID, d, longest, key)
	if newer, is := errors.AsType[*drafts.NewerError](err); is {
		return s.newer(w, r, d, newer.Draft)
	}
	if list := r.attachments(); err == nil && len(list) > 0 {
		err = s.timelines.Files.Describe(r.Context(), r.viewer.AccountID, list)
	}
	if err == nil {
		err = r.fault() // of a file; the draft has the others
	}
	if errors.Is(err, drafts.ErrSent) {
		writeJSON(w, http.StatusOK, struct {
			T string `json:"t"`
		}{"sent"})
		return nil
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		s.answerInvalid(w, r, is)
		return nil
	}
	if r.wantsJSON() {
		is := savedJSON{T: "done", Saved: view.SavedAs(savedAt)}
		if d.CommentOn() == "" && r.PostFormValue("direct") == "" {
			if is.Tags, err = s.dictionary.Propose(r.Context(), r.viewer.AccountID, d.Destinations, d.Body); err != nil {
				return err
			}
		}
		writeJSON(w, http.StatusOK, is)
		return nil
	}
	if r.startsAnother() {
		if err := s.timelines.Drafts.Park(r.Context(), r.viewer.AccountID, drafts.Version{Place: d.Place, SavedAt: savedAt}); err != nil {
			return err
		}
		return redirect(w, r, view.FormURL(d.Place))
	}
	return redirect(w, r, draftsPath)
}

// startsAnother reports whether the form is to be put aside for an empty one.
func (r *request) startsAnother() bool { return r.PostFormValue(view.KeepField) == view.KeepAnother }

// savedJSON says what happened to a form that river.js keeps.
type savedJSON struct {
	T     string `json:"t"`
	Saved string `json:"saved"`          // names the draft there is now
	Body  string `json:"body,omitempty"` // its text, if it is not the form's
	// Tags are proposed for the text of a post, without their #.
	Tags []string `json:"tags,omitempty"`
}

// newer answers a form that was not kept, as its place has another draft: without scripts with
// the form again, that draft beside its text, and a button that replaces it.
func (s unsent) newer(w http.ResponseWriter, r *request, d, newer drafts.Draft) error {
	if r.wantsJSON() {
		writeJSON(w, http.StatusConflict, savedJSON{T: "newer", Saved: view.SavedAs(newer.SavedAt), Body: newer.Body})
		return nil
	}
	if err := s.timelines.Files.Describe(r.Context(), r.viewer.AccountID, r.attachments()); err != nil {
		return err
	}
	is := view.FormError{Field: "body", Text: r.loc.T("drafts.newer")}
	keepNoCopy(w, true)
	if d.CommentOn() != "" {
		form := view.DraftComment(d)
		form.Saved, form.Newer, form.Error = r.savedAt(), &newer, is
		var err error
		if form.Files, err = s.timelines.Files.Loose(r.Context(), r.viewer.AccountID, d.Uploads); err != nil {
			return err
		}
		return s.html(w, r, http.StatusConflict, view.CommentAgain(s.simple(r), form))
	}
	c := view.ComposerOf(d)
	c.Saved, c.Newer, c.Error = r.savedAt(), &newer, is
	page, err := posts(s).composeDraft(r, d, c)
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusConflict, page)
}

// savedAt names the draft that the form has.
func (r *request) savedAt() time.Time { return view.SavedOf(r.PostFormValue(view.SavedField)) }

// draftOf reads a draft from a form. It replaces the draft that the form has, or the draft
// that its button names.
func draftOf(r *request) drafts.Draft {
	replaced := r.savedAt()
	if keep := r.PostFormValue(view.KeepField); keep != "" && keep != "1" && !r.startsAnother() {
		replaced = view.SavedOf(keep)
	}
	return drafts.Draft{
		SavedAt: replaced,
		Place:   r.PostFormValue(view.DraftField), Body: r.PostFormValue("body"), Language: r.PostFormValue("language"),
		Destinations: destinationsOf(r.PostForm["to"]), Uploads: r.PostForm["upload"], Listing: r.listing(),
	}
}

func (s unsent) discard(w http.ResponseWriter, r *request) error {
	v := drafts.Version{Place: r.PostFormValue(view.DraftField), SavedAt: r.savedAt()}
	if !drafts.IsPlace(v.Place) {
		return timelines.ErrNotFound
	}
	if err := s.timelines.Drafts.Discard(r.Context(), r.viewer.AccountID, v); err != nil {
		return err
	}
	return s.done(w, r, draftsPath)
}

// open makes a parked draft that of its place again, and leads to its form.
func (s unsent) open(w http.ResponseWriter, r *request) error {
	place, err := s.timelines.Drafts.Reopen(r.Context(), r.viewer.AccountID, r.PostFormValue("code"))
	if err != nil {
		return err
	}
	return redirect(w, r, view.DraftURL(place))
}

// edit is a page with the form of a draft alone, filled in. If the post that it comments on
// is closed to its author, it shows the text to be copied.
func (s unsent) edit(w http.ResponseWriter, r *request) error {
	place := r.URL.Query().Get("place")
	if !drafts.IsPlace(place) {
		return timelines.ErrNotFound
	}
	d, found, err := s.timelines.Drafts.Find(r.Context(), r.viewer.AccountID, place)
	if err != nil {
		return err
	}
	if !found {
		return timelines.ErrNotFound
	}
	keepNoCopy(w, true)
	if d.CommentOn() != "" {
		all, err := s.timelines.Drafts.All(r.Context(), r.viewer.AccountID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(l drafts.Listed) bool { return l.Place == place && l.Closed() }) {
			return s.html(w, r, http.StatusOK, view.ClosedDraft(s.simple(r), d))
		}
		form := view.DraftComment(d)
		if form.Files, err = s.timelines.Files.Loose(r.Context(), r.viewer.AccountID, d.Uploads); err != nil {
			return err
		}
		return s.html(w, r, http.StatusOK, view.CommentAgain(s.simple(r), form))
	}
	page, err := posts(s).composeDraft(r, d, view.ComposerOf(d))
	if err != nil {
		return err
	}
	return s.html(w, r, http.StatusOK, page)
}

// composeDraft is the composer alone, with a draft in it.
func (s posts) composeDraft(r *request, d drafts.Draft, c view.Composer) (view.Component, error) {
	var err error
	p := s.simple(r)
	if p.Sets, err = s.rivers.Access().Sets(r.Context(), r.viewer.AccountID); err != nil {
		return nil, err
	}
	if err := s.nameFollows(r, p); err != nil {
		return nil, err
	}
	if err := s.fill(r, p, &c, d); err != nil {
		return nil, err
	}
	return view.ComposeAgain(p, c), nil
}

// fill puts the files and the destinations of a draft into a composer.
func (s posts) fill(r *request, p *view.Base, c *view.Composer, d drafts.Draft) (err error) {
	if c.Files, err = s.timelines.Files.Loose(r.Context(), r.viewer.AccountID, d.Uploads); err != nil {
		return err
	}
	if c.Direct {
		c.People = strings.Join(d.Destinations, " ")
		return nil
	}
	return s.choose(r, p, c, d.Destinations)
}

// draft is the draft that a form has. If the form names no place, neither does that.
func (r *request) draft() drafts.Version {
	if place := r.PostFormValue(view.DraftField); drafts.IsPlace(place) {
		return drafts.Version{Place: place, SavedAt: r.savedAt()}
	}
	return drafts.Version{}
}

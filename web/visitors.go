package web

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/web/view"
)

// visitors serves the form for a post to people who are not signed in (G3). Their text is kept
// for them on the server, and goes to their account when they sign in or sign up. Their browser has a
// random id for it in a signed cookie: any other cookie counts as none, and asks no database.
//
// A browser without cookies gets a sign-in page that holds the form (resume.go).
type visitors struct{ *Server }

// visitorAge is how long the browser keeps the cookie; the drafts are removed as late (package jobs).
const visitorAge = 30 * 24 * time.Hour

// idBytes is the number of random bytes in the cookie, before its signature.
const idBytes = 32

func (s *Server) visitorCookie() string {
	if s.overTLS() {
		return "__Host-visitor"
	}
	return "visitor"
}

func (s *Server) setVisitor(w http.ResponseWriter, value string, age time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: s.visitorCookie(), Value: value, Path: "/", MaxAge: int(age / time.Second),
		HttpOnly: true, Secure: s.overTLS(), SameSite: http.SameSiteLaxMode,
	})
}

// owner returns whose drafts the request's cookie names, nobody's without a cookie of ours.
func (s *Server) owner(r *request) (drafts.Owner, error) {
	c, err := r.Cookie(s.visitorCookie())
	if err != nil {
		return drafts.Owner{}, nil // http.ErrNoCookie is the only one
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(c.Value)
	if err != nil || len(b) != idBytes+sha256.Size {
		return drafts.Owner{}, nil
	}
	key, err := s.timelines.Drafts.VisitorKey(r.Context())
	if err != nil || !hmac.Equal(b[idBytes:], signed(key, b[:idBytes])) {
		return drafts.Owner{}, err
	}
	return sha256.Sum256(b[:idBytes]), nil
}

func signed(key, id []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(id)
	return h.Sum(nil)
}

// keepVisitor makes the browser keep its cookie for another visitorAge, or gives it one.
func (s visitors) keepVisitor(w http.ResponseWriter, r *request, owner drafts.Owner) error {
	if c, err := r.Cookie(s.visitorCookie()); err == nil && !owner.Nobody() {
		s.setVisitor(w, c.Value, visitorAge)
		return nil
	}
	key, err := s.timelines.Drafts.VisitorKey(r.Context())
	if err != nil {
		return err
	}
	var id [idBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	s.setVisitor(w, base64.RawURLEncoding.EncodeToString(append(id[:], signed(key, id[:])...)), visitorAge)
	return nil
}

// either serves members with one handler, and with another those who are not signed in and may begin to
// write. A form of somebody whose session ended is no visitor's: it has a name of its own.
func (s *Server) either(visitor, member handler) http.Handler {
	member = s.asMember(member)
	return s.freshAccess(func(w http.ResponseWriter, r *request) error {
		listing := r.URL.Query().Has("listing") // a visitor can't begin one
		if listing || r.signedIn() || r.site.Shut || r.closed() || r.PostForm.Has(view.ResumeField) || r.PostForm.Has(viewerField) {
			return member(w, r)
		}
		return visitor(w, r)
	})
}

// toWrite returns the query of the form for a post, if back is its address. With a listing it is that of another form.
func toWrite(back string) (query url.Values, is bool) {
	u, err := url.Parse(back)
	if err != nil || u.Path != view.WritePath || u.Query().Has("listing") {
		return nil, false
	}
	return u.Query(), true
}

// brings is what somebody who signs in brings along: their drafts, and what they were about to write if
// the form that they come from says it. Without a place the form has the current draft, whatever that is.
func (s *Server) brings(r *request, back string) (drafts.Arrival, error) {
	owner, err := s.owner(r)
	query, _ := toWrite(back)
	return drafts.Arrival{Owner: owner, Category: query.Get("place")}, err
}

// waits reports whether a text waits for somebody who is about to sign in on the way to the form for a
// post.
func (s *Server) waits(r *request, back string) (bool, error) {
	if _, is := toWrite(back); !is {
		return false, nil
	}
	owner, err := s.owner(r)
	if err != nil || owner.Nobody() {
		return false, err
	}
	all, err := s.timelines.Drafts.Visitors(r.Context(), owner)
	return len(all) > 0, err
}

// placeAsked is the place that the address of the form names, empty if it names none.
func (r *request) placeAsked() (string, error) {
	place := r.URL.Query().Get("place")
	if place != "" && !drafts.IsPostPlace(place) {
		return "", timelines.ErrNotFound
	}
	return place, nil
}

// form is the page with the visitor's form for a post: the draft of the place asked for, or the latest.
func (s visitors) form(w http.ResponseWriter, r *request) error {
	place, err := r.placeAsked()
	if err != nil {
		return err
	}
	owner, err := s.owner(r)
	if err != nil {
		return err
	}
	var all []drafts.VisitorDraft
	if !owner.Nobody() {
		if all, err = s.timelines.Drafts.Visitors(r.Context(), owner); err != nil {
			return err
		}
	}
	if err := s.keepVisitor(w, r, owner); err != nil {
		return err
	}
	d := drafts.Draft{Place: cmp.Or(place, "/")}
	d.Destinations = drafts.DestinationsOf(d.Place)
	if i := slices.IndexFunc(all, func(has drafts.VisitorDraft) bool { return !has.Parked && (place == "" || has.Place == place) }); i >= 0 {
		d = all[i].Draft
		all = slices.Delete(all, i, i+1)
	}
	v := view.VisitorOf(d)
	v.Others, v.JustKept = all, r.URL.Query().Has("kept")
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusOK, view.VisitorPage(s.simple(r), v))
}

// send keeps a visitor's form, and leads to the sign-in page, from where the form comes back.
func (s visitors) send(w http.ResponseWriter, r *request) error {
	d, keeps := draftOf(r), r.PostForm.Has(view.KeepField)
	owner, err := s.owner(r)
	if err != nil {
		return err
	}
	if owner.Nobody() {
		return s.holdForm(w, r, "")
	}
	var saved time.Time
	if d.Uploads, d.Listing = nil, nil; d.Empty() && !keeps {
		err = &timelines.InvalidError{Field: "body", Code: "body_empty"}
	} else {
		saved, err = s.save(r, owner, d)
	}
	if err == nil {
		if err := s.keepVisitor(w, r, owner); err != nil {
			return err
		}
		form := view.WriteURL(d.Place)
		if r.startsAnother() {
			if err := s.timelines.Drafts.ParkVisitors(r.Context(), owner, drafts.Version{Place: d.Place, SavedAt: saved}); err != nil {
				return err
			}
			return redirect(w, r, form)
		}
		if keeps {
			return redirect(w, r, form+"&kept=1")
		}
		return redirect(w, r, string(view.LoginURL(form)))
	}
	v := view.VisitorOf(d)
	v.Saved, v.Key = r.savedAt(), r.PostFormValue("key")
	newer, other := errors.AsType[*drafts.NewerError](err)
	if other && !keeps {
		return s.holdForm(w, r, "") // the other tab's text stays, and this one is in the form
	}
	if errors.Is(err, drafts.ErrGone) {
		v.Saved = time.Time{}
	}
	if other {
		v.Newer, v.Error = &newer.Draft, view.FormError{Field: "body", Text: r.loc.T("drafts.newer"), Status: http.StatusConflict}
	} else if v.Error, err = s.refused(r, err); err != nil {
		return err
	}
	if !keeps && v.Error.Field == "" { // nothing is wrong with the form itself
		return s.holdForm(w, r, v.Error.Text)
	}
	return s.redisplay(w, r, v.Error, view.VisitorPage(s.simple(r), v))
}

// holdForm answers with a sign-in page that holds the form.
func (s visitors) holdForm(w http.ResponseWriter, r *request, why string) error {
	r.PostForm.Del(view.KeepField)
	kept := r.kept()
	if kept == nil {
		return redirect(w, r, string(view.LoginURL(view.WritePath)))
	}
	kept.Address = "/posts"
	keepNoCopy(w, true)
	return s.html(w, r, http.StatusUnauthorized, view.LoginPage(s.simple(r), view.Login{Kept: kept, Error: why, Visitor: true}))
}

// save keeps a visitor's draft, within the limits of their address.
func (s visitors) save(r *request, owner drafts.Owner, d drafts.Draft) (time.Time, error) {
	address := s.addresses.key(r.Request)
	if err := s.limits.visitorSaves.allow(address); err != nil {
		return time.Time{}, err
	}
	all, err := s.timelines.Drafts.Visitors(r.Context(), owner)
	if err != nil {
		return time.Time{}, err
	}
	if !slices.ContainsFunc(all, func(has drafts.VisitorDraft) bool {
		return has.Place == d.Place && (!has.Parked || has.SavedAt.Equal(d.SavedAt))
	}) {
		if err := s.limits.visitorDrafts.allow(address); err != nil {
			return time.Time{}, err
		}
	}
	return s.timelines.Drafts.SaveVisitors(r.Context(), owner, d)
}

// refused puts why a draft was not kept into words. It returns any other error as it is.
func (s visitors) refused(r *request, err error) (view.FormError, error) {
	switch {
	case errors.Is(err, drafts.ErrMany):
		return view.FormError{Text: r.loc.T("visitor.many")}, nil
	case errors.Is(err, drafts.ErrGone):
		return view.FormError{Field: "body", Text: r.loc.T("visitor.gone"), Status: http.StatusConflict}, nil
	case errors.Is(err, drafts.ErrFull):
		return view.FormError{Text: r.loc.T("visitor.full"), Status: http.StatusServiceUnavailable}, nil
	}
	return s.formError(r, err)
}

// keep keeps what a visitor writes, for river.js.
func (s visitors) keep(w http.ResponseWriter, r *request) error {
	owner, err := s.owner(r)
	if err != nil {
		return err
	}
	if owner.Nobody() {
		return errSignIn
	}
	at, err := s.save(r, owner, draftOf(r))
	if newer, is := errors.AsType[*drafts.NewerError](err); is {
		writeJSON(w, http.StatusConflict, savedJSON{T: "newer", Saved: view.SavedAs(newer.Draft.SavedAt), Body: newer.Draft.Body})
		return nil
	}
	if errors.Is(err, drafts.ErrGone) && r.wantsJSON() {
		writeJSON(w, http.StatusConflict, savedJSON{T: "gone"}) // river.js sends it again, perhaps for the account by now
		return nil
	}
	if err != nil {
		is, err := s.refused(r, err)
		if err != nil {
			return err
		}
		s.answerInvalid(w, r, is)
		return nil
	}
	if err := s.keepVisitor(w, r, owner); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, savedJSON{T: "done", Saved: view.SavedAs(at)})
	return nil
}

// discard removes one of the visitor's drafts.
func (s visitors) discard(w http.ResponseWriter, r *request) error {
	owner, err := s.owner(r)
	if err != nil {
		return err
	}
	if owner.Nobody() {
		return errSignIn
	}
	err = s.timelines.Drafts.DiscardVisitors(r.Context(), owner, drafts.Version{Place: r.PostFormValue(view.DraftField), SavedAt: r.savedAt()})
	if err != nil {
		return err
	}
	return s.done(w, r, view.WritePath)
}

// open makes a draft that the visitor put aside that of its form again.
func (s visitors) open(w http.ResponseWriter, r *request) error {
	owner, err := s.owner(r)
	if err != nil {
		return err
	}
	if owner.Nobody() {
		return errSignIn
	}
	v := drafts.Version{Place: r.PostFormValue(view.DraftField), SavedAt: r.savedAt()}
	if err := s.timelines.Drafts.ReopenVisitors(r.Context(), owner, v); err != nil {
		return err
	}
	return redirect(w, r, view.WriteURL(v.Place))
}

// signedInSince shows the form of a visitor who is signed in by now again, for them to check it and
// send it: it is not known for whom it was written.
func (s posts) signedInSince(w http.ResponseWriter, r *request) error {
	r.PostForm.Del(view.KeepField)
	r.resumed = true
	return s.createPost(w, r)
}

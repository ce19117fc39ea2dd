package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/site"
	"riverrun/web/view"
	"riverrun/web/view/pieces"
)

// request is one request with the viewer and the language, which every handler needs.
type request struct {
	*http.Request
	viewer timelines.Viewer
	me     timelines.Account // the viewer's account, zero if anonymous
	sets   *access.Sets      // the viewer's, as this node remembers them; nil if anonymous
	// groups are those that the viewer is a member of, which every page names.
	groups []timelines.Account
	site   site.Site // the settings of the site, as this node remembers them
	loc    *view.Locale
	// door says who may sign up; "" if somebody is signed in already.
	door site.SignUp
	// base is that of a page without a river, whose unread notifications are counted when it
	// is rendered.
	base *view.Base
	// resumed: the form is to be shown again and not done; see resume.go.
	resumed bool
}

// handler is a handler that returns an error; problem.go makes the answer of it.
type handler func(w http.ResponseWriter, r *request) error

// page serves a page whose deciding statement is that of a river. The viewer comes from
// memory, and the river's visit checks that the session still holds.
func (s *Server) page(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, plain *http.Request) {
		r := s.newRequest(plain)
		err := r.receive()
		// The time counts from here on, without the time in which a client sends its form.
		bounded, cancel := s.bounded(plain)
		defer cancel()
		r.Request = bounded
		if err == nil {
			err = s.handle(w, r, h)
		}
		if errors.Is(err, rivers.ErrMoved) && r.Method != http.MethodPost {
			// It shows at the first reading, before anything is answered.
			r.Request = bounded
			err = s.handle(w, r, h)
		}
		if err != nil {
			if _, large := errors.AsType[*http.MaxBytesError](err); large {
				w.Header().Set("Connection", "close") // the rest is not read
			}
			s.fail(w, r, err)
		}
	})
}

// handle identifies the sender of the request and answers it, as of the present epoch.
func (s *Server) handle(w http.ResponseWriter, r *request, h handler) error {
	r.Request = r.WithContext(s.rivers.AtEpoch(r.Context()))
	if err := s.identify(w, r); err != nil {
		return err
	}
	return h(w, r)
}

// receive reads a form's body before anything is done. If the body does not arrive, net/http
// ends the request's context, which would interrupt a change under way.
func (r *request) receive() error {
	if r.Method != http.MethodPost {
		return nil
	}
	if r.PostForm == nil && r.ContentLength > maxForm {
		return &http.MaxBytesError{Limit: maxForm}
	}
	err := r.ParseForm()
	if err == nil {
		err = r.ParseMultipartForm(maxForm)
	}
	if err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return malformedForm(err)
	}
	return nil
}

// freshAccess serves requests that the primary store alone decides, above all forms. It reads the
// access clock first, so that a session that ended elsewhere has ended here too (R4).
func (s *Server) freshAccess(h handler) http.Handler {
	return s.page(func(w http.ResponseWriter, r *request) error {
		if err := s.refreshAccess(w, r); err != nil {
			return err
		}
		return h(w, r)
	})
}

// refreshAccess reads the access clock and then identifies the sender of the request.
func (s *Server) refreshAccess(w http.ResponseWriter, r *request) error {
	// Nothing was resolved yet that this request goes on with.
	err := s.rivers.RefreshAccess(r.Context())
	if err != nil && !errors.Is(err, rivers.ErrMoved) {
		return err
	}
	r.Request = r.WithContext(s.rivers.AtEpoch(r.Context()))
	return s.identify(w, r)
}

// viewerField is the field in which river.js names the person whose page the form was on:
// somebody else may have signed in since, in the same browser. Without scripts the field is
// missing.
const viewerField = "viewer"

// members serves signed-in people only, as freshAccess does. A form that was sent from a page
// made for another person is not done.
func (s *Server) members(h handler) http.Handler {
	return s.freshAccess(s.asMember(h))
}

// asMember is members where the access clock has been read.
func (s *Server) asMember(h handler) handler {
	return func(w http.ResponseWriter, r *request) error {
		if answered, err := s.resume(w, r); answered || err != nil {
			return err
		}
		if strings.HasPrefix(r.URL.Path, "/api/") {
			return errNoPage // the address of some group's form; no group is called api
		}
		if r.viewer.Anonymous() {
			return errSignIn
		}
		if r.fromAnothersPage() {
			return errOtherViewer
		}
		if err := s.agreeFirst(r); err != nil {
			return err
		}
		return h(w, r)
	}
}

// fromAnothersPage reports whether the parsed form says that its page was made for another
// person than the one signed in.
func (r *request) fromAnothersPage() bool {
	return r.signedIn() && r.PostForm.Has(viewerField) && r.PostForm.Get(viewerField) != r.me.Name
}

// identify determines the sender of the request. A session that ended makes it anonymous.
func (s *Server) identify(w http.ResponseWriter, r *request) error {
	v, err := s.viewer(r.Request)
	if errors.Is(err, timelines.ErrSignedOut) {
		s.forgetSession(w)
		v, err = timelines.Viewer{}, nil
	}
	if err != nil {
		return err
	}
	return s.introduce(r, v)
}

// introduce sets v as the sender of the request.
func (s *Server) introduce(r *request, v timelines.Viewer) error {
	r.viewer, r.me, r.sets, r.groups = v, timelines.Account{}, nil, nil
	settings, err := s.rivers.Access().Site(r.Context())
	if err != nil {
		return err
	}
	r.setSite(settings)
	if v.Anonymous() {
		return s.enter(r)
	}
	if r.sets, err = s.rivers.Access().Sets(r.Context(), v.AccountID); err != nil {
		return err
	}
	me, err := s.rivers.Access().Accounts(r.Context(), []int64{v.AccountID})
	if err != nil {
		return err
	}
	r.me = me[v.AccountID]
	if r.groups, err = s.view.Groups(r.Context(), r.sets); err != nil {
		return err
	}
	r.setSite(settings)
	s.used.note(v.Session, s.now())
	return nil
}

// viewer returns the viewer of the request's cookie: anonymous without a cookie,
// timelines.ErrSignedOut if its session ended.
func (s *Server) viewer(r *http.Request) (timelines.Viewer, error) {
	c, err := r.Cookie(s.cookieName())
	if err != nil {
		return timelines.Viewer{}, nil // http.ErrNoCookie is the only one
	}
	session, ok := timelines.SessionOf(c.Value)
	if !ok {
		return timelines.Viewer{}, timelines.ErrSignedOut
	}
	return s.rivers.Access().Session(r.Context(), session)
}

// wantsJSON reports whether the request comes from river.js, which wants an entry instead of
// a redirect.
func (r *request) wantsJSON() bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}

// wantsFragment reports whether river.js asks for a piece of a page.
func (r *request) wantsFragment() bool { return r.Header.Get("X-River-Page") != "" }

// address is the request's path and query.
func (r *request) address() string { return r.URL.RequestURI() }

// back returns the address a form asks to return to, if it is one of ours, else
// otherwise.
func (r *request) back(otherwise string) string { return localAddress(r.FormValue("back"), otherwise) }

// cameFrom returns the page of this site that the browser names as the form's, or otherwise.
func (r *request) cameFrom(otherwise string) string {
	from, err := url.Parse(r.Referer())
	if err != nil || from.Host != r.Host {
		return otherwise
	}
	return localAddress(from.RequestURI(), otherwise)
}

// beside returns the place of a post on the page that the browser names as the form's, or
// otherwise.
func (r *request) beside(code, otherwise string) string {
	if from := r.cameFrom(""); from != "" {
		return from + "#p-" + code
	}
	return otherwise
}

// localAddress returns the address if a redirect there stays on this site, else
// otherwise. Control characters are in no address: browsers skip some of them
// and refuse an answer with others.
func localAddress(address, otherwise string) string {
	if !strings.HasPrefix(address, "/") || strings.HasPrefix(address, "//") ||
		strings.Contains(address, `\`) || strings.ContainsFunc(address, unicode.IsControl) {
		return otherwise
	}
	return address
}

// simple returns the base of a page without a river.
func (s *Server) simple(r *request) *view.Base {
	p := s.view.NewBase(r.loc)
	p.Viewer, p.PageAddress, p.NoSignUp = r.viewer, r.address(), r.closed()
	r.dress(p)
	if r.sets != nil {
		p.Sets, p.Member = r.sets, r.groups
	}
	if r.me.ID != 0 {
		p.Names[r.me.ID] = r.me
	}
	r.base = p
	return p
}

func (r *request) signedIn() bool { return !r.viewer.Anonymous() }

// buffers hold pages until they are whole.
var buffers = sync.Pool{New: func() any { return new(pieces.Page) }}

// htmlType is the Content-Type of pages.
const htmlType = "text/html; charset=utf-8"

// revalidated is the Cache-Control of pages.
const revalidated = "private, no-cache"

// html answers with a page. Caches must ask again before they show a copy, because rights to
// read can change at any moment.
func (s *Server) html(w http.ResponseWriter, r *request, status int, page view.Component) error {
	if status < http.StatusInternalServerError { // the stores may be silent
		s.countUnread(r)
	}
	b := buffers.Get().(*pieces.Page)
	defer buffers.Put(b)
	defer b.Reset()
	// The page that says that the time is up is rendered after the context's end.
	if err := page.Render(context.WithoutCancel(r.Context()), b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", htmlType)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", revalidated)
	}
	h.Add("Vary", "Cookie, Accept-Language, Accept")
	if status == http.StatusOK && h.Get("Cache-Control") == revalidated {
		// The page is made anew each time, under the rights of this moment. Compressing and
		// sending what the browser has is left out.
		sums := b.Sums()
		tag := fmt.Sprintf(`W/"%016x"`, sums.Tag)
		h.Set("ETag", tag)
		if hasTag(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
		} else {
			s.packed.send(w, r.Request, status, sums, b)
		}
		return nil
	}
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // the browser is gone
	return nil
}

// keepNoCopy tells the browser to keep no copy of the page if it holds typed text: another
// person may use the same browser later.
func keepNoCopy(w http.ResponseWriter, typed bool) {
	if typed {
		w.Header().Set("Cache-Control", "no-store")
	}
}

// redirect answers a form with a redirect.
func redirect(w http.ResponseWriter, r *request, address string) error {
	http.Redirect(w, r.Request, address, http.StatusSeeOther)
	return nil
}

// looks reports whether somebody is going to see the page. A browser may fetch one before it is
// asked for, and river.js may ask for its head alone, or fetch it to bring up what stands
// around the entries.
func (r *request) looks() bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Purpose") == "" && r.Header.Get("Sec-Fetch-Mode") != "cors"
}

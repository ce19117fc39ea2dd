package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
	"riverrun/web/view"
)

// aboutPages serves what the site says of itself, to people and to programs.
type aboutPages struct{ *Server }

func (s aboutPages) routes(mux router) {
	mux.Handle("GET /about", s.freshAccess(s.about))
	mux.Handle("GET /rules", s.page(func(w http.ResponseWriter, r *request) error { return redirect(w, r, view.RulesPath) }))
	mux.Handle("GET /rules/agree", s.members(s.agreeForm))
	mux.Handle("POST /rules/agree", s.members(s.agree))
	mux.Handle("GET /robots.txt", s.freshAccess(s.robots))
	mux.Handle("GET /mark.svg", s.page(s.mark))
}

func (s aboutPages) about(w http.ResponseWriter, r *request) error {
	staff, err := admin.Open(s.timelines).Staff(r.Context())
	if err != nil {
		return err
	}
	p := s.simple(r)
	var ids []int64
	for _, m := range staff {
		if m.Role == admin.Administrator && !p.Sets.Unseen.Has(m.AccountID) && (r.signedIn() || !r.site.Shut) {
			ids = append(ids, m.AccountID)
		}
	}
	if err := s.view.NameAccounts(r.Context(), p, ids); err != nil {
		return err
	}
	named := make([]timelines.Account, len(ids))
	for i, id := range ids {
		named[i] = p.Account(id)
	}
	return s.html(w, r, http.StatusOK, view.AboutPage(p, named))
}

// unlisted are the addresses below which nothing is for search engines, and those with a query:
// "Older" links go on for ever, and every step of one makes the river longer.
var unlisted = []string{
	"/*?", "/admin", "/api", "/drafts", "/filter/", "/lists", "/login", "/logout", "/me", "/posts/", "/push", "/rules/agree", "/scheduled", "/search", "/settings",
	"/signup", "/sources", "/welcome", "/ws",
}

// robots tells programs that look through the site where they may.
func (s aboutPages) robots(w http.ResponseWriter, r *request) error {
	paths := unlisted
	if r.site.Unlisted() {
		paths = []string{"/"}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = io.WriteString(w, "User-agent: *\nDisallow: "+strings.Join(paths, "\nDisallow: ")+"\n") // the client is gone
	return nil
}

// mark draws the site's mark. Another mark has another address, so a browser may keep it.
func (s aboutPages) mark(w http.ResponseWriter, r *request) error {
	if r.site.Mark == "" {
		return errNoPage
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == r.site.Mark {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = io.WriteString(w, view.MarkSVG(r.site)) // the client is gone
	return nil
}

// When there are rules that somebody has not agreed to, they are asked on the home page and by
// everything that is for signed-in people only: a page leads to the form of the rules and back, and a
// form with a text is kept there, and done once they agree. Everything else that they may read stays
// open, and so do open pages. So do their settings, where they can close their account to others or
// leave.

// setSite makes s the settings that the request is answered with.
func (r *request) setSite(s site.Site) {
	r.site, r.loc = s, view.LocaleFor(r.Request, r.me.Language, s.Language)
}

// newRequest is a request before its sender is known. It knows the site as this node
// remembers it, so that each page of an error can say whom to ask.
func (s *Server) newRequest(plain *http.Request) *request {
	r := &request{Request: plain}
	remembered, _ := s.rivers.Access().RememberedSite()
	r.setSite(remembered)
	return r
}

// dress fills in what all pages have in their frame.
func (r *request) dress(p *view.Base) {
	keptHere(r.Request, p)
	p.Site, p.NoIndex = r.site, r.site.Unlisted()
}

// agreed returns the version of the rules that the form agrees to, 0 if there are none, or an
// InvalidError if the form does not agree to the present ones.
func (r *request) agreed() (version int, err error) {
	version = r.site.Asks()
	if version > 0 && r.PostForm.Get(view.AgreeField) != strconv.Itoa(version) {
		return 0, &timelines.InvalidError{Field: "rules", Code: "rules_agree"}
	}
	return version, nil
}

// mustAgree reports whether the sender has to agree to the rules first.
func (r *request) mustAgree() bool {
	return r.signedIn() && r.sets.RulesAgreed < r.site.Asks()
}

// opensAnyway reports whether the request's address is open to those who have not agreed.
func (r *request) opensAnyway() bool {
	return r.URL.Path == view.AgreePath || r.URL.Path == "/settings" || strings.HasPrefix(r.URL.Path, "/settings/")
}

// agreeFirst returns errRules if the sender has to agree to the rules first and the form does not say
// that they do.
func (s *Server) agreeFirst(r *request) error {
	if !r.mustAgree() || r.opensAnyway() {
		return nil
	}
	version, err := r.agreed()
	if err != nil {
		return errRules
	}
	return s.agreeTo(r, version)
}

func (s *Server) agreeTo(r *request, version int) error {
	_, err := s.carry(r)(site.Open(s.timelines).Agree(r.Context(), r.viewer.AccountID, version))
	return err
}

// askToAgree answers a request that has to wait until its sender agrees to the rules. It reports
// whether it did: a request of a script is refused instead.
func (s *Server) askToAgree(w http.ResponseWriter, r *request, err error) bool {
	if !errors.Is(err, errRules) || r.wantsJSON() || r.Header.Get("Sec-Fetch-Mode") == "cors" {
		return false
	}
	kept := r.kept()
	if kept == nil {
		back := r.address()
		if r.Method == http.MethodPost {
			back = r.back(r.cameFrom("/"))
		}
		http.Redirect(w, r.Request, view.AgreePath+"?"+url.Values{"back": {back}}.Encode(), http.StatusSeeOther)
		return true
	}
	if r.resumed {
		kept.Others = append(kept.Others, view.KeptField{Name: view.ResumeField, Value: "1"})
	}
	keepNoCopy(w, true)
	if err := s.html(w, r, http.StatusForbidden, view.AgreePage(s.simple(r), view.Agree{Kept: kept})); err != nil {
		s.log.ErrorContext(r.Context(), "the page of the rules failed", "error", err)
	}
	return true
}

func (s aboutPages) agreeForm(w http.ResponseWriter, r *request) error {
	if !r.mustAgree() {
		return redirect(w, r, r.back("/"))
	}
	return s.html(w, r, http.StatusOK, view.AgreePage(s.simple(r), view.Agree{Back: r.back("/")}))
}

func (s aboutPages) agree(w http.ResponseWriter, r *request) error {
	version, err := r.agreed()
	if err == nil && version > 0 {
		err = s.agreeTo(r, version)
	}
	if err != nil {
		is, err := s.formError(r, err)
		if err != nil {
			return err
		}
		return s.redisplay(w, r, is, view.AgreePage(s.simple(r), view.Agree{Back: r.back("/"), Error: is}))
	}
	return s.done(w, r, r.back("/"))
}

// A page tells programs about itself only if somebody who is not signed in may read it, whoever asks
// for it now.

// publicBase is the site's address as such pages name it.
func (s *Server) publicBase() string { return strings.TrimSuffix(s.url.String(), "/") }

// isPublic reports whether everybody may read a page that was just visited. Programs do not sign in, so
// it is false, without a look, for people who have.
func (s *Server) isPublic(ctx context.Context, v *view.River) (bool, error) {
	if v.Site.Shut || !v.Viewer.Anonymous() {
		return false, nil
	}
	return s.rivers.OpenToAll(ctx, v.Page.Name, v.Page.Items)
}

package web

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

// Feed files: every public page as Atom (RFC 4287) and as JSON Feed (version 1.1). They
// always show the anonymous visitor's river, since a feed reader has no session and may show
// its copy to anybody. They pass the same checks as the page each time they are read, and
// caches must ask again.
//
// The elements are our own, thirty lines of struct tags: the packages for feeds write
// neither an entry's date of publication nor the file's own address.

// feedFiles are pages for feed readers.
type feedFiles struct{ *Server }

func (s feedFiles) routes(mux router) {
	// Pages have one segment or two; {path...} would conflict with /{name}/{page}.
	mux.Handle("GET /feeds/{page}", s.page(s.feed))
	mux.Handle("GET /feeds/{page}/{file}", s.page(s.feed))
}

// feed answers /feeds/PATH.atom and /feeds/PATH.json with the newest entries of the
// page /PATH, in order of creation, since readers of feeds look for new posts.
// ?order=fresh gives the page's own order.
func (s feedFiles) feed(w http.ResponseWriter, r *request) error {
	name := strings.TrimPrefix(r.URL.Path, "/feeds/")
	dot := max(strings.LastIndexByte(name, '.'), 0)
	format, ok := view.FeedFormats[name[dot:]]
	if !ok || dot == 0 {
		return errNoPage
	}
	path, query := "/"+name[:dot], r.URL.Query()
	if query.Get("order") != string(rivers.Fresh) {
		query.Set("order", string(rivers.Created))
	}
	ctx, nobody := r.Context(), timelines.Viewer{}
	at, n, err := s.riverAt(ctx, nobody, path, query)
	if at.Unfed {
		return errNoPage
	}
	var f view.FeedFile
	if err == nil {
		err = s.rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
			page, err := s.rivers.Visit(ctx, nobody, n, rivers.Cursor{})
			if err != nil {
				return rivers.Moment{}, err
			}
			f, err = s.feedFile(r, at, n, page, path)
			return page.At, err
		})
	}
	if errors.Is(err, rivers.ErrSignInNeeded) {
		return errNoPage // somebody's own page: a feed reader cannot sign in
	}
	if errors.Is(err, timelines.ErrSignedOut) {
		return errPrivate // a feed reader has no session, so it was not ended
	}
	if err != nil {
		return err
	}
	body, err := format.Encode(f)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	// The tag is weak: compression does not change it.
	tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Language")
	h.Set("ETag", tag)
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", format.MIME)
	_, _ = w.Write(body) // the reader is gone
	return nil
}

// hasTag reports whether an If-None-Match names the entity tag, which it compares weakly
// (RFC 9110, 13.1.2).
func hasTag(header, tag string) bool {
	for had := range strings.SplitSeq(header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(had), "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

func (s feedFiles) feedFile(r *request, at view.Page, n rivers.Name, page *rivers.Page, path string) (view.FeedFile, error) {
	p, err := s.view.Base(r.Context(), timelines.Viewer{}, view.LocaleFor(r.Request, "", r.site.Language), n, page.Sets, page.Items)
	if err != nil {
		return view.FeedFile{}, err
	}
	base := s.publicBase()
	f := view.FeedFile{
		Title: p.TitleOf(at), Lang: p.Locale.Lang, Page: base + at.Address(path, r.URL.Query()), Address: base + r.URL.RequestURI(),
		Items: make([]view.FeedItem, 0, len(page.Items)),
	}
	for i := range page.Items {
		e := &view.Entry{Base: p, Item: &page.Items[i]}
		f.Items = append(f.Items, e.FeedItem(base))
		if n.Kind != rivers.Post {
			continue
		}
		// A post's page has one entry; its comments are what changes.
		f.Title = f.Items[0].Title
		for j := range e.Item.Fold.Comments.Shown {
			// A feed is nobody's, so no ban hides anything there; but an author may be seen by the staff alone.
			if c := &e.Item.Fold.Comments.Shown[j]; !e.Item.Hides(c.Author) {
				f.Items = append(f.Items, e.CommentItem(base, c))
			}
		}
		slices.Reverse(f.Items)
		f.Items = f.Items[:min(len(f.Items), view.MaxFeedComments)]
	}
	if r.site.Name != "" {
		f.Title += " · " + r.site.Name
	}
	return f, nil
}

// feedOf returns the address of a page's feed file without the format, "" if the
// page has none or is not open to all.
func (s *Server) feedOf(ctx context.Context, at view.Page, n rivers.Name, page *rivers.Page, path string) (string, error) {
	if at.Unfed {
		return "", nil
	}
	open, err := s.rivers.OpenToAll(ctx, n, page.Items)
	if err != nil || !open {
		return "", err
	}
	return "/feeds" + path, nil
}

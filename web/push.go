package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"riverrun/rivers"
	"riverrun/timelines/push"
	"riverrun/web/view"
)

// pushes serves what makes the site one that can be installed and that tells a browser what is
// new: the manifest, the service worker, and the forms of push.js.
type pushes struct{ *Server }

func (s pushes) routes(mux router) {
	mux.Handle("GET /manifest.webmanifest", s.page(s.manifest))
	mux.HandleFunc("GET /sw.js", s.worker)
	mux.Handle("POST /push", s.members(s.subscribe))
	mux.Handle("POST /push/state", s.members(s.state))
	mux.Handle("POST /push/remove", s.members(s.unsubscribe))
	mux.Handle("GET /push/news", s.members(s.news))
}

// manifest describes the site to a browser that installs it.
func (s pushes) manifest(w http.ResponseWriter, r *request) error {
	type icon struct {
		Src     string `json:"src"`
		Sizes   string `json:"sizes"`
		Type    string `json:"type"`
		Purpose string `json:"purpose"`
	}
	doc := struct {
		ID              string `json:"id"`
		Name            string `json:"name"`
		StartURL        string `json:"start_url"`
		Scope           string `json:"scope"`
		Display         string `json:"display"`
		ThemeColor      string `json:"theme_color"`
		BackgroundColor string `json:"background_color"`
		Icons           []icon `json:"icons"`
	}{
		ID: "/", Name: r.site.Title(), StartURL: "/", Scope: "/", Display: "standalone", ThemeColor: "#0f5c69", BackgroundColor: "#f6f4ee",
		Icons: []icon{
			{s.static.url("icon-192.png"), "192x192", "image/png", "any maskable"},
			{s.static.url("icon-512.png"), "512x512", "image/png", "any maskable"},
			{s.static.url("icon.svg"), "any", "image/svg+xml", "any"},
		},
	}
	if mark := view.MarkURL(r.site); mark != "" {
		doc.Icons = []icon{{mark, "any", "image/svg+xml", "any"}}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(body) // the client is gone
	return nil
}

// worker serves the service worker at the root of the site, which it controls. A browser looks for
// a new one at each visit.
func (s pushes) worker(w http.ResponseWriter, _ *http.Request) {
	file := s.static.files[s.static.url("sw.js")]
	w.Header().Set("Content-Type", file.contentType)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(file.content) // the client is gone
}

// pushKey is the site's key that browsers want to know.
func (s *Server) pushKey(ctx context.Context) (string, error) {
	if s.pushKeys == nil {
		return "", nil
	}
	keys, err := s.timelines.Pushes.Keys(ctx, s.pushKeys)
	return keys.Public, err
}

func (s pushes) subscribe(w http.ResponseWriter, r *request) error {
	if err := s.limits.writes.allow(accountKey(r.viewer.AccountID)); err != nil {
		return err
	}
	err := s.timelines.Pushes.Subscribe(r.Context(), r.viewer, push.Subscription{
		Endpoint: r.PostFormValue("endpoint"), P256DH: r.PostFormValue("p256dh"), Auth: r.PostFormValue("auth"),
	})
	if errors.Is(err, push.ErrInvalid) {
		return errors.Join(errBadRequest, err)
	}
	if err != nil {
		return err
	}
	return s.done(w, r, "/settings?saved")
}

// state answers whether this browser gets pushes for this session. The browser's own knowledge may
// belong to a session that has ended, or to somebody else who used it.
func (s pushes) state(w http.ResponseWriter, r *request) error {
	on, err := s.timelines.Pushes.Has(r.Context(), r.viewer, r.PostFormValue("endpoint"))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct {
		On bool `json:"on"`
	}{on})
	return nil
}

func (s pushes) unsubscribe(w http.ResponseWriter, r *request) error {
	if err := s.timelines.Pushes.Unsubscribe(r.Context(), r.viewer.AccountID, r.PostFormValue("endpoint")); err != nil {
		return err
	}
	return s.done(w, r, "/settings?saved")
}

// news tells the service worker what to show: the latest of what is unread. It decides as the
// page of notifications does, and marks nothing as read.
func (s pushes) news(w http.ResponseWriter, r *request) error {
	ctx := r.Context()
	n := rivers.Name{UserID: r.viewer.AccountID, Kind: rivers.Notifications, Order: rivers.Fresh}
	var e *view.Entry
	unread := 0
	err := s.rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
		page, err := s.rivers.Visit(ctx, r.viewer, n, rivers.Cursor{})
		if err != nil {
			return rivers.Moment{}, err
		}
		e = nil
		if i := slices.IndexFunc(page.Items, func(it rivers.Item) bool { return it.Notice != nil && it.Notice.Unread }); i >= 0 {
			p, err := s.view.Base(ctx, r.viewer, r.loc, n, page.Sets, page.Items)
			if err != nil {
				return rivers.Moment{}, err
			}
			e = &view.Entry{Base: p, Item: &page.Items[i]}
		}
		unread, _, err = s.rivers.News(ctx, r.viewer.AccountID)
		return page.At, err
	})
	if err != nil {
		return err
	}
	doc := struct {
		Unread int    `json:"unread"`
		Title  string `json:"title,omitempty"`
		Body   string `json:"body,omitempty"`
		URL    string `json:"url,omitempty"`
		Icon   string `json:"icon,omitempty"`
	}{Unread: unread, Icon: s.static.url("icon-192.png")}
	if unread > 0 {
		doc.Title = r.site.Title() // of what the page of notifications does not show
	}
	if e != nil {
		if doc.Title, err = e.NoticeLine(); err != nil {
			return err
		}
		doc.Body, doc.URL = e.Quoted(), view.NotificationsPath
		if unread == 1 {
			doc.URL = e.About()
		}
	}
	w.Header().Set("Cache-Control", "private, no-store")
	writeJSON(w, http.StatusOK, doc)
	return nil
}

package web

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/live"
	"riverrun/web/view"
)

// maxAddress is the longest address of a page that RiverOf looks at, in bytes.
const maxAddress = 1000

// RiverOf returns the name of the river at the address of a page, as the person of the name as would have
// it; an empty as is somebody who is not signed in. It is for those who run the site, and says nothing
// about the right to open the page. A wrong page or person is a *timelines.InvalidError.
func RiverOf(ctx context.Context, t *timelines.Store, store *rivers.Store, page, as string) (rivers.Name, error) {
	var v timelines.Viewer
	if as = strings.TrimPrefix(strings.TrimSpace(as), "@"); as != "" {
		if !timelines.IsName(as) {
			return rivers.Name{}, &timelines.InvalidError{Field: "as", Code: "viewer_none"}
		}
		a, err := t.Accounts.ByName(ctx, as)
		if errors.Is(err, timelines.ErrNotFound) || err == nil && a.Kind != timelines.User {
			return rivers.Name{}, &timelines.InvalidError{Field: "as", Code: "viewer_none"}
		}
		if err != nil {
			return rivers.Name{}, err
		}
		v.AccountID = a.ID
	}
	none := &timelines.InvalidError{Field: "name", Code: "page_none"}
	page = strings.TrimSpace(page)
	u, err := url.Parse(page)
	if err != nil || len(page) > maxAddress || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") && u.Path != "" {
		return rivers.Name{}, none
	}
	query, err := url.QueryUnescape(u.RawQuery)
	if text := u.Path + query; err != nil || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return rivers.Name{}, none
	}
	if u.Path == "" { // of a whole address without a path
		u.Path = "/"
	}
	if err := store.RefreshAccess(ctx); err != nil {
		return rivers.Name{}, err
	}
	sets, err := store.Access().Sets(ctx, v.AccountID)
	if err != nil {
		return rivers.Name{}, err
	}
	_, n, err := riverAt(ctx, store, v, u.Path, u.Query())
	switch {
	case errors.Is(err, rivers.ErrSignInNeeded):
		return n, &timelines.InvalidError{Field: "as", Code: "viewer_needed"}
	case live.IsNoPage(err):
		return n, none
	}
	return view.InMode(n, sets, u.Query()), err
}

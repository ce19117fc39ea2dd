package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"riverrun/rivers"
	"riverrun/timelines/tokens"
)

type (
	river struct {
		Page   string `query:"page" required:"true" doc:"the address of a page of the site, path and query: /, /everything, /bob, /filter/discussions, /search?q=tea ..." example:"/everything"`
		Before string `query:"before" doc:"where the last page ended: next of its answer"`
	}
	riverPage struct {
		Link string `header:"Link" doc:"the next page (rel=next), if there is one"`
		Body struct {
			Posts []Post `json:"posts" doc:"as the page shows them: long texts and many comments are cut"`
			Next  string `json:"next,omitempty" doc:"before of the next page"`
		}
	}
)

func (a *API) registerRivers() {
	register(a, operation(tokens.Read, http.MethodGet, "/api/river", "read-river", "Read a page of the site as its owner sees it"),
		func(ctx context.Context, in *river) (*riverPage, error) {
			at, err := url.Parse(in.Page)
			if err != nil || at.Host != "" || at.Path == "" || at.Path[0] != '/' {
				return nil, &Problem{Status: http.StatusUnprocessableEntity, Code: "page_invalid", Detail: "A page is the path of an address, and its query.", Errors: []Detail{{"page", "page_invalid", "want a path, as in /everything"}}}
			}
			viewer := callerOf(ctx).Viewer
			n, err := a.cfg.PageOf(ctx, viewer, at.Path, at.Query())
			if err != nil {
				return nil, err
			}
			before, err := a.cfg.Rivers.Cursor(ctx, viewer, in.Before)
			if errors.Is(err, rivers.ErrNotFound) {
				return nil, &Problem{Status: http.StatusUnprocessableEntity, Code: "call_invalid", Detail: "No page ended there.", Errors: []Detail{{"before", "call_invalid", "want next of an answer"}}}
			}
			if err != nil {
				return nil, err
			}
			var out riverPage
			err = a.cfg.Rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
				out = riverPage{}
				page, err := a.cfg.Rivers.Visit(ctx, viewer, n, before)
				if err != nil {
					return rivers.Moment{}, err
				}
				if page.More && len(page.Items) > 0 {
					last := page.Items[len(page.Items)-1]
					out.Body.Next = a.cfg.Rivers.FormatCursor(page.Next, last.Fold.Text.Code)
				}
				out.Body.Posts, err = a.log.Posts(ctx, page.Items)
				return page.At, err
			})
			if err != nil {
				return nil, err
			}
			if out.Body.Next != "" {
				next := url.Values{"page": {in.Page}, "before": {out.Body.Next}}
				out.Link = fmt.Sprintf(`<%s/api/river?%s>; rel="next"`, a.cfg.Base, next.Encode())
			}
			return &out, nil
		})
}

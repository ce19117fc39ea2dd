package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"riverrun/timelines"
	"riverrun/web/api"
	"riverrun/web/view"
)

// mayWrite counts a change that a program makes for somebody, as a form is counted.
func (s *Server) mayWrite(ctx context.Context, v timelines.Viewer) error {
	if err := s.limits.writes.allow(accountKey(v.AccountID)); err != nil {
		return err
	}
	settings, err := s.rivers.Access().Site(ctx)
	if err != nil {
		return err
	}
	sets, err := s.rivers.Access().Sets(ctx, v.AccountID)
	if err == nil && sets.RulesAgreed < settings.Asks() {
		err = errRules
	}
	return err
}

// apiFields are what the API calls fields that have other names in forms.
var apiFields = map[string]string{"body": "text", "key": "Idempotency-Key"}

// apiProblem puts an error into the words of the pages, in English, and logs it if it is a fault of the server.
func (s *Server) apiProblem(ctx context.Context, err error) api.Problem {
	r := &request{loc: view.LocaleOf("en")}
	if is, rest := s.formError(r, err); rest == nil {
		p := api.Problem{Status: cmp.Or(is.Status, http.StatusUnprocessableEntity), Code: cmp.Or(is.Code, "refused"), Detail: is.Text, After: is.Wait}
		for _, one := range append([]view.FormError{is}, is.More...) {
			if one.Field != "" {
				p.Errors = append(p.Errors, api.Detail{Field: cmp.Or(apiFields[one.Field], one.Field), Code: cmp.Or(one.Code, "refused"), Detail: one.Text})
			}
		}
		return p
	}
	is := problemOf(err)
	away := ctx.Err() != nil && errors.Is(err, context.Canceled) // nobody listens any more
	if is.status >= http.StatusInternalServerError && !away {
		s.log.ErrorContext(ctx, "call of the API failed", "code", requestCode(ctx), "error", err)
	}
	p := api.Problem{Status: is.status, Code: codeOf(is)}
	p.Detail = r.loc.T(is.text, "when", view.In(r.loc, waitFor(err)))
	if is.status == http.StatusTooManyRequests || is.status == http.StatusServiceUnavailable {
		p.After = waitFor(err)
	}
	return p
}

// codeOf is the code of a problem in the API.
func codeOf(p problem) string {
	return strings.ReplaceAll(strings.TrimPrefix(p.text, "error."), ".", "_")
}

package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"riverrun/timelines"
	"riverrun/timelines/changes"
	"riverrun/timelines/stages"
	"riverrun/timelines/tokens"
)

// Problem is an error as a program sees it (RFC 9457).
type Problem struct {
	Type   string   `json:"type" doc:"about:blank, as the code says what is wrong"`
	Title  string   `json:"title" doc:"the status in words"`
	Status int      `json:"status"`
	Code   string   `json:"code" doc:"what is wrong, the same in all versions"`
	Detail string   `json:"detail" doc:"the same in words, for people"`
	Errors []Detail `json:"errors,omitempty" doc:"what is wrong with the fields"`
	// First is set if a log does not go on.
	First string `json:"first,omitempty" doc:"where the log of changes begins (code changes_gone)"`

	// Version is set if a state is another than the call replaces.
	Version *int64 `json:"version,omitempty" doc:"that of the present state, 0 if there is none (code state_changed)"`

	// After is when to try again.
	After time.Duration `json:"-"`
}

// Codes are the codes of the API's own problems. Those of what people write are in package rules, those of states in package stages.
var Codes = []string{
	"token_wrong", "scope_missing", "limited", "call_invalid", "body_large", "page_invalid", "changes_gone", "condition_missing", "state_changed",
}

// Detail is what is wrong with a field.
type Detail struct {
	Field  string `json:"field" doc:"the field of the body, or the parameter"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.After > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.After+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="riverrun"`)
	}
	return h
}

// scopeError: the token does not allow what is asked.
type scopeError struct{ missing tokens.Scope }

func (e *scopeError) Error() string { return "the token has no scope " + string(e.missing) }

// tooManyError: the token called too often.
type tooManyError struct{ wait time.Duration }

func (e *tooManyError) Error() string { return "too many calls" }

// problem puts an error into words: those of the API here, all others where the site's pages do it.
func (a *API) problem(ctx context.Context, err error) *Problem {
	var p Problem
	if scope, ok := errors.AsType[*scopeError](err); ok {
		p = Problem{Status: http.StatusForbidden, Code: "scope_missing", Detail: fmt.Sprintf("The token does not allow this: it needs the scope %q.", scope.missing)}
	} else if many, ok := errors.AsType[*tooManyError](err); ok {
		p = Problem{Status: http.StatusTooManyRequests, Code: "limited", Detail: "Too many calls with this token, or too many that wait.", After: many.wait}
	} else if errors.Is(err, timelines.ErrSignedOut) {
		p = Problem{Status: http.StatusUnauthorized, Code: "token_wrong", Detail: "There is no such token, or it is over."}
	} else if gone, ok := errors.AsType[*changes.GoneError](err); ok {
		p = Problem{
			Status: http.StatusGone, Code: "changes_gone", First: strconv.FormatInt(gone.First, 10),
			Detail: "The log does not go back that far. Read anew what you keep, and go on after first.",
		}
	} else if changed, ok := errors.AsType[*stages.ChangedError](err); ok {
		p = Problem{Status: http.StatusPreconditionFailed, Code: "state_changed", Version: &changed.Version, Detail: "The state is another one now. Read it again."}
		if changed.Version == 0 {
			p.Detail = "There is no such state now."
		}
	} else if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p = Problem{Status: http.StatusRequestEntityTooLarge, Code: "body_large", Detail: fmt.Sprintf("The body may have %d bytes.", large.Limit)}
	} else if known, ok := errors.AsType[*Problem](err); ok {
		p = *known
	} else {
		p = a.cfg.Problem(ctx, err)
	}
	p.Type, p.Title = cmp.Or(p.Type, "about:blank"), cmp.Or(p.Title, http.StatusText(p.Status))
	return &p
}

// refuse answers a call that reaches no operation.
func (a *API) refuse(ctx huma.Context, p *Problem) {
	for name, values := range p.GetHeaders() {
		for _, v := range values {
			ctx.SetHeader(name, v)
		}
	}
	ctx.SetHeader("Content-Type", "application/problem+json")
	ctx.SetStatus(p.Status)
	if err := json.NewEncoder(ctx.BodyWriter()).Encode(p); err != nil {
		a.cfg.Log.InfoContext(ctx.Context(), "nobody read an answer", "error", err)
	}
}

// invalidCall is the problem of a call whose parameters or body are not as the document says.
func invalidCall(status int, _ string, errs ...error) huma.StatusError {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: "call_invalid", Detail: "The call is not as the document at /api/openapi.json says."}
	if status == http.StatusRequestEntityTooLarge {
		return bodyLarge()
	}
	for _, err := range errs {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return bodyLarge() // it came in chunks
		}
		if detailed, ok := err.(huma.ErrorDetailer); ok {
			d := detailed.ErrorDetail()
			_, field, _ := strings.Cut(d.Location, ".")
			p.Errors = append(p.Errors, Detail{Field: cmp.Or(field, d.Location), Code: "call_invalid", Detail: d.Message})
		} else if err != nil {
			p.Errors = append(p.Errors, Detail{Code: "call_invalid", Detail: err.Error()})
		}
	}
	return p
}

func bodyLarge() *Problem {
	const status = http.StatusRequestEntityTooLarge
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: "body_large", Detail: fmt.Sprintf("The body may have %d bytes.", maxBody)}
}

// The library makes the errors of its checks by this variable.
func init() { huma.NewError = invalidCall }

package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/changes"
)

// Scope is something that a token allows.
type Scope string

// The scopes.
const (
	Read    Scope = "read"
	Write   Scope = "write"
	Changes Scope = "changes"
)

// Caller is who calls: the token, and its owner.
type Caller struct {
	Token  int64
	Viewer timelines.Viewer
	Scopes []Scope
	// Everything: the token reads what anybody may read, for an administrator.
	Everything bool
}

// Config is what the API needs of the site. All fields must be set.
type Config struct {
	Rivers    *rivers.Store
	Tiers     *tiers.Tiers
	Timelines *timelines.Store
	Changes   *changes.Store
	// Admit returns whose token it is. Errors: timelines.ErrSignedOut.
	Admit func(ctx context.Context, token string) (Caller, error)
	// AllowWrite counts a change of an account. Its error has an answer in Problem.
	AllowWrite func(account int64) error
	// PageOf returns the river behind a page's address.
	PageOf func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error)
	// Problem puts an error into words. Only for errors that Detail.Status of 500 answers it logs.
	Problem func(ctx context.Context, err error) Problem
	// Base is the site's address, without a slash at its end.
	Base string
	Log  *slog.Logger
}

// API serves the addresses under /api/ that programs with a token use.
type API struct {
	cfg     Config
	huma    huma.API
	mux     *http.ServeMux
	calls   *callLimits
	follows *follower
}

// callsPerMinute is how many calls one token may make at once, and in a minute from then on.
const callsPerMinute = 600

// maxBody bounds the body of a call.
const maxBody = 1 << 20

// New registers the operations.
func New(cfg Config) *API {
	a := &API{cfg: cfg, mux: http.NewServeMux(), calls: newCallLimits(callsPerMinute), follows: newFollower(cfg.Changes)}
	c := huma.DefaultConfig("riverrun", "1")
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/api/openapi", "", ""
	c.CreateHooks = nil // no links to schemas in answers
	c.Info.Description = "What people see and do on this site, for programs. A token is made in the settings."
	c.Servers = []*huma.Server{{URL: cfg.Base}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "an app token"},
	}
	a.huma = humago.New(a.mux, c)
	a.registerPosts()
	a.registerRivers()
	a.registerChanges()
	return a
}

// Handler serves the API.
func (a *API) Handler() http.Handler { return tagged(a.mux) }

// Close ends the long polls.
func (a *API) Close() { a.follows.close() }

type callerKey struct{}

// callerOf returns who calls an operation.
func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// operation is an operation that a scope allows.
func operation(scope Scope, method, path, id, summary string) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: maxBody,
		Security: []map[string][]string{{"token": {string(scope)}}}, DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests},
	}
	if strings.Contains(path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	return op
}

// register registers an operation. Its errors are put into words in one place.
func register[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	scope := Scope(op.Security[0]["token"][0])
	op.Middlewares = huma.Middlewares{a.admit(scope)}
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
}

// admit lets a call through whose token allows the scope.
func (a *API) admit(scope Scope) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		caller, err := a.caller(ctx, scope)
		if err != nil {
			a.refuse(ctx, a.problem(ctx.Context(), err))
			return
		}
		next(huma.WithValue(ctx, callerKey{}, caller))
	}
}

func (a *API) caller(ctx huma.Context, scope Scope) (Caller, error) {
	kind, token, _ := strings.Cut(ctx.Header("Authorization"), " ")
	if token = strings.TrimSpace(token); token == "" || !strings.EqualFold(kind, "Bearer") {
		return Caller{}, timelines.ErrSignedOut
	}
	caller, err := a.cfg.Admit(ctx.Context(), token)
	if err != nil {
		return Caller{}, err
	}
	allowed := false
	for _, has := range caller.Scopes {
		allowed = allowed || has == scope
	}
	if !allowed {
		return Caller{}, &scopeError{scope}
	}
	left, wait := a.calls.take(caller.Token)
	ctx.SetHeader("RateLimit-Limit", strconv.Itoa(callsPerMinute))
	ctx.SetHeader("RateLimit-Remaining", strconv.Itoa(left))
	if wait > 0 {
		return Caller{}, &tooManyError{wait}
	}
	if length, err := strconv.ParseInt(ctx.Header("Content-Length"), 10, 64); err == nil && length > maxBody {
		return Caller{}, &http.MaxBytesError{Limit: maxBody}
	}
	return caller, nil
}

// act makes a change as the caller. The answer to a success comes after the caller's own rivers have it.
func (a *API) act(ctx context.Context, do func(ctx context.Context, actor int64) (timelines.Change, error)) (timelines.Change, error) {
	actor := callerOf(ctx).Viewer.AccountID
	if err := a.cfg.AllowWrite(actor); err != nil {
		return timelines.Change{}, err
	}
	var c timelines.Change
	_, err := a.cfg.Tiers.Act(ctx, func(ctx context.Context) (_ timelines.Change, err error) {
		c, err = do(ctx, actor)
		return c, err
	})
	return c, err
}

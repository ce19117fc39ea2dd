package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/changes"
	"riverrun/timelines/moderation"
	"riverrun/timelines/stages"
	"riverrun/timelines/tokens"
)

// Config is what the API needs of the site. All fields must be set.
type Config struct {
	Rivers    *rivers.Store
	Tiers     *tiers.Tiers
	Timelines *timelines.Store
	Changes   *changes.Store
	Stages    *stages.Store
	Opinions  *moderation.Store
	// MayWrite counts a change of the viewer, or says why there may be none.
	MayWrite func(ctx context.Context, v timelines.Viewer) error
	// Used notes that a token is used.
	Used func(timelines.Session)
	// PageOf returns the river behind a page's address.
	PageOf func(ctx context.Context, v timelines.Viewer, path string, query url.Values) (rivers.Name, error)
	// Problem puts an error into words, in English, and logs those that are faults of the server.
	Problem func(ctx context.Context, err error) Problem
	// Sources and Hubs serve the operations that the site serves itself.
	Sources SourceCalls
	Hubs    HubCalls
	// Timeout is how long a call may wait for the databases.
	Timeout time.Duration
	// Base is the site's address, without a slash at its end.
	Base string
	Log  *slog.Logger
}

// API has the addresses under /api/. Those that programs with an app token use it serves itself.
type API struct {
	cfg     Config
	huma    huma.API
	calls   *callLimits
	follows *follower
	log     *lines.Log
}

// CallsPerMinute is how many calls one token may make at once, and in a minute from then on.
const CallsPerMinute = 600

// maxBody bounds the body of a call.
const maxBody = 1 << 20

// New returns the API. Close must be called.
func New(cfg Config) *API {
	return &API{cfg: cfg, calls: newCallLimits(CallsPerMinute), follows: newFollower(cfg.Changes), log: lines.Open(cfg.Rivers, cfg.Changes, cfg.Base)}
}

// Routes adds the addresses of all operations to a router.
func (a *API) Routes(mux Router) {
	c := huma.DefaultConfig("riverrun", "1")
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "/api/openapi", "", ""
	c.CreateHooks = nil // no links to schemas in answers
	c.Info.Description = "What people see and do on this site, for programs. A token is made in the settings."
	c.Servers = []*huma.Server{{URL: a.cfg.Base}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		string(ByToken):  {Type: "http", Scheme: "bearer", Description: "An app token, which a person makes in the settings. It allows what its scopes say."},
		string(BySource): {Type: "http", Scheme: "bearer", Description: "The token of a source whose items a program pushes, from the source's page. It allows this alone, and the token of no other source does."},
	}
	a.huma = humago.New(adapter{mux}, c)
	a.registerPosts()
	a.registerRivers()
	a.registerChanges()
	a.registerStages()
	a.registerModeration()
	a.registerSources(c, mux)
}

// Router is what has the addresses of a site.
type Router interface {
	Handle(pattern string, handler http.Handler)
}

// adapter is a Router as the library wants one.
type adapter struct{ Router }

func (m adapter) HandleFunc(pattern string, handle func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, tagged(http.HandlerFunc(handle)))
}

// ServeHTTP is of the library's own router, which is not used.
func (adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// Close ends the long polls.
func (a *API) Close() { a.follows.close() }

type callerKey struct{}

// callerOf returns the token that an operation was called with.
func callerOf(ctx context.Context) access.Token {
	t, _ := ctx.Value(callerKey{}).(access.Token)
	return t
}

// operation is an operation that a scope allows.
func operation(scope tokens.Scope, method, path, id, summary string) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: maxBody,
		Security: []map[string][]string{{string(ByToken): {string(scope)}}}, DefaultStatus: http.StatusOK,
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests},
	}
	if strings.Contains(path, "{") {
		op.Errors = append(op.Errors, http.StatusNotFound)
	}
	return op
}

// register registers an operation. Its errors are put into words in one place.
func register[I, O any](a *API, op huma.Operation, handler func(context.Context, *I) (*O, error)) {
	scope := tokens.Scope(op.Security[0][string(ByToken)][0])
	op.Middlewares = huma.Middlewares{a.admit(scope, op.Path != changesPath)} // lines bounds what may wait for the log
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
}

// admit lets a call through whose token allows the scope. If whole is set, all of the call has Config.Timeout.
func (a *API) admit(scope tokens.Scope, whole bool) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		in, cancel := context.WithTimeout(ctx.Context(), a.cfg.Timeout)
		defer cancel()
		bounded := huma.WithContext(ctx, in)
		caller, err := a.caller(bounded, scope)
		if err != nil {
			a.refuse(ctx, a.problem(ctx.Context(), err))
			return
		}
		if whole {
			ctx = bounded
		}
		next(huma.WithValue(ctx, callerKey{}, caller))
	}
}

func (a *API) caller(ctx huma.Context, scope tokens.Scope) (access.Token, error) {
	kind, text, _ := strings.Cut(ctx.Header("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return access.Token{}, timelines.ErrSignedOut
	}
	if ctx.Method() != http.MethodGet {
		// Nothing that a change reads says whether the token has ended meanwhile.
		if err := a.cfg.Rivers.RefreshAccess(ctx.Context()); err != nil {
			return access.Token{}, err
		}
	}
	caller, err := a.cfg.Rivers.Access().Token(ctx.Context(), strings.TrimSpace(text))
	if err != nil {
		return access.Token{}, err
	}
	if !caller.May(scope) {
		return access.Token{}, &scopeError{scope}
	}
	left, wait := a.calls.take(caller.ID)
	ctx.SetHeader("RateLimit-Limit", strconv.Itoa(CallsPerMinute))
	ctx.SetHeader("RateLimit-Remaining", strconv.Itoa(left))
	if wait > 0 {
		return access.Token{}, &tooManyError{wait}
	}
	if length, err := strconv.ParseInt(ctx.Header("Content-Length"), 10, 64); err == nil && length > maxBody {
		return access.Token{}, &http.MaxBytesError{Limit: maxBody}
	}
	a.cfg.Used(caller.Viewer.Session)
	return caller, nil
}

// mayWrite comes before each change that the caller makes. It returns the caller's account.
func (a *API) mayWrite(ctx context.Context) (actor int64, err error) {
	caller := callerOf(ctx).Viewer
	return caller.AccountID, a.cfg.MayWrite(ctx, caller)
}

// carry returns tiers.Carry for a call, so that a change can be its argument. The answer to a success comes after the
// caller's own rivers have the change.
func (a *API) carry(ctx context.Context) func(timelines.Change, error) (timelines.Change, error) {
	return func(c timelines.Change, err error) (timelines.Change, error) { return a.cfg.Tiers.Carry(ctx, c, err) }
}

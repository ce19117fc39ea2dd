package adminpages

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/rivers"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/leaving"
	"riverrun/timelines/moderation"
	"riverrun/timelines/reports"
	"riverrun/timelines/site"
	"riverrun/web/pulse"
	"riverrun/web/view"
)

// Call is one request of one of the staff, and the answer to it.
type Call interface {
	Request() *http.Request
	// By is who asks, and Role what they may do.
	By() admin.By
	Role() admin.Role
	// Base is that of a page. It is another one each time.
	Base() *view.Base
	// MayChange comes before each change: it takes one from the limit of who asks.
	MayChange() error
	// Carry takes what a change returned, and returns when it is acknowledged (tiers.Tiers.Carry).
	Carry(change timelines.Change, err error) error
	// Show answers with a page.
	Show(page view.Component) error
	// Again answers with the page of a form that has an error, or returns err if it is no error of a
	// form.
	Again(err error, page func(view.FormError) (view.Component, error)) error
	// Address is the whole address of a page of this site, for people to pass on.
	Address(path string) string
	// Done answers a form that was done, with a redirect.
	Done(address string) error
}

// Route is an address of these pages.
type Route struct {
	Pattern string
	Least   admin.Role // others do not learn that there is such a page
	Handle  func(Call) error
}

// Pages are the pages. They are safe for concurrent use.
type Pages struct {
	staff    *admin.Store
	reports  *reports.Store
	opinions *moderation.Store
	settings *site.Store
	leaving  *leaving.Store
	doors    doorPages
	process  Process
	primary  *pgxpool.Pool
}

// Process is what the pages ask of the process that serves them, and of rivers.
type Process struct {
	Rivers *rivers.Store
	Tiers  *tiers.Tiers
	Pulse  *pulse.Recorder
	// Sockets returns how many sockets of this process show a river, and how many show the same page
	// without signing in.
	Sockets func(rivers.Name) (its, anonymous int)
	// RiverOf returns the river of an address as a person sees it; web.RiverOf.
	RiverOf func(ctx context.Context, page, as string) (rivers.Name, error)
	// Jobs says how the jobs of all processes stand; nil: nobody knows.
	Jobs   func(context.Context, pgx.Tx) ([]JobKind, error)
	Limits []Limit
	Log    *slog.Logger
}

// JobKind is how the jobs of one kind stand.
type JobKind struct {
	Kind string
	// Failed fail again and again, or will not be tried again.
	Waiting, Running, Failed int64
}

// Limit is a setting of the operator that limits something.
type Limit struct {
	Setting, Value string
	Meaning        string // in English
}

// New returns the pages of a site.
func New(t *timelines.Store, process Process) *Pages {
	return &Pages{
		staff: admin.Open(t), reports: reports.Open(t), opinions: moderation.Open(t), settings: site.Open(t), leaving: leaving.Open(t), doors: newDoorPages(t), process: process, primary: t.Pool(),
	}
}

// Routes are the addresses of all pages.
func (p *Pages) Routes() []Route {
	return append(p.doors.routes(), []Route{
		{"GET " + Path, admin.Moderator, p.start},
		{"GET " + peoplePath, admin.Moderator, p.people},
		{"GET " + personPattern, admin.Moderator, p.person},
		{"POST " + personPattern + "/suspend", admin.Moderator, p.suspend},
		{"POST " + personPattern + "/restore", admin.Moderator, p.restore},
		{"POST " + personPattern + "/role", admin.Administrator, p.setRole},
		{"POST " + personPattern + "/link", admin.Administrator, p.newLink},
		{"GET " + claimPath, admin.Nobody, p.claimForm},
		{"POST " + claimPath, admin.Nobody, p.claim},
		{"POST " + personPattern + "/remove-posts", admin.Moderator, p.removePosts},
		{"POST " + personPattern + "/delete", admin.Administrator, p.deleteAccount},
		{"POST " + personPattern + "/keep", admin.Administrator, p.keepAccount},
		{"GET " + moderatePost, admin.Moderator, p.moderatePostPage},
		{"POST " + opinionOnPost, admin.Moderator, p.decide},
		{"POST " + moderatePost, admin.Moderator, p.removePost},
		{"GET " + moderateComment, admin.Moderator, p.moderateCommentPage},
		{"POST " + moderateComment, admin.Moderator, p.removeComment},
		{"GET " + reportsPath, admin.Moderator, p.reportQueue},
		{"GET " + reportPattern, admin.Moderator, p.report},
		{"POST " + reportPattern + "/take", admin.Moderator, p.onReport("taken", p.takeReport)},
		{"POST " + reportPattern + "/note", admin.Moderator, p.onReport("noted", p.noteReport)},
		{"POST " + reportPattern + "/done", admin.Moderator, p.onReport("ended", p.endReport)},
		{"POST " + reportPattern + "/remove", admin.Moderator, p.onReport("removed", p.removeReported)},
		{"GET " + sitePath, admin.Administrator, p.site},
		{"POST " + sitePath, admin.Administrator, p.setSite},
		{"GET " + actsPath, admin.Administrator, p.acts},
		{"GET " + healthPath, admin.Administrator, p.health},
		{"GET " + riversPath, admin.Administrator, p.river},
		{"POST " + riversPath + "/rebuild", admin.Administrator, p.rebuildRiver},
		{"GET " + limitsPath, admin.Administrator, p.limits},
		{"GET " + storagePath, admin.Administrator, p.storage},
	}...)
}

// Addresses of the pages.
const (
	Path          = "/admin"
	peoplePath    = Path + "/people"
	personPattern = peoplePath + "/{name}"
	sitePath      = Path + "/site"
	actsPath      = Path + "/acts"
	healthPath    = Path + "/health"
	riversPath    = Path + "/rivers"
	limitsPath    = Path + "/limits"
	storagePath   = Path + "/storage"
)

// PersonPath is the address of the page about a person.
func PersonPath(name string) string { return peoplePath + "/" + name }

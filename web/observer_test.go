package web_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"riverrun/jobs"
	"riverrun/jobs/fetch"
	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/rivers/lines"
	"riverrun/tiers"
	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/blobs"
	"riverrun/timelines/changes"
	"riverrun/timelines/exports"
	"riverrun/timelines/hooks"
	"riverrun/timelines/leaving"
	"riverrun/timelines/publishing"
	"riverrun/timelines/sources"
	"riverrun/web"
	"riverrun/web/live"
	"riverrun/web/webtest"
)

// How much is observed. The bound is a number of acts and not a time, so that a slow
// machine tests as much as a fast one; RIVERRUN_SOAK multiplies it.
const (
	observedSeeds = 8  // acts of each actor before anybody looks
	observedActs  = 16 // of each actor while everybody looks
	observedLooks = 20 // of each reader
	calmActs      = 8  // of each actor before all comes to rest, beside the plays
)

// Forms sent by several people at once to two nodes, readers of all kinds of
// pages on both and open pages, with jobs and bus as in production; and an
// observer who knows only what was asked and answered (observer_facts_test.go)
// and judges every byte that is served or pushed. At rest every open page equals
// a reload, and every river one built anew.
func TestObservedTown(t *testing.T) {
	w := newObserved(t, true, 2)
	w.populate()
	var followers []*follower
	for i, p := range append(slices.Clone(w.people), nil) {
		for j := range 3 {
			fl := &follower{observed: w, who: p, rng: w.chance(4, uint64(i*10+j)), nodes: w.nodes, stays: j < 2}
			followers = append(followers, fl)
		}
	}
	w.live(followers, allActs, w.nodes, w.nodes)
	w.calm()
	w.rest()
	for _, fl := range append(followers, w.watching...) {
		if fl.stays {
			fl.equalsReload()
		}
		fl.end()
	}
	w.sound()
	w.programsWere()
}

// With all workers and the bus stopped, what is narrowed on one node is shown by
// others no more (R4), neither on a page nor in a push: hubs are asked for all
// posts after each form.
func TestObservedStandstill(t *testing.T) {
	w := newObserved(t, false, 3)
	w.populate()
	var followers []*follower
	for i, p := range append(slices.Clone(w.people), nil) {
		for j := range 3 {
			fl := &follower{observed: w, who: p, rng: w.chance(4, uint64(i*10+j)), nodes: w.nodes[1:2]}
			if j < 2 {
				// Nobody loads a page from the third node: what its hub knows, it finds out
				// itself.
				fl.nodes, fl.stays = w.nodes[2:], true
			}
			followers = append(followers, fl)
		}
	}
	(&reader{observed: w, node: w.nodes[1]}).warm()
	// Comments bring posts before the hubs again, which must have learned meanwhile who may
	// not see them any more.
	acts := append([]deed{{40, (*actor).comment}, {12, (*actor).setLevel}, {12, (*actor).setReader}, {30, (*actor).flow}}, narrowingActs...)
	w.live(followers, acts, w.nodes[:1], w.nodes[1:2])
	for _, fl := range append(followers, w.watching...) {
		fl.end()
	}
	w.programsWere()
}

// observed is a site of several nodes over one pair of stores, those who live there,
// and the observer.
type observed struct {
	t     testing.TB
	seed  uint64
	scale int
	// seeds, acts and looks are observedSeeds, observedActs and observedLooks, or a third of
	// them with -short.
	seeds, acts, looks int
	db                 *testdb.DB
	files              string   // the directory of uploads
	copies             sync.Map // the *kept of pages, by who has them and their address
	facts              *facts
	nodes              []*webtest.Site
	moderator          string           // the token of a program that blocks posts
	opined             atomic.Int64     // how many opinions it gave
	lively             bool             // jobs and bus run
	beat               <-chan time.Time // of the nodes' hubs; nil: each second
	people             []*resident
	quiet              *resident // whom nothing may reach
	office             *resident // an administrator of the site
	guests             []string  // names of those who come, and are sent away
	regular            *resident // the first of them; plays alone change this and the next
	suspended          bool      // the regular guest is
	groups             []string
	// gates are held while somebody changes who may read an account's places.
	gates map[string]*sync.Mutex
	serve map[*webtest.Site]*timedRivers

	programs []*observedProgram
	reads    []*operation

	plays    []*play
	watchMu  sync.Mutex  // guards watching
	watching []*follower // the pages opened for plays

	hotMu sync.Mutex // guards the fields below
	hot   []string   // addresses just narrowed
	loose []string   // addresses of files of drafts

	hookMu    sync.Mutex // guards decisions
	decisions map[[sha256.Size]byte][]decided
	delivered atomic.Int64 // deliveries of webhooks judged

	serial  atomic.Int64 // of tokens and writings
	judged  atomic.Int64 // servings
	tokens  atomic.Int64 // judged
	pushes  atomic.Int64 // frames judged
	refused atomic.Int64 // forms
	done    atomic.Int64
	wrong   atomic.Int64
}

// maxComplaints is how many violations are reported one by one.
const maxComplaints = 5

func newObserved(t testing.TB, lively bool, nodes int) *observed {
	t.Helper()
	seed, scale := testdb.Chance(t)
	w := &observed{
		files: t.TempDir(),
		t:     t, seed: seed, scale: scale, lively: lively, db: testdb.New(t), facts: newFacts(),
		gates: map[string]*sync.Mutex{}, serve: map[*webtest.Site]*timedRivers{},
		decisions: map[[sha256.Size]byte][]decided{},
		seeds:     observedSeeds, acts: observedActs, looks: observedLooks,
	}
	if testing.Short() {
		w.seeds, w.acts, w.looks = w.seeds/3, w.acts/3, w.looks/3
	}
	if err := jobs.Migrate(t.Context(), w.db.Primary); err != nil {
		t.Fatal(err)
	}
	for range nodes {
		w.addNode()
	}
	return w
}

func (w *observed) chance(who, which uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, who<<32|which))
}

// addNode starts a node, as cmd/riverrun does: without jobs and bus unless the
// site is lively.
func (w *observed) addNode() {
	t := w.t
	t.Helper()
	ctx := t.Context()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	announcer, err := jobs.NewAnnouncer(log)
	if err != nil {
		t.Fatal(err)
	}
	options := webtest.StoreOptions(t)
	options.BestOf, options.MostFaved = 2, 2
	options.FirstDay = 0 // newcomers reach everybody
	primary, secondary := testdb.Open(t, w.db.PrimaryURL), testdb.Open(t, w.db.SecondaryURL)
	n := &webtest.Site{T: t, DB: w.db}
	n.Store = timelines.Open(primary, announcer, options)
	rivered := rivers.DefaultOptions()
	if len(w.nodes)%2 == 1 {
		rivered.Few = -1 // its changes reach other people's pages by Tier 1 and Tier 2
	}
	n.Rivers = rivers.Open(secondary, n.Store, log, rivered)
	n.Tiers = tiers.New(tiers.Config{Timelines: n.Store, Rivers: n.Rivers, Secondary: secondary, Log: log})
	if n.Blobs, err = (blobs.Location{}).Open(ctx, w.files); err != nil {
		t.Fatal(err)
	}
	n.HTTP = httptest.NewUnstartedServer(nil)
	n.Server, err = web.New(web.Config{
		Timelines: n.Store, Rivers: n.Rivers, Tiers: n.Tiers, Blobs: n.Blobs, Log: log,
		URL:    "http://" + n.HTTP.Listener.Addr().String(),
		Limits: web.Limits{Writes: -1, SignIns: -1, SignUps: -1, Searches: -1, Pushes: -1},
		Live: func(cfg *live.Config) {
			timed := &timedRivers{Rivers: cfg.Rivers, facts: w.facts}
			w.serve[n] = timed
			cfg.Rivers, cfg.Pages = timed, stampedPages{cfg.Pages, w.facts}
			cfg.StaleAfter = observedStale
			// No comparison heals what a push should have brought.
			cfg.CompareEvery = 1 << 30
			cfg.Beat = w.beat
			if !w.lively {
				cfg.Hear = webtest.Deaf
			}
			n.Attach(cfg)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	start := []func(context.Context) error{n.Rivers.Start, n.Server.Start}
	if w.lively {
		client, err := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix(hookHost + "/32")}})
		if err != nil {
			t.Fatal(err)
		}
		work, err := jobs.New(jobs.Config{Pool: primary, Announcer: announcer, Tiers: n.Tiers, Rivers: n.Rivers, Timelines: n.Store.Maintenance, Staff: admin.Open(n.Store), Exports: exports.Open(n.Store), Changes: changes.Open(n.Store, 0), Hooks: hooks.Open(n.Store), Lines: timedLines{lines.Open(n.Rivers, changes.Open(n.Store, 0), "https://river.example"), w}, Leaving: leaving.Open(n.Store), Files: n.Store.Files, Blobs: n.Blobs, Links: n.Store.Links, Fetch: client, Pushes: n.Store.Pushes, Sources: sources.Open(n.Store), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		start = append(start, n.Tiers.Start, work.Start)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), webtest.Patience)
			defer cancel()
			if err := work.Stop(ctx); err != nil {
				t.Errorf("stop jobs: %v", err)
			}
		})
	}
	for _, start := range start {
		if err := start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	n.HTTP.Config.Handler = n.Server.Handler()
	n.HTTP.Start()
	t.Cleanup(n.Stop)
	w.nodes = append(w.nodes, n)
}

// observedStale is how old a decision may be when it is sent: short, so that the
// observer knows well when a frame was decided, and decisions are made again now
// and then.
const observedStale = 250 * time.Millisecond

// resident is somebody who lives there: one actor, seen by many readers.
type resident struct {
	*webtest.Person
	name     string
	title    string // a guest's, which is a token
	rng      *rand.Rand
	visitors []*webtest.Visitor // by node
	sources  []*flowing
	// busy is held while they do something. A step that takes several locks them in the
	// order of the people.
	busy sync.Mutex
}

// populate signs everybody up, gives them groups and sub-feeds, and lets them act
// before anybody looks.
func (w *observed) populate() {
	w.t.Helper()
	f := w.facts
	for i, name := range []string{"ann", "bob", "cat", "dan", "eve"} {
		r := w.resident(name, i)
		w.people = append(w.people, r)
		w.gates[name] = &sync.Mutex{}
		f.residents = append(f.residents, name)
		f.addPlace(name, name, timelines.Public)
		f.addPlace(name+"/private", name, timelines.Private)
		f.addPlace(directsOf+name, name, timelines.Private)
		f.addPlace(eyesOf+name, name, timelines.Private)
		level := timelines.Level(i % 3)
		title := w.token(said{place: name + "/photos"})
		f.addPlace(name+"/photos", name, level)
		r.visitors[0].Post("/settings/pages", "slug", "photos", "title", title, "access", level.String()).LeadsTo("/settings/pages?saved#page-photos")
		r.visitors[0].Post("/lists", "title", "Some").Wants(303)
	}
	w.makeQuiet()
	w.makeOffice()
	for i, level := range []timelines.Level{timelines.Public, timelines.Protected, timelines.Private} {
		name, founder := "club-"+level.String(), w.people[i]
		founder.visitors[0].Post("/groups", "name", name, "title", name, "access", level.String()).Wants(303)
		f.addPlace(name, name, level)
		f.groups[name] = true
		f.relations[tie{admits, name, founder.name}] = &history[bool]{first: true}
		f.relations[tie{follows, founder.name, name}] = &history[bool]{first: true}
		f.relations[tie{brings, founder.name, name}] = &history[bool]{first: true}
		f.relations[tie{leads, founder.name, name}] = &history[bool]{first: true}
		founder.visitors[0].Post("/settings/listings", "group", name, "currency", "EUR").Wants(303)
		w.groups = append(w.groups, name)
		w.gates[name] = &sync.Mutex{}
		w.flowsInto(founder, name, sources.New{Owner: name})
	}
	for _, r := range w.people {
		w.flowsInto(r, r.name, sources.New{Owner: r.name})
		for _, slug := range []string{"private", "photos"} {
			w.flowsInto(r, r.name+"/"+slug, sources.New{Owner: r.name, Slug: slug})
		}
	}
	// Everybody is in every group and follows everybody to begin with.
	for _, r := range w.people {
		for _, name := range w.groups {
			w.actor(r, w.nodes[:1]).subscribe(name)
			w.actor(w.founder(name), w.nodes[:1]).answer(r.name, name, true)
		}
		for _, other := range w.people {
			w.actor(r, w.nodes[:1]).subscribe(other.name)
		}
	}
	var all sync.WaitGroup
	for i, r := range w.people {
		a := w.actor(r, w.nodes[:1])
		for _, slug := range []string{"private", "photos"} {
			// Posts stand in places that some who read them elsewhere may not know of.
			a.reader("admit", slug, w.people[(i+1)%len(w.people)].name)
		}
	}
	for _, r := range w.people {
		all.Go(func() {
			a := w.actor(r, w.nodes[:1])
			for range w.seeds {
				a.write()
				a.comment()
				a.like()
			}
			for range a.sources {
				a.flow()
			}
		})
	}
	all.Wait()
	w.stage()
	w.startPrograms()
}

// makeQuiet signs up somebody who has banned everybody. Everybody's home page was looked at two
// hours ago, so that each node tells of what is new there.
func (w *observed) makeQuiet() {
	w.t.Helper()
	w.quiet = w.resident(quiet, len(w.people))
	for _, r := range w.people {
		w.quiet.visitors[0].Post("/" + r.name + "/ban").Wants(303)
		w.facts.relations[tie{bans, quiet, r.name}] = &history[bool]{first: true}
	}
	const away = `INSERT INTO home_visits (account_id, seen) SELECT id, (extract(epoch FROM now() - interval '2 hours') * 1000000)::bigint FROM accounts WHERE kind = 'user'`
	if _, err := w.db.Primary.Exec(w.t.Context(), away); err != nil {
		w.t.Fatal(err)
	}
}

// resident signs somebody up, who has a browser on every node.
func (w *observed) resident(name string, n int) *resident {
	w.t.Helper()
	r := &resident{Person: w.nodes[0].Person(name), name: name, rng: w.chance(1, uint64(n))}
	for _, node := range w.nodes {
		r.visitors = append(r.visitors, (&webtest.Person{Site: node, Token: r.Token}).Visitor())
	}
	return r
}

func (w *observed) founder(group string) *resident {
	return w.people[slices.Index(w.groups, group)]
}

// token makes a word that occurs nowhere else.
func (w *observed) token(of said) string {
	token := fmt.Sprintf("zqxjv%dk", w.serial.Add(1))
	w.facts.mu.Lock()
	defer w.facts.mu.Unlock()
	w.facts.tokens[token] = of
	return token
}

// live lets everybody act and look at once: acts on some nodes, looks on others.
func (w *observed) live(followers []*follower, acts []deed, on, from []*webtest.Site) {
	var acting, looking sync.WaitGroup
	over := make(chan struct{})
	watched := w.nodes
	if !w.lively {
		watched = w.nodes[1:] // those on which nothing is done
	}
	w.act(&acting, on, acts, w.acts*w.scale, w.schedule(5, w.acts, w.scale, w.plays), from, watched)
	for i := range 2 * len(from) {
		rd := &reader{observed: w, node: from[i%len(from)], rng: w.chance(3, uint64(i))}
		acting.Go(func() {
			for range w.looks * w.scale {
				rd.look()
			}
		})
	}
	for _, fl := range followers {
		fl.from, fl.over = from, over
		looking.Go(fl.follow)
	}
	acting.Wait()
	close(over)
	looking.Wait()
	w.t.Logf("%d forms, %d refused; %d answers and %d frames judged, %d tokens in them", w.done.Load(), w.refused.Load(),
		w.judged.Load(), w.pushes.Load(), w.tokens.Load())
	w.t.Log(w.facts.noted())
	for _, p := range w.plays {
		if got := p.played.Load(); got != int64(w.scale) {
			w.t.Errorf("%s: played %d times, want %d", p.name, got, w.scale)
		}
	}
}

// calm lets everybody do what replaces no rivers, so that what open pages show in
// the end, pushes alone have brought there.
func (w *observed) calm() {
	lasting := slices.DeleteFunc(slices.Clone(w.plays), func(p *play) bool { return !p.lasting })
	var acting sync.WaitGroup
	w.act(&acting, w.nodes, lastingActs, calmActs, w.schedule(6, calmActs, 1, lasting), w.nodes, w.nodes)
	acting.Wait()
}

// act has everybody act so often, on some nodes, and play what is due then before pages
// that are loaded from some nodes and followed on some.
func (w *observed) act(acting *sync.WaitGroup, on []*webtest.Site, acts []deed, times int, due map[turn][]*play, from, watched []*webtest.Site) {
	for _, r := range w.people {
		acting.Go(func() {
			a := w.actor(r, on)
			for i := range times {
				for _, p := range due[turn{r.name, i}] {
					w.perform(p, on, from, watched)
				}
				r.busy.Lock()
				a.step(acts)
				r.busy.Unlock()
			}
		})
	}
}

// judge complains about what should not have been served.
func (w *observed) judge(s serving, body string) {
	w.judged.Add(1)
	if testing.Short() {
		// The race detector has this run to look at the nodes. Under it the expressions that find
		// everything in a page would take nearly all of the time.
		return
	}
	w.tokens.Add(int64(len(tokenForm.FindAllString(body, -1))))
	w.complain(w.facts.judge(s, body))
}

func (w *observed) complain(wrong []string) {
	for _, text := range wrong {
		if n := w.wrong.Add(1); n <= maxComplaints {
			w.t.Error(text)
		} else if n == maxComplaints+1 {
			w.t.Error("and more")
		}
	}
}

// rest waits until nothing is left to do.
func (w *observed) rest() {
	w.t.Helper()
	left := 0
	webtest.Await(w.t, "the jobs to be done", func() bool {
		const query = `SELECT (SELECT count(*) FROM queue.river_job WHERE state IN ('available', 'running', 'retryable', 'scheduled', 'pending')
			AND kind IN ('distribute', 'distribute_batch', 'load', 'replace', 'rebuild', 'bump', 'follow', 'upkeep')) + (SELECT count(*) FROM behind)`
		if err := w.db.Primary.QueryRow(w.t.Context(), query).Scan(&left); err != nil {
			w.t.Fatal(err)
		}
		return left == 0
	}, func() string { return fmt.Sprintf("%d left", left) })
}

// sound checks every river against one built anew.
func (w *observed) sound() {
	w.t.Helper()
	for i, n := range w.nodes {
		report, err := n.Rivers.Check(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for j, d := range report.Differences {
			if j < maxComplaints {
				w.t.Errorf("node %d: check: %v", i, d)
			}
		}
		if report.Rivers == 0 {
			w.t.Error("no river to check")
		}
	}
	store := publishing.Open(w.db.Primary)
	authors, err := store.After(w.t.Context(), 0, 10_000)
	if err != nil {
		w.t.Fatal(err)
	}
	wrong, err := store.Compare(w.t.Context(), authors...)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, d := range wrong {
		w.t.Error(d)
	}
}

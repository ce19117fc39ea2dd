//go:build soak

package soak

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

var (
	lasts = flag.Duration("for", 10*time.Minute, "how long the load lasts")
	only  = flag.String("faults", "", "faults to choose from, as a regular expression; default: all")
)

// Bounds on what a fault may cost, on a machine that does everything at once.
const (
	// serves is how long after a fault is mended everything may need to answer again.
	serves = 30 * time.Second
	// whole is how long after that pages may be behind: twice the fifteen seconds in
	// which what no message told is found by comparing.
	whole = 30 * time.Second
)

// Nodes and servers are killed, messages lost or doubled while people use the site. No
// request fails by the site's own fault, nothing acknowledged is lost, every open page soon
// equals a reload, a program that follows the log has every post, and every river equals one rebuilt from nothing.
func TestSoak(t *testing.T) {
	seed, _ := testdb.Chance(t)
	chance := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	s := newSite(t)
	l := &ledger{facts: map[string]*fact{}, answered: map[int]int{}}
	var writers []*writer
	for i, name := range []string{"annie", "bobby", "cathy", "danny", "edith", "frank"} {
		writers = append(writers, &writer{visitor: s.visitor(name, chance(uint64(i))), ledger: l})
	}
	for i, w := range writers {
		for _, other := range []int{i + 1, i + 2} {
			name := writers[other%len(writers)].name
			if status, text := w.form(s.nodes[0], "/"+name+"/follow", nil); status != http.StatusOK {
				t.Fatalf("%s follows %s: %d %.300s", w.name, name, status, text)
			}
		}
		w.post()
	}
	pages, p := s.openPages(writers, chance), s.indexer(chance(2000))
	closing := make(chan struct{})
	var open sync.WaitGroup
	for _, p := range pages {
		open.Go(func() { p.follow(closing) })
	}
	open.Go(func() { p.follow(closing) })
	defer open.Wait()
	defer close(closing)

	like := regexp.MustCompile(*only)
	faults := slices.DeleteFunc(slices.Clone(faults), func(f fault) bool { return !like.MatchString(f.name) })
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if n := len(s.blamed); n > 0 {
			t.Errorf("%d answers were 500, want 503 where a database is away; the first:\n%s", n, strings.Join(s.blamed[:min(n, 5)], "\n"))
		}
	}()
	rng := chance(1000)
	for began := time.Now(); time.Since(began) < *lasts && !t.Failed(); {
		over := make(chan struct{})
		var living sync.WaitGroup
		for _, w := range writers {
			living.Go(func() { w.live(over) })
		}
		var what []string
		for range 1 + rng.IntN(3) {
			f := faults[rng.IntN(len(faults))]
			moment(time.Duration(500+rng.IntN(2500)) * time.Millisecond)
			what = append(what, f.name)
			f.do(s, rng)
		}
		mended := time.Now()
		for _, n := range s.nodes {
			n.ready(serves)
		}
		ready := time.Since(mended)
		moment(time.Second)
		close(over)
		living.Wait()
		s.atRest(fmt.Sprintf("%.0fs: %s", time.Since(began).Seconds(), strings.Join(what, ", ")), ready, pages, l, p)
	}
}

// openPages are pages of every sort, whose viewers never write from them.
func (s *site) openPages(writers []*writer, chance func(uint64) *rand.Rand) []*openPage {
	var pages []*openPage
	open := func(v *visitor, paths ...string) {
		for _, path := range paths {
			mine := *v
			mine.rng = chance(uint64(100 + len(pages)))
			pages = append(pages, &openPage{visitor: &mine, path: path})
		}
	}
	for i, w := range writers {
		open(w.visitor, "/", "/"+writers[(i+1)%len(writers)].name)
	}
	open(writers[0].visitor, "/everything", "/p/"+writers[1].mine[0], "/annie/likes", "/annie/discussions")
	open(s.visitor("", nil), "/everything", "/bobby", "/bobby/comments")
	return pages
}

// atRest demands, now that nothing happens, that all pages and rivers, and what a program has, are whole soon.
func (s *site) atRest(when string, ready time.Duration, pages []*openPage, l *ledger, program *program) {
	t := s.t
	t.Helper()
	l.keeps(t, s, when)
	began := time.Now()
	for _, p := range pages {
		left := max(whole-time.Since(began), time.Second)
		eventually(t, left, func() string {
			if wrong := p.differs(); wrong != "" {
				return when + ": " + wrong
			}
			return ""
		})
	}
	eventually(t, max(whole-time.Since(began), time.Second), func() string {
		if wrong := program.lacks(); wrong != "" {
			return when + ": " + wrong
		}
		return ""
	})
	settled := time.Since(began)
	eventually(t, max(whole-settled, time.Second), func() string {
		if out, err := s.command("check"); err != nil {
			return when + ": check: " + out
		}
		return ""
	})
	t.Logf("%s: ready after %.1fs, pages whole after %.1fs, rivers after %.1fs", when,
		ready.Seconds(), settled.Seconds(), time.Since(began).Seconds())
	t.Log(program)
}

// moment lets time pass while people use the site.
func moment(d time.Duration) { <-time.After(d) }

// fault is something that happens to a site.
type fault struct {
	name string
	do   func(s *site, rng *rand.Rand)
}

// faults are what happens to a site. Each is mended when it returns: killed processes run
// again.
var faults = []fault{
	{"a node killed", func(s *site, rng *rand.Rand) {
		n := s.nodes[rng.IntN(len(s.nodes))]
		n.kill()
		moment(time.Duration(rng.IntN(3000)) * time.Millisecond)
		n.start()
	}},
	{"both nodes killed", func(s *site, _ *rand.Rand) {
		for _, n := range s.nodes {
			n.kill()
		}
		for _, n := range s.nodes {
			n.start()
		}
	}},
	{"the primary server killed", func(s *site, rng *rand.Rand) { s.crash(rng, s.primary) }},
	{"the secondary server killed", func(s *site, rng *rand.Rand) { s.crash(rng, s.secondary) }},
	{"both servers killed", func(s *site, rng *rand.Rand) { s.crash(rng, s.primary, s.secondary) }},
	{"a table lost", func(s *site, rng *rand.Rand) {
		tables := []string{"clock", "rivers", "rivers_timelines", "entries", "folds", "visits", "leases"}
		s.secondary.exec(`TRUNCATE ` + tables[rng.IntN(len(tables))])
	}},
	{"messages lost", func(s *site, _ *rand.Rand) {
		s.secondary.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND pid <> pg_backend_pid()`)
	}},
	{"messages doubled", func(s *site, _ *rand.Rand) { s.echo(2 * time.Second) }},
	{"jobs doubled", func(s *site, _ *rand.Rand) {
		s.primary.exec(`
			INSERT INTO queue.river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags)
			SELECT args, kind, max_attempts, metadata, priority, queue, now(), 'available', tags FROM queue.river_job
			WHERE kind IN ('distribute', 'follow', 'replace', 'rebuild', 'bump') AND unique_key IS NULL
			ORDER BY random() LIMIT 200`)
	}},
}

// crash kills servers and starts them again.
func (s *site) crash(rng *rand.Rand, servers ...*server) {
	for _, server := range servers {
		server.kill()
	}
	moment(time.Duration(rng.IntN(2000)) * time.Millisecond)
	for _, server := range servers {
		server.start()
	}
}

// echo repeats what is said on the bus for a while, as if another node had said it, the
// latest first.
func (s *site) echo(during time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), during)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.secondary.url)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(s.t.Context()) // it only listens
	if _, err := conn.Exec(ctx, `LISTEN riverrun`); err != nil {
		s.t.Fatal(err)
	}
	var heard []string
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			break // the time is over
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(n.Payload), &m); err != nil {
			s.t.Errorf("a message on the bus says %q: %v", n.Payload, err)
			continue
		}
		m["n"] = "echo"
		text, err := json.Marshal(m)
		if err != nil {
			s.t.Error(err)
		}
		heard = append(heard, string(text))
	}
	slices.Reverse(heard)
	s.secondary.exec(`SELECT pg_notify('riverrun', m) FROM unnest($1::text[]) m`, heard)
}

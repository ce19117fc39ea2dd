package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/site"
)

// row is one thing that riverbench measures.
type row struct {
	name, summary string
	// measure is one repeat.
	measure func(ctx context.Context, b *bench) ([]report.Figure, error)
}

// bench is a site with people who are signed in.
type bench struct {
	*options
	site *site.Site
	load *load.Site
	// people are signed in, and have been on their home pages. strangers have never come. more are others
	// who are signed in, see atLeast.
	people, more []*load.Person
	strangers    []string
	// homes are the home pages as readHomes found them.
	homes map[*load.Person]home
	// searched is how often the row search was measured.
	searched int
}

// signedIn is how many people are signed in, or half of the town if that is less.
const signedIn = 100

// connections is how many requests are sent at once at most.
const connections = 64

func newBench(ctx context.Context, o *options, s *site.Site) (*bench, error) {
	b := &bench{options: o, site: s, load: load.NewSite(s.URL, connections)}
	var names []string
	for _, p := range s.Town.People() {
		names = append(names, p.Name)
	}
	rand.New(rand.NewPCG(o.site.Seed, 1)).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	come := min(signedIn, len(names)/2)
	b.strangers = names[come:]
	for _, name := range names[:come] {
		p, err := b.load.SignIn(ctx, name, site.Password)
		if err != nil {
			return nil, err
		}
		if _, err := p.Get(ctx, "/"); err != nil {
			return nil, err
		}
		b.people = append(b.people, p)
	}
	return b, s.Settle(ctx)
}

func (b *bench) close() { b.load.Close() }

// restart has a new server serve the town. The people remain signed in, and strangers who were signed
// in are forgotten.
func (b *bench) restart(ctx context.Context) error {
	b.load.Close()
	if err := b.site.Restart(ctx); err != nil {
		return err
	}
	b.load = load.NewSite(b.site.URL, connections)
	for _, p := range slices.Concat(b.people, b.more) {
		p.Site = b.load
	}
	return nil
}

// person is one of those who are signed in; everybody's turn comes.
func (b *bench) person(i int) *load.Person { return b.people[i%len(b.people)] }

// stranger signs somebody in who has never come.
func (b *bench) stranger(ctx context.Context) (*load.Person, error) {
	if len(b.strangers) == 0 {
		return nil, fmt.Errorf("everybody in the town has come; a town of a larger scale has more people")
	}
	name := b.strangers[0]
	b.strangers = b.strangers[1:]
	return b.load.SignIn(ctx, name, site.Password)
}

// atLeast returns those who are signed in and, if that is fewer than n, others besides, if the town has them. The others
// are strangers no longer. Some strangers remain for the rows cold and herd.
func (b *bench) atLeast(ctx context.Context, n int) ([]*load.Person, error) {
	for len(b.people)+len(b.more) < n && len(b.strangers) > 2*b.repeats {
		p, err := b.stranger(ctx)
		if err != nil {
			return nil, err
		}
		b.more = append(b.more, p)
	}
	all := slices.Concat(b.people, b.more)
	return all[:min(len(all), max(n, len(b.people)))], nil
}

// repeat measures a row once, and what it is held against, if it is: before and after.
func (b *bench) repeat(ctx context.Context, r row) ([]report.Figure, error) {
	writes, held := judged[r.name]
	held = held && b.baseline != ""
	var before, after time.Duration
	var err error
	if held {
		if before, err = b.yardstick(ctx, writes); err != nil {
			return nil, fmt.Errorf("yardstick: %w", err)
		}
	}
	figures, err := r.measure(ctx, b)
	if err != nil {
		return nil, err
	}
	if held {
		if after, err = b.yardstick(ctx, writes); err != nil {
			return nil, fmt.Errorf("yardstick: %w", err)
		}
		alone := figures[slices.IndexFunc(figures, func(f report.Figure) bool { return f.Name == "p50" })]
		figures = append(figures, figure(inYardsticks, "", 2*alone.Median()/milliseconds(before+after), 0))
	}
	for i := range figures {
		f := &figures[i]
		f.Row = r.name
		f.Aim = b.aim(f.Row, f.Name)
	}
	return figures, nil
}

// one, some and many are how many requests are under way at once.
const (
	one  = 1
	some = 8
	many = 32
)

// steady measures a kind of request: how long it takes alone, how many are answered in a second, and
// what one costs. peer has the peer's figures of the same. A run that is held against a yardstick
// needs the first alone.
func (b *bench) steady(ctx context.Context, peer peer, do func(ctx context.Context, i int) error) ([]report.Figure, error) {
	begin := 0
	// run has this many requests under way at once, until all that follows from them is done.
	run := func(loops int) (load.Ran, error) {
		ran, err := load.Closed(ctx, loops, b.during, func(ctx context.Context, i int) error { return do(ctx, begin+i) })
		if err != nil {
			return ran, err
		}
		if len(ran.Times) == 0 {
			return ran, fmt.Errorf("all %d requests were refused: %w", ran.Calls(), load.ErrBusy)
		}
		begin += ran.Calls()
		return ran, b.site.Quiet(ctx)
	}
	alone, err := run(one)
	if err != nil {
		return nil, err
	}
	figures := []report.Figure{
		figure("p50", "ms", alone.Times.Milliseconds(0.5), peer.p50),
		figure("p99", "ms", alone.Times.Milliseconds(0.99), 0),
	}
	if b.baseline != "" {
		return figures, nil
	}
	before, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	busy, err := run(some)
	if err != nil {
		return nil, err
	}
	after, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	crowded, err := run(many)
	if err != nil {
		return nil, err
	}
	used, n := after.Less(before), float64(busy.Calls())
	return append(append(figures,
		rate(fmt.Sprintf("requests, %d at once", some), busy.PerSecond(), peer.perSecond),
		rate(fmt.Sprintf("requests, %d at once", many), crowded.PerSecond(), 0),
		figure("refused of these", "%", 100*float64(crowded.Busy)/float64(crowded.Calls()), 0),
	), costs("", used, n, peer)...), nil
}

// costs are the figures of what one of n things took: processor time of each side, and statements.
// The names begin with prefix.
func costs(prefix string, used site.Usage, n float64, peer peer) []report.Figure {
	return []report.Figure{
		figure(prefix+"processor, server", "ms", milliseconds(used.Server)/n, peer.server),
		figure(prefix+"processor, PostgreSQL", "ms", milliseconds(used.PostgreSQL)/n, peer.database),
		figure(prefix+"processor, riverbench", "ms", milliseconds(used.Own)/n, 0),
		figure(prefix+"statements", "", float64(used.Statements)/n, 0),
	}
}

// peer has the FreeFeed server's figures: milliseconds, requests by the second with eight at
// once, and milliseconds of the processor for one.
type peer struct{ p50, perSecond, server, database float64 }

func figure(name, unit string, value, peer float64) report.Figure {
	return report.Figure{Name: name, Unit: unit, Values: []float64{value}, Peer: peer}
}

func rate(name string, value, peer float64) report.Figure {
	f := figure(name, "/s", value, peer)
	f.Rate = true
	return f
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

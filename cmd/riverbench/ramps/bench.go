package ramps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"riverrun/cmd/riverbench/site"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
)

// Config says what to measure.
type Config struct {
	Site site.Config
	// During is how long one measurement takes.
	During time.Duration
	// Ramps and Strategies name those to measure; all if there are none.
	Ramps, Strategies []string
}

// bench is the crowd with a primary store that it lives in.
type bench struct {
	stand  *site.Stand
	crowd  *crowd
	seed   uint64
	during time.Duration
	log    io.Writer
}

// subjects are all strategies that are measured.
var subjects = []subject{
	{"read", Linked, newRead},
	{"timed", Linked, newTimed},
	{"timed", Embedded, newTimed},
	{"sized", Linked, newSized},
	{"sized", Embedded, newSized},
	{"cache", Linked, newCache},
	{"cache", Embedded, newCache},
	{"aggregator", Linked, newAggregator},
	{"aggregator", Embedded, newAggregator},
	{"rivers", Folds, func(s strategies.Stores) strategies.Strategy { return strategies.NewRivers(s.Rivers) }},
}

func newRead(s strategies.Stores) strategies.Strategy  { return strategies.NewRead(s.Primary, 0) }
func newTimed(s strategies.Stores) strategies.Strategy { return strategies.NewTimed(s, day) }
func newSized(s strategies.Stores) strategies.Strategy { return strategies.NewSized(s, 0) }
func newCache(s strategies.Stores) strategies.Strategy {
	return strategies.NewCache(s, strategies.NewRead(s.Primary, 0), 0, 0)
}

func newAggregator(s strategies.Stores) strategies.Strategy {
	return strategies.NewAggregator(s, strategies.NewRead(s.Primary, 0), 0)
}

// Names returns the names of all strategies that are measured, each once.
func Names() []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s.name)
	}
	return slices.Compact(names)
}

// Measure goes up all ramps with all strategies. It makes a crowd of its own, each time anew, in
// c.Site.Dir, whose size is by c.Site.Scale.
func Measure(ctx context.Context, c Config) (_ []Point, err error) {
	b := &bench{seed: c.Site.Seed, during: c.During, log: c.Site.Log}
	if b.stand, err = site.OpenStand(ctx, c.Site); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.stand.Close(context.WithoutCancel(ctx))) }()
	b.crowd, err = gather(ctx, open(b.stand), c.Site.Seed, sizeOf(c.Site.Scale), b.tell)
	if err != nil {
		return nil, fmt.Errorf("make the people: %w", err)
	}
	if err := b.stand.Keep(ctx); err != nil {
		return nil, err
	}
	var points []Point
	for _, s := range subjects {
		if len(c.Strategies) > 0 && !slices.Contains(c.Strategies, s.name) {
			continue
		}
		of, err := b.climb(ctx, s, c.Ramps)
		points = append(points, of...)
		if err != nil {
			return points, fmt.Errorf("%s, %s: %w", s.name, s.content, err)
		}
	}
	return points, nil
}

// open opens the primary store.
func open(s *site.Stand) *timelines.Store {
	return timelines.Open(s.Primary, quiet{}, timelines.DefaultOptions())
}

func (b *bench) tell(format string, args ...any) { fmt.Fprintf(b.log, format+"\n", args...) }

// climb measures one strategy on the ramps. The primary store is as it was kept when a cold ramp, or
// all warm ones, begin, so that no strategy has the posts of another.
func (b *bench) climb(ctx context.Context, s subject, named []string) (points []Point, err error) {
	began := time.Now()
	var warm, cold []Ramp
	for _, r := range Ramps {
		switch {
		case len(named) > 0 && !slices.Contains(named, r.Name):
		case r.cold:
			cold = append(cold, r)
		default:
			warm = append(warm, r)
		}
	}
	at := func(p *place, r Ramp, x float64) error {
		values, err := r.measure(ctx, p, x)
		if err != nil {
			return fmt.Errorf("%s at %g: %w", r.Name, x, err)
		}
		points = append(points, Point{Ramp: r.Name, Strategy: s.name, Content: s.content, X: x, Values: values})
		return nil
	}
	if len(warm) > 0 {
		if err := b.stand.Restore(ctx); err != nil {
			return points, err
		}
		err := b.in(ctx, s, func(p *place) error {
			readers := slices.Clone(b.crowd.members[:b.crowd.active])
			for _, n := range b.crowd.followed {
				readers = append(readers, b.crowd.readers[n])
			}
			if err := p.come(ctx, readers); err != nil {
				return err
			}
			for _, r := range warm {
				for _, x := range r.at(b.crowd.size) {
					if err := at(p, r, x); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			return points, err
		}
	}
	for _, r := range cold {
		if err := b.stand.Restore(ctx); err != nil {
			return points, err
		}
		for _, x := range r.at(b.crowd.size) {
			if err := b.in(ctx, s, func(p *place) error { return at(p, r, x) }); err != nil {
				return points, err
			}
		}
	}
	b.tell("%s, %s: %v", s.name, s.content, time.Since(began).Round(time.Second))
	return points, nil
}

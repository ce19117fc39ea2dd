package ramps

import (
	"context"
	"math/rand/v2"

	"riverrun/rivers"
)

// Ramp is one thing that grows while the rest stays.
type Ramp struct {
	Name, Summary string
	// X says what grows.
	X string
	// at returns the places of the ramp.
	at func(size) []float64
	// cold says that nobody has a feed yet at each place. Otherwise all who read have one.
	cold    bool
	measure func(ctx context.Context, p *place, x float64) (map[string]float64, error)
}

// zipf is how reading is spread where nothing else is said: some people read much more.
const zipf = 1

// usual is how many reads there are to a post where nothing else is said.
const usual = 10

// runIn is how many times as long as one measurement takes something goes on before, where feeds
// come into being meanwhile.
const runIn = 2

// Ramps are those of source 001, in the order of the table. Those that only read come first, since
// the others leave posts behind.
var Ramps = []Ramp{
	{
		Name: "followed", X: "followed", Summary: "the first page of somebody who follows so many",
		at: func(s size) []float64 { return floats(s.followed) },
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			return p.reads(ctx, func(ctx context.Context, _ int) error {
				_, _, err := p.read(ctx, p.crowd.readers[int(x)], rivers.Cursor{})
				return err
			})
		},
	},
	{
		Name: "depth", X: "page", Summary: "the pages further down, of somebody who follows many",
		at: func(size) []float64 { return []float64{1, 2, 5, 10, 20, 40} },
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			reader := p.crowd.readers[p.crowd.followed[len(p.crowd.followed)-1]]
			var below rivers.Cursor
			for range int(x) - 1 {
				next, _, err := p.read(ctx, reader, below)
				if err != nil {
					return nil, err
				}
				if next.Top() {
					break // the feed ends before
				}
				below = next
			}
			return p.reads(ctx, func(ctx context.Context, _ int) error {
				_, _, err := p.read(ctx, reader, below)
				return err
			})
		},
	},
	{
		Name: "lifted", X: "followers", Summary: "a comment that lifts an old post of somebody with so many followers, all of them active",
		at: func(s size) []float64 { return floats(s.followers) },
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			author := p.crowd.authors[int(x)]
			codes, err := p.oldest(ctx, author)
			if err != nil {
				return nil, err
			}
			figures := written{LiftP50, LiftP99, Lifts, LiftCPU, LiftRows}
			return p.writes(ctx, figures, len(codes), func(ctx context.Context, i int) error { return p.lift(ctx, author, codes[i]) })
		},
	},
	{
		Name: "followers", X: "followers", Summary: "a post of somebody with so many followers, all of them active",
		at: func(s size) []float64 { return floats(s.followers) },
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			figures := written{PostP50, PostP99, Posts, PostCPU, Rows}
			return p.writes(ctx, figures, 0, func(ctx context.Context, _ int) error { return p.post(ctx, p.crowd.authors[int(x)]) })
		},
	},
	{
		Name: "ratio", X: "reads to a post", Summary: "reads and posts together, eight at once; everybody is active",
		at: func(size) []float64 { return []float64{0.01, 0.1, 1, 10, 100} },
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			return p.mixed(ctx, x, p.among(p.crowd.active, zipf))
		},
	},
	{
		Name: "zipf", X: "exponent", Summary: "ten reads to a post; the more the exponent, the fewer people do most of the reading. Nobody has a feed in the beginning",
		at: func(size) []float64 { return []float64{0, 0.5, 0.8, 1, 1.2, 1.5} }, cold: true,
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			for range runIn {
				if _, err := p.mixed(ctx, usual, p.among(p.crowd.active, x)); err != nil {
					return nil, err
				}
			}
			return p.mixed(ctx, usual, p.among(p.crowd.active, x))
		},
	},
	{
		Name: "active", X: "% active", Summary: "ten reads to a post; so many of the people read, and all of them write",
		at: func(size) []float64 { return []float64{1, 5, 20, 50, 100} }, cold: true,
		measure: func(ctx context.Context, p *place, x float64) (map[string]float64, error) {
			n := max(1, int(x*float64(p.crowd.active)/100))
			if err := p.come(ctx, p.readers()[:n]); err != nil {
				return nil, err
			}
			stored, err := p.stand.Stored(ctx)
			if err != nil {
				return nil, err
			}
			values, err := p.mixed(ctx, usual, p.among(n, zipf))
			if err != nil {
				return nil, err
			}
			values[Bytes] = float64(stored) / 1e6
			return values, nil
		},
	},
}

// readers are the active members in the order of how much they read, which has nothing to do with
// how many follow them.
func (p *place) readers() []int64 {
	readers := make([]int64, p.crowd.active)
	for i, j := range rand.New(rand.NewPCG(p.seed, 3)).Perm(len(readers)) {
		readers[i] = p.crowd.members[j]
	}
	return readers
}

// among chooses one of these many readers, by that exponent.
func (p *place) among(n int, exponent float64) func(*rand.Rand) int64 {
	readers, c := p.readers(), newChance(n, exponent)
	return func(r *rand.Rand) int64 { return readers[c.one(r)] }
}

func floats(ints []int) []float64 {
	all := make([]float64, len(ints))
	for i, n := range ints {
		all[i] = float64(n)
	}
	return all
}

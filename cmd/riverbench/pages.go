package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
)

// address returns the address of a page for the ith request, and who asks for it.
type address func(b *bench, i int) (*load.Person, string)

func homePage(b *bench, i int) (*load.Person, string) { return b.person(i), "/" }
func discussionsPage(b *bench, i int) (*load.Person, string) {
	return b.person(i), "/filter/discussions"
}
func everythingPage(b *bench, i int) (*load.Person, string) { return b.person(i), "/everything" }

// userPage is that of a public person who has visited too.
func userPage(b *bench, i int) (*load.Person, string) {
	all := b.site.Town.People()
	for j := i; ; j++ {
		if p := all[j%len(all)]; !p.Private {
			return b.person(i), "/" + p.Name
		}
	}
}

// singlePage is that of a post on the reader's home page.
func singlePage(b *bench, i int) (*load.Person, string) {
	p := b.person(i)
	posts := b.postsOf(p)
	return p, "/p/" + posts[(i/len(b.people))%len(posts)]
}

// page measures a page that is there already: each is loaded once before.
func page(of peer, at address) func(context.Context, *bench) ([]report.Figure, error) {
	return func(ctx context.Context, b *bench) ([]report.Figure, error) {
		if err := b.readHomes(ctx); err != nil {
			return nil, err
		}
		// Later requests ask for these pages again.
		for i := range len(b.people) {
			p, path := at(b, i)
			if _, err := p.Get(ctx, path); err != nil {
				return nil, err
			}
		}
		if err := b.site.Settle(ctx); err != nil {
			return nil, err
		}
		figures, err := b.steady(ctx, of, func(ctx context.Context, i int) error {
			p, path := at(b, i%len(b.people))
			_, err := p.GetAs(ctx, path, "zstd, gzip")
			return err
		})
		if err != nil {
			return nil, err
		}
		var plain, sent int
		for i := range len(b.people) {
			p, path := at(b, i)
			for encodings, sum := range map[string]*int{"identity": &plain, "zstd, gzip": &sent} {
				a, err := p.GetAs(ctx, path, encodings)
				if err != nil {
					return nil, err
				}
				*sum += len(a.Body)
			}
		}
		n := float64(len(b.people)) * 1000
		return append(figures, figure("page", "kB", float64(plain)/n, 0), figure("page, compressed", "kB", float64(sent)/n, 0)), nil
	}
}

// perRepeat is how many people who have never come one repeat of cold may use.
func (b *bench) perRepeat() int {
	return max(1, min(50, (len(b.site.Town.People())-len(b.people)-2*b.repeats)/b.repeats))
}

// cold measures the first visit of people.
func cold(ctx context.Context, b *bench) ([]report.Figure, error) {
	var strangers []*load.Person
	for range b.perRepeat() {
		p, err := b.stranger(ctx)
		if err != nil {
			return nil, err
		}
		strangers = append(strangers, p)
	}
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	before, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for _, p := range strangers {
		from := time.Now()
		if _, err := p.GetAs(ctx, "/", "zstd, gzip"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(from))
	}
	after, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	used, n := after.Less(before), float64(len(took))
	times := load.Sorted(took)
	return []report.Figure{
		figure("p50", "ms", times.Milliseconds(0.5), 75.5),
		figure("slowest", "ms", times.Milliseconds(1), 0),
		figure("processor, server", "ms", milliseconds(used.Server)/n, 22.5),
		figure("processor, PostgreSQL", "ms", milliseconds(used.PostgreSQL)/n, 90.1),
		figure("statements", "", float64(used.Statements)/n, 0),
	}, nil
}

// crowd is how many requests of a herd are sent at once.
const crowd = 200

// herd has one person's browser ask for a page that was never visited, very often at once.
func herd(ctx context.Context, b *bench) ([]report.Figure, error) {
	p, err := b.stranger(ctx)
	if err != nil {
		return nil, err
	}
	before, err := b.site.HomesBuilt(ctx)
	if err != nil {
		return nil, err
	}
	var (
		wait sync.WaitGroup
		took = make([]time.Duration, crowd)
		errs = make([]error, crowd)
	)
	from := time.Now()
	for i := range crowd {
		wait.Go(func() {
			_, errs[i] = p.GetAs(ctx, "/", "zstd, gzip")
			took[i] = time.Since(from)
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	after, err := b.site.HomesBuilt(ctx)
	if err != nil {
		return nil, err
	}
	times := load.Sorted(took)
	return []report.Figure{
		figure("builds", "", after-before, 0),
		figure(fmt.Sprintf("median of %d", crowd), "ms", times.Milliseconds(0.5), 0),
		figure(fmt.Sprintf("last of %d", crowd), "ms", times.Milliseconds(1), 0),
	}, nil
}

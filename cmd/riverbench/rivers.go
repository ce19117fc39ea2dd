package main

import (
	"cmp"
	"context"
	"sync"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/site"
)

// intoRivers has many people come to their home pages. The posts of somebody whom hardly anybody follows stand in few of
// these, those of the person whom most follow in very many.
func intoRivers(ctx context.Context, b *bench) ([]report.Figure, error) {
	readers, err := b.atLeast(ctx, b.rivers)
	if err != nil {
		return nil, err
	}
	if err := b.comeHome(ctx, readers[:min(b.rivers, len(readers))]); err != nil {
		return nil, err
	}
	rank := map[string]int{}
	for i, p := range b.site.Town.People() {
		if !p.Private {
			rank[p.Name] = i + 1
		}
	}
	popular, unpopular, actor := readers[0], readers[0], readers[0]
	for _, p := range readers {
		switch at := rank[p.Name]; {
		case at == 0:
		case at < rank[popular.Name] || rank[popular.Name] == 0:
			popular = p
		case at > rank[unpopular.Name]:
			unpopular = p
		}
	}
	for _, p := range readers {
		if p != popular && p != unpopular {
			actor = p
			break
		}
	}
	figures, err := b.postAndLike(ctx, "few, ", unpopular, actor)
	if err != nil {
		return nil, err
	}
	many, err := b.postAndLike(ctx, "many, ", popular, actor)
	return append(figures, many...), err
}

// comeHome has people visit their home pages, some at once.
func (b *bench) comeHome(ctx context.Context, people []*load.Person) error {
	errs := make([]error, len(people))
	var wait sync.WaitGroup
	room := make(chan struct{}, some)
	for i, p := range people {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			_, errs[i] = p.Get(ctx, "/")
		})
	}
	wait.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	return b.site.Settle(ctx)
}

// postAndLike has the author write some posts, each until all rivers have it, and the actor like the last one and take that
// back, some times.
func (b *bench) postAndLike(ctx context.Context, prefix string, author, actor *load.Person) ([]report.Figure, error) {
	const text = "Something that many people want to know, and others not."
	// The first post says how many rivers there are.
	first, _, err := author.Write(ctx, "/everything", text)
	if err != nil {
		return nil, err
	}
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	rivers, err := b.site.Holding(ctx, first, 0)
	if err != nil {
		return nil, err
	}
	var posted, liked []time.Duration
	var code string
	for range acts {
		begin, fold := time.Now(), int64(0)
		if code, fold, err = author.Write(ctx, "/everything", text); err != nil {
			return nil, err
		}
		if err := b.site.AllHold(ctx, code, fold, rivers); err != nil {
			return nil, err
		}
		posted = append(posted, time.Since(begin))
		if err := b.site.Quiet(ctx); err != nil {
			return nil, err
		}
	}
	used, err := b.using(ctx, func() error {
		for i := range 2 * acts {
			act := "like"
			if i%2 == 1 {
				act = "unlike"
			}
			begin := time.Now()
			if _, err := actor.ActOn(ctx, code, act, "/p/"+code, nil); err != nil {
				return err
			}
			liked = append(liked, time.Since(begin))
			if err := b.site.Quiet(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := load.Sorted(posted).Milliseconds(0.5)
	return append([]report.Figure{
		figure(prefix+"rivers", "", float64(rivers), 0),
		figure(prefix+"post in all", "ms", all, 0),
		rate(prefix+"entries", float64(rivers)/all*1000, 0),
		figure(prefix+"like", "ms", load.Sorted(liked).Milliseconds(0.5), 0),
	}, costs(prefix+"like, ", used, 2*acts, peer{})...), nil
}

// using returns what the site uses while do runs.
func (b *bench) using(ctx context.Context, do func() error) (site.Usage, error) {
	before, err := b.site.Usage(ctx)
	if err != nil {
		return site.Usage{}, err
	}
	if err := do(); err != nil {
		return site.Usage{}, err
	}
	after, err := b.site.Usage(ctx)
	return after.Less(before), err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
	"riverrun/timelines/marks"
)

// tags is how many tags a post of the row rivers has. Each reader has the page of each of them.
const tags = marks.Most

// intoRivers has people visit the pages of some tags. A post that has them all comes into as many rivers as
// there are such pages.
func intoRivers(ctx context.Context, b *bench) ([]report.Figure, error) {
	author, actor := b.publicPerson(), b.people[0]
	body := "Something that is in many rivers."
	for i := range tags {
		body += " #" + tag(i)
	}
	few, err := b.write(ctx, author, "Something that is in few rivers.")
	if err != nil {
		return nil, err
	}
	figures, err := b.likes(ctx, "1 river", actor, few)
	if err != nil {
		return nil, err
	}
	rivers, err := b.visitTags(ctx)
	if err != nil {
		return nil, err
	}
	var many string
	begin := time.Now()
	for range acts {
		if many, err = b.write(ctx, author, body); err != nil {
			return nil, err
		}
	}
	took := time.Since(begin)
	name := fmt.Sprintf("%d rivers", rivers)
	figures = append(figures,
		figure("post, in all "+name, "ms", milliseconds(took)/acts, 0),
		rate("entries, of all that a post needs", float64(rivers*acts)/took.Seconds(), 0))
	more, err := b.likes(ctx, name, actor, many)
	return append(figures, more...), err
}

func tag(i int) string { return fmt.Sprintf("rivers%d", i) }

// write writes a post and waits until all rivers have it.
func (b *bench) write(ctx context.Context, author *load.Person, body string) (code string, err error) {
	if _, err := author.Act(ctx, "/posts", "/everything", url.Values{"body": {body}}); err != nil {
		return "", err
	}
	if err := b.site.Quiet(ctx); err != nil {
		return "", err
	}
	html, err := author.Get(ctx, "/"+author.Name)
	if err != nil {
		return "", err
	}
	page, err := load.ReadPage(html)
	if err != nil {
		return "", err
	}
	return page.Posts[0], nil
}

// visitTags has as many pages of tags visited as the row wants, or as the people of the town can visit.
func (b *bench) visitTags(ctx context.Context) (rivers int, err error) {
	readers, err := b.atLeast(ctx, (b.rivers+tags-1)/tags)
	if err != nil {
		return 0, err
	}
	rivers = min(b.rivers, len(readers)*tags)
	errs := make([]error, rivers)
	var wait sync.WaitGroup
	room := make(chan struct{}, some)
	for i := range rivers {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			_, errs[i] = readers[i/tags].Get(ctx, "/tag/"+tag(i%tags))
		})
	}
	wait.Wait()
	return rivers, errors.Join(cmp.Or(errs...), b.site.Settle(ctx))
}

// likes likes a post and takes that back, some times, each time until all rivers have it.
func (b *bench) likes(ctx context.Context, where string, actor *load.Person, post string) ([]report.Figure, error) {
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	before, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	var answered, done []time.Duration
	for i := range 2 * acts {
		act := "like"
		if i%2 == 1 {
			act = "unlike"
		}
		begin := time.Now()
		if _, err := actor.ActOn(ctx, post, act, "/p/"+post, nil); err != nil {
			return nil, err
		}
		answered = append(answered, time.Since(begin))
		if err := b.site.Quiet(ctx); err != nil {
			return nil, err
		}
		done = append(done, time.Since(begin))
	}
	after, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	prefix := "like, " + where + ", "
	return append([]report.Figure{
		figure(prefix+"p50", "ms", load.Sorted(answered).Milliseconds(0.5), 0),
		figure(prefix+"all, p50", "ms", load.Sorted(done).Milliseconds(0.5), 0),
	}, costs(prefix, after.Less(before), 2*acts, peer{})...), nil
}

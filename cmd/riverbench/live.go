package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/site"
)

// seenWithin bounds how long an open page may take to show a change.
const seenWithin = 30 * time.Second

// mostPages is how many pages one person has open, if the town has people enough. A site closes more than 64.
const mostPages = 50

// peopleFor is how many people have that many pages open.
func peopleFor(pages int) int { return (pages + mostPages - 1) / mostPages }

// open opens this many pages at an address, of the people in turn, a few at a time.
func (b *bench) open(ctx context.Context, n int, path string) (_ []*load.Socket, err error) {
	people, err := b.atLeast(ctx, peopleFor(n))
	if err != nil {
		return nil, err
	}
	all := make([]*load.Socket, n)
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
		}
	}()
	errs := make([]error, n)
	var wait sync.WaitGroup
	room := make(chan struct{}, some)
	for i := range n {
		room <- struct{}{}
		wait.Go(func() {
			defer func() { <-room }()
			all[i], _, errs[i] = people[i%len(people)].Follow(ctx, path)
		})
	}
	wait.Wait()
	return all, cmp.Or(errs...)
}

// crash kills a server that pages are open at, and starts another one. Their scripts find it by themselves.
func crash(ctx context.Context, b *bench) (_ []report.Figure, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages, err := b.open(ctx, b.sockets, "/")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(pages)) }()
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	took, errs := make([]time.Duration, len(pages)), make([]error, len(pages))
	var wait sync.WaitGroup
	begin := time.Now()
	for i, s := range pages {
		wait.Go(func() {
			var again *load.Socket
			if again, errs[i] = s.Return(ctx); errs[i] == nil {
				pages[i], took[i] = again, time.Since(begin)
			}
		})
	}
	if err := b.site.Crash(ctx); err != nil {
		cancel()
		wait.Wait()
		return nil, err
	}
	served := time.Since(begin)
	wait.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	for _, s := range pages {
		if s.Ended() {
			return nil, errors.New("a page that had come back was closed again")
		}
	}
	times := load.Sorted(took)
	return []report.Figure{
		figure("the server is back", "ms", milliseconds(served), 0),
		figure(fmt.Sprintf("median of %d", len(pages)), "ms", times.Milliseconds(0.5), 0),
		figure(fmt.Sprintf("last of %d", len(pages)), "ms", times.Milliseconds(1), 0),
	}, nil
}

func closeAll(all []*load.Socket) error {
	var errs []error
	for _, s := range all {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// seen does something to a post, and returns how long after it was begun the open pages showed it.
// do returns how new the post is then.
func seen(ctx context.Context, pages []*load.Socket, post string, do func() (int64, error)) (load.Times, error) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	from := time.Now()
	fold, err := do()
	if err != nil {
		return nil, err
	}
	took := make([]time.Duration, len(pages))
	for i, s := range pages {
		at, err := s.Shown(ctx, post, fold)
		if err != nil {
			return nil, err
		}
		took[i] = at.Sub(from)
	}
	return load.Sorted(took), nil
}

// peerWatchers and peerSockets are how many open pages there were when the peer was measured.
const (
	peerWatchers = 500
	peerSockets  = 1000
)

// acts is how many likes and comments one repeat of watch has.
const acts = 10

// likesPerSecond is the rate at which the row pushed has likes come.
const likesPerSecond = 100

// pushed has likes of the newest public posts come at a steady rate, whether or not earlier ones
// were answered, and measures from when each was due until another person's open page shows it.
func pushed(ctx context.Context, b *bench) (_ []report.Figure, err error) {
	other, page, err := b.people[0].Follow(ctx, "/everything")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	// The people's turns change after each post, so that a post is not liked twice at once.
	type like struct {
		by   *load.Person
		post string
	}
	var likes []like
	mayLike := map[*load.Person][]string{}
	longest := 0
	for _, p := range b.people {
		html, err := p.Get(ctx, "/everything")
		if err != nil {
			return nil, err
		}
		for _, m := range likeForm.FindAllStringSubmatch(html, -1) {
			// A page of somebody who may read a private post ends with another post than this one.
			if slices.Contains(page.Posts, m[1]) {
				mayLike[p] = append(mayLike[p], m[1])
			}
		}
		longest = max(longest, len(mayLike[p]))
	}
	for turn := range len(b.people) {
		for i := range longest {
			p := b.people[(turn+i)%len(b.people)]
			if i < len(mayLike[p]) {
				likes = append(likes, like{p, mayLike[p][i]})
			}
		}
	}
	want := int(likesPerSecond * b.during.Seconds())
	if len(likes) == 0 {
		return nil, errors.New("nobody may like one of the newest public posts")
	}
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	during := b.during
	if len(likes) < want {
		during = time.Duration(len(likes)) * time.Second / likesPerSecond
	}
	before, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	took, err := load.Open(ctx, likesPerSecond, during, func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, seenWithin)
		defer cancel()
		next := likes[i%len(likes)]
		fold, err := next.by.ActOn(ctx, next.post, "like", page.Address, nil)
		if err != nil {
			return err
		}
		_, err = other.Shown(ctx, next.post, fold)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := b.site.Quiet(ctx); err != nil {
		return nil, err
	}
	after, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	// The likes are taken back, so that the next repeat finds the town as it was.
	for _, l := range likes[:min(len(likes), len(took))] {
		if _, err := l.by.ActOn(ctx, l.post, "unlike", page.Address, nil); err != nil {
			return nil, err
		}
	}
	return append([]report.Figure{
		figure(fmt.Sprintf("p50 at %d/s", likesPerSecond), "ms", took.Milliseconds(0.5), 0),
		figure(fmt.Sprintf("p99 at %d/s", likesPerSecond), "ms", took.Milliseconds(0.99), 0),
	}, costs("", after.Less(before), float64(len(took)), peer{})...), b.site.Quiet(ctx)
}

// watch opens everybody's page of all public posts, many times, and has one person like and comment
// on the newest post.
func watch(ctx context.Context, b *bench) (_ []report.Figure, err error) {
	// Somebody writes the post that all of them see.
	writer, actor := b.publicPerson(), b.people[0]
	if _, err := writer.Act(ctx, "/posts", "/everything", url.Values{"body": {"A post that many people watch."}}); err != nil {
		return nil, err
	}
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	html, err := actor.Get(ctx, "/everything")
	if err != nil {
		return nil, err
	}
	page, err := load.ReadPage(html)
	if err != nil {
		return nil, err
	}
	pages, err := b.open(ctx, b.watchers, "/everything")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(pages)) }()
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	code := page.Posts[0]
	var theirs struct{ median, last, server, database float64 }
	if b.watchers == peerWatchers {
		theirs.median, theirs.last, theirs.server, theirs.database = 921, 961, 799, 600
	}
	var figures []report.Figure
	for _, kind := range []struct {
		name                           string
		do                             func(i int) (int64, error)
		median, last, server, database float64
	}{
		{"like", func(i int) (int64, error) {
			act := "like"
			if i%2 == 1 {
				act = "unlike"
			}
			return actor.ActOn(ctx, code, act, page.Address, nil)
		}, theirs.median, theirs.last, theirs.server, theirs.database},
		{"comment", func(i int) (int64, error) {
			return actor.ActOn(ctx, code, "comments", page.Address, url.Values{"body": {fmt.Sprintf("Somebody says this now, %d.", i)}})
		}, 0, 0, 0, 0},
	} {
		before, err := b.site.Usage(ctx)
		if err != nil {
			return nil, err
		}
		var medians, lasts time.Duration
		for i := range acts {
			took, err := seen(ctx, pages, code, func() (int64, error) { return kind.do(i) })
			if err != nil {
				return nil, err
			}
			medians, lasts = medians+took.Quantile(0.5), lasts+took.Quantile(1)
			if err := b.site.Quiet(ctx); err != nil {
				return nil, err
			}
		}
		after, err := b.site.Usage(ctx)
		if err != nil {
			return nil, err
		}
		figures = append(figures,
			figure(fmt.Sprintf("%s, median of %d", kind.name, b.watchers), "ms", milliseconds(medians)/acts, kind.median),
			figure(fmt.Sprintf("%s, last of %d", kind.name, b.watchers), "ms", milliseconds(lasts)/acts, kind.last),
		)
		figures = append(figures, costs(kind.name+", ", after.Less(before), acts, peer{server: kind.server, database: kind.database})...)
	}
	return figures, nil
}

// publicPerson is somebody whose posts everybody may read. The actor of watch is somebody else.
func (b *bench) publicPerson() *load.Person {
	private := map[string]bool{}
	for _, p := range b.site.Town.People() {
		private[p.Name] = p.Private
	}
	for _, p := range b.people[1:] {
		if !private[p.Name] {
			return p
		}
	}
	return b.people[0] // nobody else is public
}

// atRest is what the site takes while nothing happens.
func (b *bench) atRest(ctx context.Context) (site.Usage, error) {
	if err := b.site.Settle(ctx); err != nil {
		return site.Usage{}, err
	}
	before, err := b.site.Usage(ctx)
	if err != nil {
		return site.Usage{}, err
	}
	timer := time.NewTimer(b.rest)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return site.Usage{}, ctx.Err()
	case <-timer.C:
	}
	after, err := b.site.Usage(ctx)
	return after.Less(before), err
}

func idle(ctx context.Context, b *bench) ([]report.Figure, error) {
	used, err := b.atRest(ctx)
	if err != nil {
		return nil, err
	}
	return []report.Figure{
		figure("statements", "/s", float64(used.Statements)/b.rest.Seconds(), 0),
		figure("processor, server", "ms/s", milliseconds(used.Server)/b.rest.Seconds(), 0),
		figure("processor, PostgreSQL", "ms/s", milliseconds(used.PostgreSQL)/b.rest.Seconds(), 0),
	}, nil
}

// sockets opens everybody's home page, many times, in a new server: one that has had open pages keeps
// memory of the operating system for the next.
func sockets(ctx context.Context, b *bench) (_ []report.Figure, err error) {
	if err := b.restart(ctx); err != nil {
		return nil, err
	}
	// The first pages of a server take memory that is not of open pages.
	people, err := b.atLeast(ctx, peopleFor(b.sockets))
	if err != nil {
		return nil, err
	}
	if err := b.comeHome(ctx, people); err != nil {
		return nil, err
	}
	// A server gives memory back when it is quiet, before it has open pages and with them.
	if _, err := b.atRest(ctx); err != nil {
		return nil, err
	}
	before, err := b.site.Memory()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	pages, err := b.open(ctx, b.sockets, "/")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(pages)) }()
	opened := time.Since(begin)
	used, err := b.atRest(ctx)
	if err != nil {
		return nil, err
	}
	after, err := b.site.Memory()
	if err != nil {
		return nil, err
	}
	var peer float64
	if b.sockets == peerSockets {
		peer = 180
	}
	return []report.Figure{
		rate("opened", float64(b.sockets)/opened.Seconds(), 0),
		figure("memory of one", "kB", float64(after-before)/float64(b.sockets)/1000, 0),
		figure("memory of the server", "MB", float64(after)/1e6, peer),
		figure("statements", "/s", float64(used.Statements)/b.rest.Seconds(), 0),
		figure(fmt.Sprintf("processor, server, for %d", b.sockets), "ms/s", milliseconds(used.Server)/b.rest.Seconds(), 0),
	}, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"sync"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
)

// home is what a person's home page shows.
type home struct {
	page load.Page
	// mayLike are the posts that the person may like, and does not.
	mayLike []string
}

var likeForm = regexp.MustCompile(`"/p/(\w+)/like"`)

// readHomes reads the home page of everybody who is signed in.
func (b *bench) readHomes(ctx context.Context) error {
	b.homes = map[*load.Person]home{}
	for _, p := range b.people {
		html, err := p.Get(ctx, "/")
		if err != nil {
			return err
		}
		page, err := load.ReadPage(html)
		if err != nil {
			return err
		}
		if len(page.Posts) == 0 {
			return fmt.Errorf("the home page of %s is empty", p.Name)
		}
		h := home{page: page}
		for _, m := range likeForm.FindAllStringSubmatch(html, -1) {
			h.mayLike = append(h.mayLike, m[1])
		}
		b.homes[p] = h
	}
	return nil
}

// postsOf are the posts on a person's home page, the newest first.
func (b *bench) postsOf(p *load.Person) []string { return b.homes[p].page.Posts }

// like measures likes of posts on home pages. A person likes a post, and with the next turn takes
// that back, so that the town stays as it is.
func like(ctx context.Context, b *bench) ([]report.Figure, error) {
	if err := b.readHomes(ctx); err != nil {
		return nil, err
	}
	people := make([]*load.Person, 0, len(b.people))
	for _, p := range b.people {
		if len(b.homes[p].mayLike) > 0 {
			people = append(people, p)
		}
	}
	if len(people) == 0 {
		return nil, errors.New("nobody's home page has a post to like")
	}
	// A person does one thing after the other, also where there are fewer people than requests
	// under way.
	turns := make([]struct {
		sync.Mutex
		taken int
	}, len(people))
	return b.steady(ctx, peer{179, 5.5, 79, 271}, func(ctx context.Context, i int) error {
		who := i % len(people)
		mine := &turns[who]
		mine.Lock()
		defer mine.Unlock()
		p, turn := people[who], mine.taken
		mine.taken++
		h := b.homes[p]
		act := "like"
		if turn%2 == 1 {
			act = "unlike"
		}
		_, err := p.Act(ctx, "/p/"+h.mayLike[turn/2%len(h.mayLike)]+"/"+act, h.page.Address, nil)
		return err
	})
}

// comment measures comments on posts of home pages.
func comment(ctx context.Context, b *bench) ([]report.Figure, error) {
	if err := b.readHomes(ctx); err != nil {
		return nil, err
	}
	return b.steady(ctx, peer{114, 7.4, 70, 185}, func(ctx context.Context, i int) error {
		p := b.person(i)
		h := b.homes[p]
		code := h.page.Posts[(i/len(b.people))%len(h.page.Posts)]
		_, err := p.Act(ctx, "/p/"+code+"/comments", h.page.Address, url.Values{"body": {fmt.Sprintf("I have read this, and say so: %d", i)}})
		return err
	})
}

// post measures new posts.
func post(ctx context.Context, b *bench) ([]report.Figure, error) {
	if err := b.readHomes(ctx); err != nil {
		return nil, err
	}
	return b.steady(ctx, peer{}, func(ctx context.Context, i int) error {
		p := b.person(i)
		_, err := p.Act(ctx, "/posts", b.homes[p].page.Address, url.Values{"body": {fmt.Sprintf("What I have seen today, number %d of all that I saw.", i)}})
		return err
	})
}

package main

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"sync"
	"time"

	"riverrun/cmd/riverbench/load"
	"riverrun/cmd/riverbench/report"
	"riverrun/cmd/riverbench/town"
)

// visit is a page that somebody asks for.
type visit struct {
	by   *load.Person
	path string
}

// visits lists the pages that a row asks for, in turn. The homes of b are read before.
type visits func(b *bench) []visit

// same has everybody ask for the page at that address.
func same(path string) visits {
	return func(b *bench) (all []visit) {
		for _, p := range b.people {
			all = append(all, visit{p, path})
		}
		return all
	}
}

// userPages has everybody ask for the page of one other person who is public.
func userPages(b *bench) (all []visit) {
	var public []string
	for _, p := range b.site.Town.People() {
		if !p.Private {
			public = append(public, p.Name)
		}
	}
	for i, p := range b.people {
		other := public[i%len(public)]
		if other == p.Name {
			other = public[(i+1)%len(public)]
		}
		all = append(all, visit{p, "/" + other})
	}
	return all
}

// singles is how many posts everybody asks for where single posts are measured.
const singles = 4

// singlePages has everybody ask for the newest posts of their home page.
func singlePages(b *bench) (all []visit) {
	for turn, more := 0, true; more && turn < singles; turn++ {
		more = false
		for _, p := range b.people {
			if posts := b.postsOf(p); turn < len(posts) {
				all, more = append(all, visit{p, "/p/" + posts[turn]}), true
			}
		}
	}
	return all
}

// groupPages has everybody ask for the page of a group that is public.
func groupPages(b *bench) (all []visit) {
	var public []string
	for _, g := range b.site.Town.Groups() {
		if !g.Private {
			public = append(public, g.Name)
		}
	}
	for i, p := range b.people {
		all = append(all, visit{p, "/" + public[i%len(public)]})
	}
	return all
}

// searches has everybody search for two words that posts of the town have. In each repeat the pairs are others.
func searches(b *bench) (all []visit) {
	words := town.Words()
	for i, p := range b.people {
		q := words[i%len(words)] + " " + words[(i+7+b.searched)%len(words)]
		all = append(all, visit{p, "/search?" + url.Values{"q": {q}}.Encode()})
	}
	return all
}

// search measures pages of searches, and how long the first visit of each takes.
func search(ctx context.Context, b *bench) ([]report.Figure, error) {
	b.searched++
	var took []time.Duration
	for _, v := range searches(b) {
		from := time.Now()
		if _, err := v.by.GetAs(ctx, v.path, "zstd, gzip"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(from))
	}
	figures, err := page(peer{}, searches)(ctx, b)
	return append(figures, figure("first, p50", "ms", load.Sorted(took).Milliseconds(0.5), 0)), err
}

const (
	// down is how many pages below the first one the row older is.
	down = 600 / 25
	// readers is how many people the row older has go there: each of them builds all pages on the way.
	readers = 10
)

var olderForm = regexp.MustCompile(`<a class="older" rel="next" href="([^"]+)"`)

// older measures home pages far down. It goes there by the links to older posts, as people do.
func older(ctx context.Context, b *bench) ([]report.Figure, error) {
	var all []visit
	var depth float64 // in all
	for _, p := range b.people[:min(readers, len(b.people))] {
		v := visit{p, "/"}
		for range down {
			text, err := p.Get(ctx, v.path)
			if err != nil {
				return nil, err
			}
			link := olderForm.FindStringSubmatch(text)
			if link == nil {
				break // a small town has no more
			}
			v.path = html.UnescapeString(link[1])
			depth++
		}
		all = append(all, v)
	}
	figures, err := page(peer{}, func(*bench) []visit { return all })(ctx, b)
	return append(figures, figure("pages down", "", depth/float64(len(all)), 0)), err
}

// page measures pages that are there already: each is loaded before, as it is and compressed.
func page(of peer, pages visits) func(context.Context, *bench) ([]report.Figure, error) {
	return func(ctx context.Context, b *bench) ([]report.Figure, error) {
		if err := b.readHomes(ctx); err != nil {
			return nil, err
		}
		all := pages(b)
		var plain, sent int
		for _, v := range all {
			for encodings, sum := range map[string]*int{"identity": &plain, "zstd, gzip": &sent} {
				a, err := v.by.GetAs(ctx, v.path, encodings)
				if err != nil {
					return nil, err
				}
				*sum += len(a.Body)
			}
		}
		if err := b.site.Settle(ctx); err != nil {
			return nil, err
		}
		figures, err := b.steady(ctx, of, func(ctx context.Context, i int) error {
			v := all[i%len(all)]
			_, err := v.by.GetAs(ctx, v.path, "zstd, gzip")
			return err
		})
		if err != nil {
			return nil, err
		}
		n := float64(len(all)) * 1000
		return append(figures, figure("page", "kB", float64(plain)/n, 0), figure("page, compressed", "kB", float64(sent)/n, 0)), nil
	}
}

// changed measures home pages that are compressed anew, as after a change. A site keeps compressed pages
// by what a client says that it accepts, so each request says something else.
func changed(ctx context.Context, b *bench) ([]report.Figure, error) {
	return b.homePages(ctx, func(ctx context.Context, p *load.Person, i int, _ string) error {
		_, err := p.GetAs(ctx, "/", fmt.Sprintf("zstd, gzip, x-%d", i))
		return err
	})
}

// again measures home pages that the browser has.
func again(ctx context.Context, b *bench) ([]report.Figure, error) {
	return b.homePages(ctx, func(ctx context.Context, p *load.Person, _ int, tag string) error {
		return p.GetAgain(ctx, "/", tag)
	})
}

// homePages measures a request for everybody's home page in turn, which was loaded before with that tag.
func (b *bench) homePages(ctx context.Context, ask func(ctx context.Context, p *load.Person, i int, tag string) error) ([]report.Figure, error) {
	if err := b.readHomes(ctx); err != nil {
		return nil, err
	}
	tags := make([]string, len(b.people))
	for i, p := range b.people {
		a, err := p.GetAs(ctx, "/", "zstd, gzip")
		if err != nil {
			return nil, err
		}
		tags[i] = a.Header.Get("ETag")
	}
	if err := b.site.Settle(ctx); err != nil {
		return nil, err
	}
	return b.steady(ctx, peer{75.5, 17.2, 22.5, 90.1}, func(ctx context.Context, i int) error {
		at := i % len(b.people)
		return ask(ctx, b.people[at], i, tags[at])
	})
}

// perRepeat is how many people who have never come one repeat of cold may use.
func (b *bench) perRepeat() int {
	return max(1, min(50, (len(b.site.Town.People())-len(b.people)-len(b.more)-2*b.repeats)/b.repeats))
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
	times := load.Sorted(took)
	return append([]report.Figure{
		figure("p50", "ms", times.Milliseconds(0.5), 75.5),
		figure("slowest", "ms", times.Milliseconds(1), 0),
	}, costs("", after.Less(before), float64(len(took)), peer{server: 22.5, database: 90.1})...), nil
}

// crowd is how many requests of a herd are sent at once.
const crowd = 200

// herd has one person's browser ask for a page that was never visited, very often at once.
func herd(ctx context.Context, b *bench) ([]report.Figure, error) {
	p, err := b.stranger(ctx)
	if err != nil {
		return nil, err
	}
	built, err := b.site.HomesBuilt(ctx)
	if err != nil {
		return nil, err
	}
	before, err := b.site.Usage(ctx)
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
	after, err := b.site.Usage(ctx)
	if err != nil {
		return nil, err
	}
	builtNow, err := b.site.HomesBuilt(ctx)
	if err != nil {
		return nil, err
	}
	times := load.Sorted(took)
	return append([]report.Figure{
		figure("builds", "", builtNow-built, 0),
		figure(fmt.Sprintf("median of %d", crowd), "ms", times.Milliseconds(0.5), 0),
		figure(fmt.Sprintf("last of %d", crowd), "ms", times.Milliseconds(1), 0),
	}, costs("", after.Less(before), crowd, peer{})...), nil
}

package ramps

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/cmd/riverbench/load"
	"riverrun/rivers"
	"riverrun/rivers/strategies"
	"riverrun/timelines"
	"riverrun/timelines/snapshot"
)

// pageSize is how many posts a page has, as those of riverrun.
const pageSize = rivers.PageSize

// subject is a strategy that is measured.
type subject struct {
	name, content string
	open          func(strategies.Stores) strategies.Strategy
}

// place is a strategy over stores in which it has stored nothing yet.
type place struct {
	*bench
	subject
	strategy strategies.Strategy
	rivers   *rivers.Store
	posts    atomic.Int64
}

// quiet implements timelines.Announcer. The ramps apply what they change themselves.
type quiet struct{}

func (quiet) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return nil }

// in opens a strategy over an empty secondary store, and calls do.
func (b *bench) in(ctx context.Context, s subject, do func(*place) error) (err error) {
	if err := b.stand.Anew(ctx); err != nil {
		return err
	}
	p := &place{bench: b, subject: s}
	p.rivers = rivers.Open(b.stand.Secondary, b.store, slog.New(slog.DiscardHandler), rivers.DefaultOptions())
	if err := p.rivers.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.rivers.Stop(context.WithoutCancel(ctx))) }()
	stores := strategies.Stores{Primary: b.store, Rivers: p.rivers, Secondary: b.stand.Secondary}
	if s.content == Embedded {
		stores.Texts = embedded
	}
	p.strategy = s.open(stores)
	return do(p)
}

// read reads a page with the texts of its posts.
func (p *place) read(ctx context.Context, viewer int64, below rivers.Cursor) (next rivers.Cursor, err error) {
	page, err := p.strategy.Page(ctx, timelines.Viewer{AccountID: viewer}, below, pageSize)
	if err != nil {
		return next, err
	}
	if len(page.Entries) == 0 {
		return next, fmt.Errorf("%s: a page of account %d below %v is empty", p.name, viewer, below)
	}
	if page.More {
		next = page.Next
	}
	if p.content == Folds {
		return next, nil
	}
	var missing []int64
	for _, e := range page.Entries {
		if _, ok := page.Texts[e.PostID]; !ok {
			missing = append(missing, e.PostID)
		}
	}
	if p.content == Embedded && len(missing) > 0 && p.name != "cache" {
		return next, fmt.Errorf("%s: the feed of account %d has no text of %d posts", p.name, viewer, len(missing))
	}
	return next, p.texts(ctx, missing)
}

// textsOf reads what posts say, and whose they are.
const textsOf = `SELECT p.id, a.name || ': ' || p.body FROM posts p JOIN accounts a ON a.id = p.author_id WHERE p.id = ANY(@posts)`

// embedded is what feeds hold of posts.
func embedded(ctx context.Context, sn *snapshot.Snapshot, posts []int64) (map[int64]string, error) {
	rows, err := sn.Tx().Query(ctx, textsOf, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return nil, err
	}
	texts := make(map[int64]string, len(posts))
	var post int64
	var text string
	_, err = pgx.ForEachRow(rows, []any{&post, &text}, func() error { texts[post] = text; return nil })
	return texts, err
}

// texts reads what the posts of a page say, all at once, as the content service of 001 does.
func (p *place) texts(ctx context.Context, posts []int64) error {
	if len(posts) == 0 {
		return nil
	}
	rows, err := p.stand.Primary.Query(ctx, textsOf, pgx.StrictNamedArgs{"posts": posts})
	if err != nil {
		return err
	}
	texts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[text])
	if err == nil && len(texts) != len(posts) {
		err = fmt.Errorf("%d of %d posts have a text", len(texts), len(posts))
	}
	return err
}

// text is what a post says.
type text struct {
	PostID int64
	Text   string
}

// post writes a post and brings it into all feeds.
func (p *place) post(ctx context.Context, author int64) error {
	c, err := p.store.Posts.Create(ctx, timelines.NewPost{Author: author, Body: body(int(p.posts.Add(1)))})
	if err != nil {
		return err
	}
	return p.strategy.Apply(ctx, strategies.Events(c)...)
}

// come has each of these people read the first page of their feed, a few at a time, so that they
// have one.
func (p *place) come(ctx context.Context, people []int64) error {
	var wait sync.WaitGroup
	errs := make([]error, some)
	for loop := range some {
		wait.Go(func() {
			for i := loop; i < len(people) && errs[loop] == nil; i += some {
				_, errs[loop] = p.read(ctx, people[i], rivers.Cursor{})
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// one and some are how many calls are under way at once: latency is measured with one, all else
// with some.
const (
	one  = 1
	some = 8
)

// used is what calls came to, and the processor time of one.
type used struct {
	load.Ran
	each time.Duration
}

// run makes calls for as long as one measurement takes.
func (p *place) run(ctx context.Context, loops int, do func(ctx context.Context, i int) error) (u used, err error) {
	before, err := p.stand.Processor()
	if err != nil {
		return u, err
	}
	if u.Ran, err = load.Closed(ctx, loops, p.during, do); err != nil {
		return u, err
	}
	after, err := p.stand.Processor()
	took := after.Less(before)
	u.each = (took.Own + took.PostgreSQL) / time.Duration(max(1, u.Calls()))
	return u, err
}

// reads measures pages of these people, in turn.
func (p *place) reads(ctx context.Context, do func(ctx context.Context, i int) error) (map[string]float64, error) {
	u, err := p.run(ctx, one, do)
	if err != nil {
		return nil, err
	}
	return map[string]float64{
		ReadP50: u.Times.Milliseconds(0.5), ReadP99: u.Times.Milliseconds(0.99), Reads: u.PerSecond(), ReadCPU: milliseconds(u.each),
	}, nil
}

// writes measures posts, and how many rows one writes.
func (p *place) writes(ctx context.Context, do func(ctx context.Context, i int) error) (map[string]float64, error) {
	before, err := p.stand.Written(ctx)
	if err != nil {
		return nil, err
	}
	u, err := p.run(ctx, one, do)
	if err != nil {
		return nil, err
	}
	after, err := p.stand.Written(ctx)
	return map[string]float64{
		PostP50: u.Times.Milliseconds(0.5), PostP99: u.Times.Milliseconds(0.99), Posts: u.PerSecond(), PostCPU: milliseconds(u.each),
		Rows: float64(after-before) / float64(max(1, u.Calls())),
	}, err
}

// mixed measures pages and posts of many people at once: that many reads to a post. pick chooses
// who reads.
func (p *place) mixed(ctx context.Context, readsPerPost float64, pick func(*rand.Rand) int64) (map[string]float64, error) {
	var mu sync.Mutex // guards what follows
	r := rand.New(rand.NewPCG(p.seed, 2))
	var read, posted []time.Duration
	u, err := p.run(ctx, some, func(ctx context.Context, i int) error {
		mu.Lock()
		reads := r.Float64() < readsPerPost/(readsPerPost+1)
		viewer, author := pick(r), p.crowd.members[p.crowd.writers.one(r)]
		mu.Unlock()
		began := time.Now()
		var err error
		if reads {
			_, err = p.read(ctx, viewer, rivers.Cursor{})
		} else {
			err = p.post(ctx, author)
		}
		took := time.Since(began)
		mu.Lock()
		defer mu.Unlock()
		if reads {
			read = append(read, took)
		} else {
			posted = append(posted, took)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	values := map[string]float64{Together: u.PerSecond(), TogetherCPU: milliseconds(u.each)}
	for _, kind := range []struct {
		took                []time.Duration
		p50, p99, perSecond string
	}{{read, ReadP50, ReadP99, Reads}, {posted, PostP50, PostP99, Posts}} {
		if times := load.Sorted(kind.took); len(times) > 0 {
			values[kind.p50], values[kind.p99] = times.Milliseconds(0.5), times.Milliseconds(0.99)
			values[kind.perSecond] = float64(len(times)) / u.Took.Seconds()
		}
	}
	return values, nil
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

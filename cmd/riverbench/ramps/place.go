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
	store    *timelines.Store
	strategy strategies.Strategy
	rand     *rand.Rand // what the crowd does
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
	p := &place{bench: b, subject: s, store: open(b.stand), rand: rand.New(rand.NewPCG(b.seed, 2))}
	p.rivers = rivers.Open(b.stand.Secondary, p.store, slog.New(slog.DiscardHandler), rivers.DefaultOptions())
	if err := p.rivers.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.rivers.Stop(context.WithoutCancel(ctx))) }()
	stores := strategies.Stores{Primary: p.store, Rivers: p.rivers, Secondary: b.stand.Secondary}
	if s.content == Embedded {
		stores.Texts = embedded
	}
	p.strategy = s.open(stores)
	return do(p)
}

// read reads a page with the texts of its posts, and says how many of them the feed did not have.
func (p *place) read(ctx context.Context, viewer int64, below rivers.Cursor) (next rivers.Cursor, linked int, err error) {
	page, err := p.strategy.Page(ctx, timelines.Viewer{AccountID: viewer}, below, pageSize)
	if err != nil {
		return next, 0, err
	}
	if len(page.Entries) == 0 {
		return next, 0, fmt.Errorf("%s: a page of account %d below %v is empty", p.name, viewer, below)
	}
	if page.More {
		next = page.Next
	}
	if p.content == Folds {
		return next, 0, nil
	}
	var missing []int64
	for _, e := range page.Entries {
		if _, ok := page.Texts[e.PostID]; !ok {
			missing = append(missing, e.PostID)
		}
	}
	return next, len(missing), p.texts(ctx, missing)
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

// oldest returns the codes of posts of an author that stand lowest in the feeds.
func (p *place) oldest(ctx context.Context, author int64) ([]string, error) {
	const query = `SELECT code FROM posts WHERE author_id = @author ORDER BY fresh_at LIMIT @posts`
	rows, err := p.stand.Primary.Query(ctx, query, pgx.StrictNamedArgs{"author": author, "posts": authorPosts})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// lift comments on a post of one's own, which moves it up, and brings that into all feeds.
func (p *place) lift(ctx context.Context, author int64, code string) error {
	c, err := p.store.Comments.Create(ctx, timelines.NewComment{Author: author, Code: code, Body: "And one more thing."})
	if err != nil {
		return err
	}
	return p.strategy.Apply(ctx, strategies.Events(c)...)
}

// come has each of these people read the first page of their feed, a few at a time, when it is
// filled.
func (p *place) come(ctx context.Context, people []int64) error {
	var wait sync.WaitGroup
	errs := make([]error, some)
	for loop := range some {
		wait.Go(func() {
			for i := loop; i < len(people) && errs[loop] == nil; i += some {
				errs[loop] = p.fill(ctx, people[i])
				if errs[loop] != nil {
					break
				}
				var linked int
				_, linked, errs[loop] = p.read(ctx, people[i], rivers.Cursor{})
				if errs[loop] == nil && p.content == Embedded && linked > 0 {
					errs[loop] = fmt.Errorf("the feed of account %d lacks the texts of %d posts", people[i], linked)
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// fill fills a feed that a page alone might not fill.
func (p *place) fill(ctx context.Context, person int64) error {
	if filler, ok := p.strategy.(strategies.Filler); ok {
		return filler.Fill(ctx, person)
	}
	return nil
}

// some is how many calls are under way at once where people come, and where reads and posts are
// measured together.
const some = 8

// used is what calls came to, and the processor time of one.
type used struct {
	load.Ran
	each time.Duration
}

// call does something to the crowd, for the i-th time.
type call func(ctx context.Context, i int) error

// leastCalls is how many calls make a figure of what is done alone, however long they take.
const leastCalls = 10

// alone makes one call after the other for as long as one measurement takes, leastCalls or more and
// most at most; 0: as many as there are. The first one, which opens connections, does not count.
func (p *place) alone(ctx context.Context, most int, do call) (used, error) {
	if err := do(ctx, 0); err != nil {
		return used{}, err
	}
	return p.costs(func() (load.Ran, error) {
		var took []time.Duration
		begin := time.Now()
		for i := 1; i != most && (i <= leastCalls || time.Since(begin) < p.during); i++ {
			from := time.Now()
			if err := do(ctx, i); err != nil {
				return load.Ran{}, err
			}
			took = append(took, time.Since(from))
		}
		return load.Ran{Times: load.Sorted(took), Took: time.Since(begin)}, nil
	})
}

// costs runs calls and says what one of them costs.
func (p *place) costs(run func() (load.Ran, error)) (u used, err error) {
	before, err := p.stand.Processor()
	if err != nil {
		return u, err
	}
	if u.Ran, err = run(); err != nil {
		return u, err
	}
	after, err := p.stand.Processor()
	took := after.Less(before)
	u.each = (took.Own + took.PostgreSQL) / time.Duration(max(1, u.Calls()))
	return u, err
}

// reads measures pages, one after the other.
func (p *place) reads(ctx context.Context, do call) (map[string]float64, error) {
	u, err := p.alone(ctx, 0, do)
	if err != nil {
		return nil, err
	}
	return map[string]float64{
		ReadP50: u.Times.Milliseconds(0.5), ReadP99: u.Times.Milliseconds(0.99), Reads: u.PerSecond(), ReadCPU: milliseconds(u.each),
	}, nil
}

// written are the names of the figures of one kind of change.
type written struct{ p50, p99, perSecond, processor, rows string }

// writes measures changes, one after the other, and how many rows one writes.
func (p *place) writes(ctx context.Context, of written, most int, do call) (map[string]float64, error) {
	before, err := p.stand.Written(ctx)
	if err != nil {
		return nil, err
	}
	u, err := p.alone(ctx, most, do)
	if err != nil {
		return nil, err
	}
	after, err := p.stand.Written(ctx)
	return map[string]float64{
		of.p50: u.Times.Milliseconds(0.5), of.p99: u.Times.Milliseconds(0.99), of.perSecond: u.PerSecond(), of.processor: milliseconds(u.each),
		of.rows: float64(after-before) / float64(1+u.Calls()),
	}, err
}

// mixed measures pages and posts of many people: that many reads to a post, eight calls at once, each as
// soon as one before it ends. pick chooses who reads.
func (p *place) mixed(ctx context.Context, readsPerPost float64, pick func(*rand.Rand) int64) (map[string]float64, error) {
	var mu sync.Mutex // guards p.rand and what follows
	var read, posted []time.Duration
	do := func(ctx context.Context, _ int) error {
		mu.Lock()
		reads := p.rand.Float64() < readsPerPost/(readsPerPost+1)
		viewer, author := pick(p.rand), p.crowd.members[p.crowd.writers.one(p.rand)]
		mu.Unlock()
		began := time.Now()
		var err error
		if reads {
			_, _, err = p.read(ctx, viewer, rivers.Cursor{})
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
	}
	u, err := p.costs(func() (load.Ran, error) { return load.Closed(ctx, some, p.during, do) })
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

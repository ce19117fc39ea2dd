package tiers_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/rivers"
	"riverrun/timelines"
)

// How much a workload does. The bound is a number of acts and not a time, so that a
// slow machine tests as much as a fast one.
const (
	workloadRounds = 2
	actorSteps     = 16 // of each actor in each round
	readerLooks    = 14 // of each reader in each round
	seededPosts    = 165
	ghosts         = 230 // more than follow a bump in its own transaction, and a crowd to who reads the post's timelines
	ghostPrefix    = "ghost-"
	expireEvery    = 40 // changes
	truncateEvery  = 60 // changes
)

// workload is a lively town: actors, readers and workers, all at once, on two
// nodes.
type workload struct {
	*town
	seed    uint64
	times   int // the usual steps and looks
	nodes   []*node
	people  []*actor
	groups  []string
	board   *board
	famous  *card // the crowd likes it; never deleted
	changes atomic.Int64
	wake    chan struct{} // a change may have left something in the queue
}

// A lively town on two nodes, with events worked late, twice, in any order and
// sometimes not to their end, tables of the secondary store lost, and rivers
// expired: while it lives every page is sound (R2, R3, R4, the order), and at rest
// every river is what the oracle says (R1, R5).
func TestALivelyTown(t *testing.T) {
	w := newWorkload(t)
	for round := range workloadRounds {
		// Later rounds keep nothing older than a first build of home feeds and lists, and
		// build deeper ones anew.
		if w.depth = 0; round > 0 {
			w.depth = 100
		}
		first := w.node()
		w.few = rivers.DefaultOptions().Few // one of the nodes
		w.nodes = []*node{first, w.node()}
		w.few = 0
		w.live(uint64(round))
		w.sound(w.nodes[0], fmt.Sprintf("round %d, node 0", round))
		w.sound(w.nodes[1], fmt.Sprintf("round %d, node 1", round))
		if round < workloadRounds-1 {
			for _, n := range w.nodes {
				n.stop()
			}
			w.age(w.quiet())
			continue
		}
		viewers := []timelines.Viewer{{}}
		for _, a := range w.people {
			viewers = append(viewers, timelines.Viewer{AccountID: a.id})
		}
		w.agree("at the end", viewers, 30, w.nodes...)
		w.sound(w.nodes[0], "after all pages were read")
		w.explained(w.nodes[0], viewers[:3], 3)
	}
}

func newWorkload(t *testing.T) *workload {
	seed, times := testdb.Chance(t)
	w := &workload{town: newTown(t), seed: seed, times: times, board: newBoard(), wake: make(chan struct{}, 1)}
	setUp := w.quiet()
	for i, name := range []string{"ann", "bob", "cat", "dan", "eve", "fay"} {
		v := w.person(name)
		a := &actor{workload: w, id: v.AccountID, name: name, rng: w.chanceOf(1, uint64(i))}
		account, err := w.store.Accounts.ByName(w.ctx, name)
		a.feed = must(w.town, account, err).FeedID
		a.signIn(setUp)
		made, err := w.store.Feeds.Create(w.ctx, a.id, "photos", "Photos of "+name, timelines.Level(i%3))
		must(w.town, made, err)
		w.people = append(w.people, a)
	}
	for i, level := range []timelines.Level{timelines.Public, timelines.Private, timelines.Protected} {
		g := w.group(timelines.Viewer{AccountID: w.people[i].id}, "club-"+level.String(), level)
		w.people[i].groups = append(w.people[i].groups, g)
		w.groups = append(w.groups, g.Name)
	}
	rng := w.chanceOf(2, 0)
	for i := range seededPosts {
		a := w.people[rng.IntN(len(w.people))]
		c, err := w.store.Posts.Create(w.ctx, timelines.NewPost{Author: a.id, Body: bodyOf("the beginning", i, 0)})
		must(w.town, c, err)
		made := &card{id: c.PostID, code: c.Code, author: a.id}
		w.board.add(made)
		if i == 0 {
			w.famous = made
			w.crowd(c.PostID)
			// A change after it counts the likes, so that the post stands in best-of.
			liker := w.people[(slices.Index(w.people, a)+1)%len(w.people)].id
			for _, change := range []func(context.Context, int64, string) (timelines.Change, error){w.store.Posts.Like, w.store.Posts.Unlike} {
				made, err := change(w.ctx, liker, c.Code)
				must(w.town, made, err)
			}
		}
	}
	// Nobody ever reads the messages of other people, and no anonymous visitor reads private
	// feeds: these are closed from the beginning.
	rows, err := w.db.Primary.Query(w.ctx, `SELECT id FROM timelines WHERE kind IN ('directs', 'eyes') OR kind = 'subfeed' AND term = 'private'`)
	closed, err := pgx.CollectRows(must(w.town, rows, err), pgx.RowTo[int64])
	for _, id := range must(w.town, closed, err) {
		w.board.closed[id] = 0
	}
	setUp.stop()
	return w
}

// chanceOf is a source of its own for everybody, from the one seed.
func (w *workload) chanceOf(who, which uint64) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, who<<32|which))
}

// crowd makes a post liked by such a crowd that a bump of it goes in blocks. The
// likes are in the tables as if an import had brought them.
func (w *town) crowd(post int64) {
	w.people(ghostPrefix, ghosts)
	// As a change would: its version first, so that what was folded before is old.
	w.execPrimary(`UPDATE posts SET version = version + 1 WHERE id = $1`, post)
	w.execPrimary(`INSERT INTO likes (post_id, account_id, created_at)
		SELECT $2, id, clock_timestamp() FROM accounts WHERE name LIKE $1 || '%'`, ghostPrefix, post)
	w.execPrimary(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, p.fresh_at + t.id, p.fresh_at + t.id, p.fresh_at
		FROM posts p, timelines t JOIN accounts a ON a.id = t.their_id
		WHERE p.id = $2 AND a.name LIKE $1 || '%' AND t.kind IN ('likes', 'discussions')`, ghostPrefix, post)
}

// live lets everybody do their share of a round at once, then works what is
// left in the queue.
func (w *workload) live(round uint64) {
	var living, working sync.WaitGroup
	over := make(chan struct{})
	for i, a := range w.people {
		a.rng = w.chanceOf(3+round*10, uint64(i))
		living.Go(func() {
			for range actorSteps * w.times {
				a.step()
			}
		})
	}
	for i := range 2 * len(w.nodes) {
		r := &reader{
			workload: w, node: w.nodes[i%len(w.nodes)], rng: w.chanceOf(4+round*10, uint64(i)), seen: map[pair]rivers.Stamp{},
		}
		living.Go(func() {
			for range readerLooks * w.times {
				r.look()
			}
		})
	}
	for i := range 3 {
		l := luck{rng: w.chanceOf(5+round*10, uint64(i)), cut: 12, twice: 8, again: 8, late: 4, batch: 6}
		working.Go(func() { w.toil(l, over) })
	}
	living.Wait()
	close(over)
	working.Wait()
	w.t.Logf("round %d: %d changes so far, %d events left to the end", round, w.changes.Load(), w.queue.length(w.ctx))
	w.queue.drain(w.ctx, w.chanceOf(6+round*10, 0), w.nodes...)
}

// toil works events until the round is over. Now and then it waits for the next
// change though there is work, so that some wait long.
func (w *workload) toil(l luck, over <-chan struct{}) {
	for {
		found, err := w.queue.work(w.ctx, w.nodes[l.rng.IntN(len(w.nodes))], l)
		if err != nil {
			w.t.Errorf("worker: %v", err)
		}
		if found > 0 && l.rng.IntN(2) > 0 {
			continue
		}
		select {
		case <-w.wake:
		case <-over:
			return
		}
	}
}

// done is called after every change: it wakes a worker, and sometimes disaster
// strikes.
func (w *workload) done() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
	k := w.changes.Add(1)
	rng := w.chanceOf(7, uint64(k))
	n := w.nodes[rng.IntN(len(w.nodes))]
	if k%expireEvery == 0 {
		// In key order, as everybody locks.
		w.disaster(`UPDATE visits SET visited_at = visited_at - interval '2 days' WHERE river_id IN (
			SELECT river_id FROM visits WHERE river_id % 2 = $1 ORDER BY river_id FOR UPDATE)`, k/expireEvery%2)
		w.disaster(`UPDATE rivers SET created_at = created_at - interval '2 days' WHERE id IN (
			SELECT id FROM rivers WHERE id % 2 = $1 ORDER BY id FOR UPDATE)`, k/expireEvery%2)
		if _, err := n.rivers.Expire(w.ctx); err != nil {
			w.t.Errorf("expire: %v", err)
		}
	}
	if k%truncateEvery == 0 {
		tables := []string{"clock", "rivers", "rivers_timelines", "entries", "folds", "visits", "leases"}
		w.disaster(`TRUNCATE ` + tables[(k/truncateEvery)%int64(len(tables))])
	}
}

// disaster is SQL from outside. It does not end the test's goroutine.
func (w *workload) disaster(query string, args ...any) {
	if _, err := w.db.Secondary.Exec(context.WithoutCancel(w.ctx), query, args...); err != nil {
		w.t.Errorf("%s: %v", query, err)
	}
}

// age lets days pass while nobody is there, and expires what is then idle: half of the
// rivers that were visited, everybody's home feed among them. Some time later these are
// removed.
func (w *workload) age(n *node) {
	reader := w.quiet()
	for _, a := range w.people {
		w.visit(reader, timelines.Viewer{AccountID: a.id}, rivers.Home, "")
	}
	reader.stop() // which writes its visits
	w.execSecondary(`UPDATE rivers SET created_at = created_at - interval '2 days'`)
	w.execSecondary(`UPDATE visits SET visited_at = visited_at - interval '2 days' WHERE river_id IN (
				SELECT river_id FROM visits ORDER BY river_id LIMIT (SELECT count(*) / 2 FROM visits))`)
	retired := w.expire(n)
	removed := w.expire(n)
	if retired.Rivers == 0 || removed.Removed < retired.Rivers {
		w.t.Errorf("retired %+v, and later removed %+v; want some, and all of them", retired, removed)
	}
	w.sound(n, "after expiry")
	n.stop()
}

// expire removes all that is out of use, as if that were so for an hour.
func (w *workload) expire(n *node) rivers.Expired {
	w.execSecondary(`UPDATE rivers SET retired_at = retired_at - interval '1 hour', updated_at = updated_at - interval '1 hour'`)
	w.execSecondary(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
	w.execSecondary(`UPDATE folds SET updated_at = updated_at - interval '1 hour'`)
	expired, err := n.rivers.Expire(w.ctx)
	if err != nil {
		w.t.Fatalf("expire: %v", err)
	}
	w.t.Logf("expired: %+v", expired)
	return expired
}

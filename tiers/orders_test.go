package tiers_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"riverrun/rivers"
	"riverrun/timelines"
)

// takeAll takes all events out of the queue, in the order of their changes.
func (q *queue) takeAll(ctx context.Context) []timelines.Event {
	q.t.Helper()
	rows, err := q.pool.Query(ctx, `WITH taken AS (DELETE FROM test_events RETURNING id, kind, doc) SELECT kind, doc FROM taken ORDER BY id`)
	if err != nil {
		q.t.Fatal(err)
	}
	events, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (timelines.Event, error) {
		var kind string
		var doc []byte
		if err := row.Scan(&kind, &doc); err != nil {
			return nil, err
		}
		return decodeEvent(kind, doc)
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return events
}

// orders are all orders of n things, but at most so many, of all kinds.
func orders(n, most int) [][]int {
	all := [][]int{{}}
	for i := range n {
		var longer [][]int
		for _, o := range all {
			for at := range len(o) + 1 {
				longer = append(longer, slices.Insert(slices.Clone(o), at, i))
			}
		}
		all = longer
	}
	var some [][]int
	for i := range min(len(all), most) {
		some = append(some, all[(i*len(all)/min(len(all), most)+i)%len(all)])
	}
	return some
}

// stand is what a page shows of one entry.
type stand struct {
	Code  string
	Place int64
	Liked bool
	Likes int
	Texts []string
}

// What goes there and back at once ends right under any order of its jobs, with
// the first of them done once more when all are: open rivers and closed ones, on
// two nodes (source: 000, on like-unlike-like and private-public-private).
func TestThereAndBackInAnyOrder(t *testing.T) {
	w := newTown(t)
	nodes := []*node{w.quiet(), w.quiet()}
	ann, bob, cat := w.quick("ann"), w.quick("bob"), w.quick("cat")
	club := w.group(cat, "club", timelines.Private).Name
	for _, name := range []string{"bob", "cat"} {
		w.follow(nodes[0], ann, name)
	}
	onPost := func(v timelines.Viewer, set func(ctx context.Context, actor int64, code string) (timelines.Change, error)) func(*node, string) {
		return func(n *node, code string) {
			w.act(n, func(ctx context.Context) (timelines.Change, error) { return set(ctx, v.AccountID, code) })
		}
	}
	named := func(v timelines.Viewer, name string, set func(ctx context.Context, actor int64, name string) (timelines.Change, error)) func(*node, string) {
		return func(n *node, _ string) {
			w.act(n, func(ctx context.Context) (timelines.Change, error) { return set(ctx, v.AccountID, name) })
		}
	}
	access := func(level timelines.Level) func(*node, string) {
		return func(n *node, _ string) { w.setAccess(n, bob, "", level) }
	}
	to := func(to ...string) func(*node, string) {
		return func(n *node, code string) { w.move(n, bob, code, to...) }
	}
	like, unlike := onPost(cat, w.store.Like), onPost(cat, w.store.Unlike)
	fave, unfave := onPost(cat, w.store.Fave), onPost(cat, w.store.Unfave)
	ban, unban := named(ann, "bob", w.store.Ban), named(ann, "bob", w.store.Unban)
	follow := func(n *node, _ string) { w.follow(n, ann, "bob") }
	leave := func(n *node, _ string) { w.leave(n, ann, "bob") }
	say := func(n *node, code string) { w.comment(n, cat, code, "a remark") }
	unsay := func(n *node, code string) {
		w.act(n, func(ctx context.Context) (timelines.Change, error) {
			var id int64
			const last = `SELECT max(c.id) FROM comments c JOIN posts p ON p.id = c.post_id WHERE p.code = $1`
			if err := w.db.Primary.QueryRow(ctx, last, code).Scan(&id); err != nil {
				return timelines.Change{}, err
			}
			return w.store.DeleteComment(ctx, cat.AccountID, code, id)
		})
	}
	for _, c := range []struct {
		name string
		do   []func(*node, string)
		// same: in the end all stands as in the beginning.
		same bool
	}{
		{"liked and not", []func(*node, string){like, unlike}, true},
		{"liked, not, and liked", []func(*node, string){like, unlike, like}, false},
		{"liked and not, twice", []func(*node, string){like, unlike, like, unlike}, true},
		{"kept and not", []func(*node, string){fave, unfave}, true},
		{"private and back", []func(*node, string){access(timelines.Private), access(timelines.Public)}, true},
		{"private, back, and private", []func(*node, string){access(timelines.Private), access(timelines.Public), access(timelines.Private)}, false},
		{"liked, private, back, and not liked", []func(*node, string){like, access(timelines.Private), access(timelines.Public), unlike}, true},
		{"banned and not", []func(*node, string){ban, like, unban, unlike}, true},
		{"left and followed", []func(*node, string){leave, follow}, true},
		{"left, followed, and left", []func(*node, string){leave, follow, leave}, false},
		{"moved and back", []func(*node, string){to("bob/private"), to("bob")}, true},
		{"moved, and back, and moved", []func(*node, string){to("bob/private"), to("bob"), to("bob/private")}, false},
		{"moved, private, and back", []func(*node, string){to(timelines.ToEyes), access(timelines.Private), to("bob"), access(timelines.Public)}, true},
		{"commented on and not", []func(*node, string){say, unsay, say}, false},
	} {
		for i, most := 0, 1; i < most; i++ {
			// As it was, whatever the round before left.
			w.setAccess(nodes[0], bob, "", timelines.Public)
			w.follow(nodes[0], ann, "bob")
			code := w.post(nodes[0], bob, fmt.Sprintf("%s, %d", c.name, i)).Code
			w.post(nodes[0], cat, "another")
			w.post(nodes[0], cat, "in the club", club)
			w.queue.drain(w.ctx, w.chance(), nodes...)
			before := w.stands(nodes, ann, bob, cat)
			for k, do := range c.do {
				do(nodes[k%2], code)
			}
			events := w.queue.takeAll(w.ctx)
			all := orders(len(events), 4)
			most = len(all)
			order := append(slices.Clone(all[i]), all[i][0])
			for k, at := range order {
				if err := nodes[(i+k)%2].perform(w.ctx, events[at:at+1]); err != nil {
					t.Fatal(err)
				}
			}
			when := fmt.Sprintf("%s, jobs in the order %v", c.name, order)
			w.sound(nodes[i%2], when)
			diff := cmp.Diff(before, w.stands(nodes[1:], ann, bob, cat))
			if c.same && diff != "" {
				t.Errorf("%s: pages are not as before:\n%s", when, diff)
			} else if !c.same && diff == "" {
				t.Errorf("%s: pages are as before", when)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// stands visits pages of these viewers and of nobody, and returns what they show;
// every other one is open from then on.
func (w *town) stands(nodes []*node, viewers ...timelines.Viewer) map[string][]stand {
	w.t.Helper()
	all := map[string][]stand{}
	for i, v := range append(viewers, timelines.Viewer{}) {
		for j, page := range []struct {
			kind rivers.Kind
			of   string
		}{
			{rivers.Everything, ""},
			{rivers.User, "bob"},
			{rivers.Likes, "cat"},
			{rivers.Comments, "cat"},
			{rivers.Home, ""},
			{rivers.Discussions, ""},
			{rivers.Faves, ""},
		} {
			if v.Anonymous() && j > 3 {
				continue
			}
			n := nodes[(i+j)%len(nodes)]
			key := fmt.Sprintf("%s %s of %d", page.kind, page.of, v.AccountID)
			name := w.name(n, v, page.kind, page.of)
			p, err := n.rivers.Visit(w.ctx, v, name, rivers.Cursor{})
			if err != nil {
				all[key] = append(all[key], stand{Code: err.Error()})
				continue
			}
			if (i+j)%2 == 0 {
				if err := n.rivers.Lease(w.ctx, []int64{p.River}); err != nil {
					w.t.Fatal(err)
				}
			}
			for _, it := range p.Items {
				s := stand{Code: it.Fold.Text.Code, Place: it.Place, Liked: it.Liked, Likes: it.Fold.Likes.Total}
				for _, c := range it.Fold.Comments.Shown {
					s.Texts = append(s.Texts, c.Body)
				}
				all[key] = append(all[key], s)
			}
		}
	}
	return all
}

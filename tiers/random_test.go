package tiers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"riverrun/rivers"
	"riverrun/timelines"
)

// Any short sequence of doings on one node, with its events worked at any time,
// in any order, as often as anybody likes, ends with rivers that are what the
// oracle says. What fails shrinks to the shortest sequence.
func TestAnySequence(t *testing.T) {
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "8", "rapid.steps": "25"} {
		if f := flag.Lookup(name); !set[name] {
			was := f.Value.String()
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Value.Set(was) }() // it was its value before
		}
	}
	w := newTown(t)
	v := &village{town: w, n: w.quiet()}
	for _, name := range []string{"ann", "bob", "cat"} {
		v.people = append(v.people, w.quick(name))
		v.names = append(v.names, name)
	}
	for i, level := range []timelines.Level{timelines.Public, timelines.Private} {
		v.names = append(v.names, w.group(v.people[i], "club-"+level.String(), level).Name)
	}
	rapid.Check(t, v.once)
}

// village is a small town with nothing in it, again and again.
type village struct {
	*town
	n      *node
	people []timelines.Viewer
	names  []string // of people, then of groups
	posts  []timelines.Change
	bodies int
}

// empty takes away all that was done; the access clock's epoch goes with the
// rivers, and with it whatever the node remembers.
func (v *village) empty() {
	v.posts = nil
	for _, query := range []string{
		`TRUNCATE posts, subscriptions, subscription_requests, lists, test_events CASCADE`,
		`DELETE FROM timelines WHERE kind = 'post'`,
		`DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.kind IN ('feed', 'directs', 'discussions', 'faves')
			AND t.their_id <> r.account_id`,
		`DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.kind = 'group'
			AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = r.account_id)`,
		`UPDATE timelines t SET access = CASE a.name WHEN 'club-private' THEN 2 ELSE 0 END
			FROM accounts a WHERE a.id = t.their_id AND t.kind IN ('feed', 'group')`,
	} {
		v.execPrimary(query)
	}
	v.execSecondary(`TRUNCATE clock, rivers, rivers_timelines, entries, folds, visits, leases`)
}

func (v *village) once(rt *rapid.T) {
	v.empty()
	who := func() timelines.Viewer { return rapid.SampledFrom(v.people).Draw(rt, "who") }
	name := func() string { return rapid.SampledFrom(v.names).Draw(rt, "name") }
	chance := func() *rand.Rand { return rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "chance"), 0)) }
	act := func(what string, change func(context.Context) (timelines.Change, error)) (timelines.Change, bool) {
		c, err := v.n.tiers.Act(v.ctx, change)
		if err != nil && !expected(err) {
			rt.Fatalf("%s: %v", what, err)
		}
		return c, err == nil
	}
	onPost := func(what string, do func(ctx context.Context, actor int64, code string) (timelines.Change, error)) func(*rapid.T) {
		return func(rt *rapid.T) {
			if len(v.posts) == 0 {
				return
			}
			code, actor := rapid.SampledFrom(v.posts).Draw(rt, "post").Code, who()
			act(what, func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor.AccountID, code) })
		}
	}
	onComment := func(what string, do func(ctx context.Context, actor int64, code string, id int64) (timelines.Change, error)) func(*rapid.T) {
		return func(rt *rapid.T) {
			const query = `SELECT p.code, c.id FROM comments c JOIN posts p ON p.id = c.post_id
				WHERE c.deleted_at IS NULL ORDER BY c.id DESC LIMIT 1`
			var code string
			var id int64
			actor := who().AccountID
			err := v.db.Primary.QueryRow(v.ctx, query).Scan(&code, &id)
			if errors.Is(err, pgx.ErrNoRows) {
				return
			}
			if err != nil {
				rt.Fatal(err)
			}
			act(what, func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor, code, id) })
		}
	}
	text := func() string { v.bodies++; return fmt.Sprintf("text %d", v.bodies) }
	rt.Repeat(map[string]func(*rapid.T){
		"post": func(rt *rapid.T) {
			p := timelines.NewPost{
				Author: who().AccountID, Body: text(), To: rapid.SliceOfN(rapid.SampledFrom(v.names), 0, 2).Draw(rt, "to"),
			}
			if c, ok := act("post", func(ctx context.Context) (timelines.Change, error) { return v.n.store.CreatePost(ctx, p) }); ok {
				v.posts = append(v.posts, c)
			}
		},
		"comment": onPost("comment", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return v.n.store.CreateComment(ctx, timelines.NewComment{Author: actor, Code: code, Body: text()})
		}),
		"like a comment":   onComment("like comment", v.n.store.LikeComment),
		"unlike a comment": onComment("unlike comment", v.n.store.UnlikeComment),
		"delete a comment": func(rt *rapid.T) {
			var id int64
			var code string
			const query = `SELECT coalesce(max(c.id), 0), coalesce(max(p.code), '') FROM posts p JOIN comments c ON c.post_id = p.id
				WHERE c.author_id = $1 AND c.deleted_at IS NULL AND c.id = (
					SELECT max(id) FROM comments WHERE author_id = $1 AND deleted_at IS NULL)`
			actor := who().AccountID
			if err := v.db.Primary.QueryRow(v.ctx, query, actor).Scan(&id, &code); err != nil {
				rt.Fatal(err)
			}
			if id != 0 {
				act("delete comment", func(ctx context.Context) (timelines.Change, error) {
					return v.n.store.DeleteComment(ctx, actor, code, id)
				})
			}
		},
		"like":        onPost("like", v.n.store.Like),
		"unlike":      onPost("unlike", v.n.store.Unlike),
		"fave":        onPost("fave", v.n.store.Fave),
		"unfave":      onPost("unfave", v.n.store.Unfave),
		"delete post": onPost("delete", v.n.store.DeletePost),
		"edit": onPost("edit", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return v.n.store.EditPost(ctx, actor, code, text())
		}),
		"subscribe": func(*rapid.T) {
			actor, to := who().AccountID, name()
			act("subscribe", func(ctx context.Context) (timelines.Change, error) {
				c, _, err := v.n.store.Subscribe(ctx, actor, to)
				return c, err
			})
		},
		"unsubscribe": func(*rapid.T) {
			actor, from := who().AccountID, name()
			act("unsubscribe", func(ctx context.Context) (timelines.Change, error) { return v.n.store.Unsubscribe(ctx, actor, from) })
		},
		"make a list": func(rt *rapid.T) {
			actor := who().AccountID
			act("make list", func(ctx context.Context) (timelines.Change, error) {
				_, c, err := v.n.store.CreateList(ctx, timelines.NewList{Actor: actor, Title: "some"})
				return c, err
			})
		},
		"edit a list": func(rt *rapid.T) {
			actor, members := who().AccountID, rapid.SliceOfN(rapid.SampledFrom(v.names), 0, 2).Draw(rt, "members")
			act("edit list", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.EditList(ctx, actor, "some", "some", members)
			})
		},
		"delete a list": func(rt *rapid.T) {
			actor := who().AccountID
			act("delete list", func(ctx context.Context) (timelines.Change, error) { return v.n.store.DeleteList(ctx, actor, "some") })
		},
		"place": func(rt *rapid.T) {
			actor, whom, inHome := who().AccountID, name(), rapid.Bool().Draw(rt, "in home")
			lists := rapid.SliceOfN(rapid.Just("some"), 0, 1).Draw(rt, "lists")
			act("place", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.Place(ctx, actor, whom, inHome, lists)
			})
		},
		"accept": func(rt *rapid.T) {
			actor, from, group := who().AccountID, name(), rapid.SampledFrom([]string{"", "club-private"}).Draw(rt, "group")
			act("accept", func(ctx context.Context) (timelines.Change, error) { return v.n.store.Accept(ctx, actor, from, group) })
		},
		"set access": func(rt *rapid.T) {
			actor, group := who().AccountID, rapid.SampledFrom([]string{"", "", "club-public", "club-private"}).Draw(rt, "group")
			level := timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			act("set access", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.SetAccess(ctx, actor, group, level)
			})
		},
		"visit": func(rt *rapid.T) { v.look(rt, false) },
		"open":  func(rt *rapid.T) { v.look(rt, true) },
		"work": func(rt *rapid.T) {
			l := luck{rng: chance(), batch: 3, twice: 3, again: 3}
			if _, err := v.queue.work(v.ctx, v.n, l); err != nil {
				rt.Fatalf("work: %v", err)
			}
		},
		"expire": func(rt *rapid.T) {
			v.execSecondary(`UPDATE rivers SET created_at = created_at - interval '2 days', retired_at = retired_at - interval '1 hour'`)
			v.execSecondary(`UPDATE visits SET visited_at = visited_at - interval '2 days'`)
			v.execSecondary(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
			v.execSecondary(`UPDATE folds SET updated_at = updated_at - interval '1 hour'`)
			if _, err := v.n.rivers.Expire(v.ctx); err != nil {
				rt.Fatalf("expire: %v", err)
			}
		},
		"lose a table": func(rt *rapid.T) {
			v.execSecondary(`TRUNCATE ` + rapid.SampledFrom([]string{"clock", "rivers", "rivers_timelines", "entries", "folds", "visits"}).Draw(rt, "table"))
		},
	})
	v.queue.drain(v.ctx, chance(), v.n)
	report, err := v.n.rivers.Check(v.ctx)
	if err != nil {
		rt.Fatal(err)
	}
	for _, d := range report.Differences {
		rt.Errorf("check: %v", d)
	}
	o, err := ask(v.ctx, v.db.Primary)
	if err != nil {
		rt.Fatal(err)
	}
	for _, wrong := range firstFew(o.audit()) {
		rt.Errorf("primary store: %s", wrong)
	}
	for _, viewer := range append([]timelines.Viewer{{}}, v.people...) {
		for _, n := range o.names(viewer.AccountID) {
			if diff := v.compare(v.n, o, viewer, n); diff != "" {
				rt.Errorf("oracle: %s", diff)
			}
		}
	}
}

// look visits a page, and perhaps opens it; what it shows is judged at the end.
func (v *village) look(rt *rapid.T, open bool) {
	viewer := rapid.SampledFrom(append([]timelines.Viewer{{}}, v.people...)).Draw(rt, "viewer")
	kind := rapid.SampledFrom(rivers.Kinds()).Draw(rt, "kind")
	of := rapid.SampledFrom(v.names).Draw(rt, "of")
	if kind == rivers.List {
		of = "some"
	}
	if kind == rivers.Post {
		if len(v.posts) == 0 {
			return
		}
		of = rapid.SampledFrom(v.posts).Draw(rt, "post").Code
	}
	order := rapid.SampledFrom([]rivers.Order{rivers.Fresh, rivers.Created}).Draw(rt, "order")
	n, err := v.n.rivers.Resolve(v.ctx, viewer, kind, of, order)
	if kind.HasModes() && rapid.Bool().Draw(rt, "friends only") {
		n = n.In(rivers.FriendsOnly)
	}
	var page *rivers.Page
	if err == nil {
		page, err = v.n.rivers.Visit(v.ctx, viewer, n, rivers.Cursor{})
	}
	if err == nil && open {
		err = v.n.rivers.Lease(v.ctx, []int64{page.River})
	}
	if err != nil && !expected(err) {
		rt.Fatalf("visit %s of %q: %v", kind, of, err)
	}
}

package tiers_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
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
		`TRUNCATE posts, subscriptions, subscription_requests, group_admins, group_blocks, excluded,
			bans, show_banned, hidden_accounts, hidden_terms, lists, test_events CASCADE`,
		`INSERT INTO group_admins (group_id, account_id)
			SELECT g.id, a.id FROM accounts g, accounts a
			WHERE g.kind = 'group' AND a.name = CASE g.name WHEN 'club-private' THEN 'bob' ELSE 'ann' END`,
		`INSERT INTO readers (timeline_id, account_id)
			SELECT t.id, g.account_id FROM group_admins g JOIN timelines t ON t.kind = 'group' AND t.their_id = g.group_id
			ON CONFLICT DO NOTHING`,
		`UPDATE timelines t SET writers = CASE a.name WHEN 'club-private' THEN 'members' ELSE 'anyone' END
			FROM accounts a WHERE a.id = t.their_id AND t.kind IN ('directs', 'group')`,
		`DELETE FROM timelines WHERE kind IN ('post', 'hashtag') OR kind = 'subfeed' AND term <> 'private'`,
		`DELETE FROM readers r USING timelines t WHERE t.id = r.timeline_id AND t.kind <> 'group'
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
	text := func() string { v.bodies++; return fmt.Sprintf("text %d%s", v.bodies, tagged(v.bodies)) }
	rt.Repeat(map[string]func(*rapid.T){
		"post": func(rt *rapid.T) {
			p := timelines.NewPost{
				Author: who().AccountID, Body: text(), To: v.places(rt, 0),
				Language: rapid.SampledFrom(langs).Draw(rt, "language"),
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
		"move": onPost("move", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return v.n.store.SetDestinations(ctx, actor, code, v.places(rt, 1))
		}),
		"remove from a group": onPost("remove", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			group := rapid.SampledFrom([]string{"club-public", "club-private"}).Draw(rt, "group")
			return v.n.store.RemoveFromGroup(ctx, actor, code, group)
		}),
		"make a sub-feed": func(rt *rapid.T) {
			actor, level := who().AccountID, timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			act("make sub-feed", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.CreateSubfeed(ctx, actor, "photos", "Photos", level)
			})
		},
		"set a sub-feed's access": func(rt *rapid.T) {
			actor, level := who().AccountID, timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			act("set sub-feed access", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.SetSubfeedAccess(ctx, actor, "photos", level)
			})
		},
		"delete a sub-feed": func(rt *rapid.T) {
			actor := who().AccountID
			act("delete sub-feed", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.DeleteSubfeed(ctx, actor, "photos")
			})
		},
		"set a reader": func(rt *rapid.T) {
			actor, reader := who().AccountID, rapid.SampledFrom(v.names[:3]).Draw(rt, "reader")
			slug := rapid.SampledFrom([]string{"", "private", "photos"}).Draw(rt, "slug")
			set := rapid.SampledFrom([]func(context.Context, int64, string, string) (timelines.Change, error){
				v.n.store.AdmitReader, v.n.store.RemoveReader, v.n.store.ExcludeReader, v.n.store.UnexcludeReader,
			}).Draw(rt, "set")
			act("set reader", func(ctx context.Context) (timelines.Change, error) { return set(ctx, actor, slug, reader) })
		},
		"like":        onPost("like", v.n.store.Like),
		"unlike":      onPost("unlike", v.n.store.Unlike),
		"fave":        onPost("fave", v.n.store.Fave),
		"unfave":      onPost("unfave", v.n.store.Unfave),
		"delete post": onPost("delete", v.n.store.DeletePost),
		"edit": onPost("edit", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return v.n.store.EditPostIn(ctx, actor, code, text(), langs[v.bodies%len(langs)])
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
		"decline": func(rt *rapid.T) {
			actor, from, group := who().AccountID, name(), rapid.SampledFrom([]string{"", "club-private"}).Draw(rt, "group")
			act("decline", func(ctx context.Context) (timelines.Change, error) { return v.n.store.Decline(ctx, actor, from, group) })
		},
		"moderate": func(rt *rapid.T) {
			actor, whom, group := who().AccountID, name(), rapid.SampledFrom([]string{"club-public", "club-private"}).Draw(rt, "group")
			do := rapid.SampledFrom(moderations(v.n.store)).Draw(rt, "what")
			act("moderate", func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor, group, whom) })
		},
		"set writers": func(rt *rapid.T) {
			actor, group := who().AccountID, rapid.SampledFrom([]string{"", "club-public", "club-private"}).Draw(rt, "group")
			kind := timelines.User
			if group != "" {
				kind = timelines.Group
			}
			policy := rapid.SampledFrom(timelines.WritersOf(kind)).Draw(rt, "policy")
			act("set writers", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.SetWriters(ctx, actor, group, policy)
			})
		},
		"set access": func(rt *rapid.T) {
			actor, group := who().AccountID, rapid.SampledFrom([]string{"", "", "club-public", "club-private"}).Draw(rt, "group")
			level := timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			act("set access", func(ctx context.Context) (timelines.Change, error) {
				return v.n.store.SetAccess(ctx, actor, group, level)
			})
		},
		"ban or hide": func(rt *rapid.T) {
			store := v.n.store
			acts := map[string]func(context.Context, int64, string) (timelines.Change, error){
				"ban": store.Ban, "unban": store.Unban, "hide": store.HideAccount, "unhide": store.UnhideAccount,
				"hide a word": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.HideTerm(ctx, actor, strconv.Itoa(len(name)))
				},
				"show a word": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.UnhideTerm(ctx, actor, strconv.Itoa(len(name)))
				},
				"show banned": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.ShowBanned(ctx, actor, name, true)
				},
				"hide banned": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.ShowBanned(ctx, actor, name, false)
				},
			}
			what := rapid.SampledFrom(slices.Sorted(maps.Keys(acts))).Draw(rt, "what")
			actor, whom := who().AccountID, name()
			act(what, func(ctx context.Context) (timelines.Change, error) { return acts[what](ctx, actor, whom) })
		},
		"hide a post": onPost("hide post", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			_, c, err := v.n.store.HidePost(ctx, actor, code)
			return c, err
		}),
		"show a post": onPost("unhide post", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			_, c, err := v.n.store.UnhidePost(ctx, actor, code)
			return c, err
		}),
		"visit": func(rt *rapid.T) { v.look(rt, false) },
		"open":  func(rt *rapid.T) { v.look(rt, true) },
		"work": func(rt *rapid.T) {
			l := luck{rng: chance(), batch: 3, twice: 3, again: 3}
			if _, err := v.queue.work(v.ctx, v.n, l); err != nil {
				rt.Fatalf("work: %v", err)
			}
		},
		"expire": func(rt *rapid.T) {
			v.execSecondary(`UPDATE rivers SET created_at = created_at - interval '2 days', retired_at = retired_at - interval '1 hour',
				updated_at = updated_at - interval '1 hour'`)
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

// places are random destinations, at least so many; not all can be written to by
// everybody.
func (v *village) places(rt *rapid.T, least int) []string {
	all := append([]string{timelines.ToEyes}, v.names...)
	for _, name := range v.names[:3] {
		all = append(all, name+"/private", name+"/photos")
	}
	return rapid.SliceOfN(rapid.SampledFrom(all), least, 2).Draw(rt, "to")
}

// look visits a page, and perhaps opens it; what it shows is judged at the end.
func (v *village) look(rt *rapid.T, open bool) {
	viewer := rapid.SampledFrom(append([]timelines.Viewer{{}}, v.people...)).Draw(rt, "viewer")
	kind := rapid.SampledFrom(rivers.Kinds()).Draw(rt, "kind")
	of := ""
	switch kind {
	case rivers.User, rivers.Group, rivers.Likes, rivers.Comments:
		of = rapid.SampledFrom(v.names).Draw(rt, "of")
	case rivers.Subfeed:
		of = rapid.SampledFrom(v.names).Draw(rt, "of") + "/" + rapid.SampledFrom([]string{"private", "photos"}).Draw(rt, "slug")
	case rivers.List:
		of = "some"
	}
	if kind == rivers.Post {
		if len(v.posts) == 0 {
			return
		}
		of = rapid.SampledFrom(v.posts).Draw(rt, "post").Code
	}
	switch kind {
	case rivers.Hashtag:
		of = rapid.SampledFrom(tags).Draw(rt, "tag")
	case rivers.Everything, rivers.Best, rivers.MostFaved:
		of = rapid.SampledFrom(langs).Draw(rt, "language")
	case rivers.Search:
		of = rapid.SampledFrom(searches).Draw(rt, "search").text
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

package tiers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"riverrun/timelines"
	"riverrun/timelines/listings"
)

// doings are what can happen in a village, in one sequence of them.
type doings struct {
	*village
	rt *rapid.T
}

func (d *doings) who() timelines.Viewer { return rapid.SampledFrom(d.people).Draw(d.rt, "who") }

func (d *doings) name() string { return rapid.SampledFrom(d.names).Draw(d.rt, "name") }

func (d *doings) chance() *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(d.rt, "chance"), 0))
}

func (d *doings) text() string {
	d.bodies++
	return fmt.Sprintf("text %d%s", d.bodies, tagged(d.bodies))
}

// act makes a change, which may be refused.
func (d *doings) act(what string, change func(context.Context) (timelines.Change, error)) (timelines.Change, bool) {
	c, err := change(d.ctx)
	c, err = d.n.tiers.Carry(d.ctx, c, err)
	if err != nil && !expected(err) {
		d.rt.Fatalf("%s: %v", what, err)
	}
	return c, err == nil
}

// onPost lets somebody do something with one of the posts.
func (d *doings) onPost(what string, do func(ctx context.Context, actor int64, code string) (timelines.Change, error)) func(*rapid.T) {
	return func(rt *rapid.T) {
		if len(d.posts) == 0 {
			return
		}
		code, actor := rapid.SampledFrom(d.posts).Draw(rt, "post").Code, d.who()
		d.act(what, func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor.AccountID, code) })
	}
}

// onComment lets somebody do something with the last comment.
func (d *doings) onComment(what string, do func(ctx context.Context, actor int64, code string, id int64) (timelines.Change, error)) func(*rapid.T) {
	return func(rt *rapid.T) {
		const query = `SELECT p.code, c.id FROM comments c JOIN posts p ON p.id = c.post_id
			WHERE c.deleted_at IS NULL ORDER BY c.id DESC LIMIT 1`
		var code string
		var id int64
		actor := d.who().AccountID
		err := d.db.Primary.QueryRow(d.ctx, query).Scan(&code, &id)
		if errors.Is(err, pgx.ErrNoRows) {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		d.act(what, func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor, code, id) })
	}
}

// writing are what people do with posts and comments.
func (d *doings) writing() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"post": func(rt *rapid.T) {
			p := timelines.NewPost{
				Author: d.who().AccountID, Body: d.text(), To: d.places(rt, 0),
				Language: rapid.SampledFrom(langs).Draw(rt, "language"),
			}
			if c, ok := d.act("post", func(ctx context.Context) (timelines.Change, error) { return d.n.store.Posts.Create(ctx, p) }); ok {
				d.posts = append(d.posts, c)
			}
		},
		"offer": func(rt *rapid.T) {
			p := timelines.NewPost{
				Author: d.who().AccountID, Body: d.text(), To: []string{rapid.SampledFrom([]string{"club-public", "club-private"}).Draw(rt, "group")},
				Listing: &listings.Fields{
					Price:    rapid.SampledFrom([]string{"", "0", "10", "100.50"}).Draw(rt, "price"),
					Currency: rapid.SampledFrom([]string{"EUR", "USD"}).Draw(rt, "currency"),
				},
			}
			if c, ok := d.act("offer", func(ctx context.Context) (timelines.Change, error) { return d.n.store.Posts.Create(ctx, p) }); ok {
				d.posts = append(d.posts, c)
			}
		},
		"close": d.onPost("close", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return d.n.store.Posts.Close(ctx, actor, code, listings.Sale{How: listings.Sold, Price: "5"})
		}),
		"renew": d.onPost("renew", d.n.store.Posts.Renew),
		"change the price": d.onPost("price", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return d.n.store.Posts.Revise(ctx, actor, code, timelines.Revision{Listing: &listings.Fields{Price: "7", Currency: "EUR"}})
		}),
		"the last day is over": func(*rapid.T) {
			d.execPrimary(`UPDATE listings SET until_at = now() - interval '1 minute' WHERE state = 'active'`)
			d.act("expire listings", func(ctx context.Context) (timelines.Change, error) {
				c, _, err := d.n.store.Maintenance.ExpireListings(ctx, 1000)
				return c, err
			})
		},
		"comment": d.onPost("comment", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return d.n.store.Comments.Create(ctx, timelines.NewComment{Author: actor, Code: code, Body: d.text()})
		}),
		"edit": d.onPost("edit", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return d.n.store.Posts.Revise(ctx, actor, code, timelines.Revision{Body: new(d.text()), Language: new(langs[d.bodies%len(langs)])})
		}),
		"items of a source": d.source,
		"delete post":       d.onPost("delete", d.n.store.Posts.Delete),
		"delete a comment": func(rt *rapid.T) {
			var id int64
			var code string
			const query = `SELECT coalesce(max(c.id), 0), coalesce(max(p.code), '') FROM posts p JOIN comments c ON c.post_id = p.id
				WHERE c.author_id = $1 AND c.deleted_at IS NULL AND c.id = (
					SELECT max(id) FROM comments WHERE author_id = $1 AND deleted_at IS NULL)`
			actor := d.who().AccountID
			if err := d.db.Primary.QueryRow(d.ctx, query, actor).Scan(&id, &code); err != nil {
				rt.Fatal(err)
			}
			if id != 0 {
				d.act("delete comment", func(ctx context.Context) (timelines.Change, error) {
					return d.n.store.Comments.Delete(ctx, actor, code, id)
				})
			}
		},
		"like":             d.onPost("like", d.n.store.Posts.Like),
		"unlike":           d.onPost("unlike", d.n.store.Posts.Unlike),
		"fave":             d.onPost("fave", d.n.store.Posts.Fave),
		"unfave":           d.onPost("unfave", d.n.store.Posts.Unfave),
		"like a comment":   d.onComment("like comment", d.n.store.Comments.Like),
		"unlike a comment": d.onComment("unlike comment", d.n.store.Comments.Unlike),
		"move": d.onPost("move", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			return d.n.store.Posts.Revise(ctx, actor, code, timelines.Revision{To: d.places(d.rt, 1)})
		}),
		"remove from a group": d.onPost("remove", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			group := rapid.SampledFrom([]string{"club-public", "club-private"}).Draw(d.rt, "group")
			return d.n.store.Posts.RemoveFromGroup(ctx, actor, code, group)
		}),
	}
}

// feeds are what people do with who may read and write where.
func (d *doings) feeds() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"make a sub-feed": func(rt *rapid.T) {
			actor, level := d.who().AccountID, timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			d.act("make sub-feed", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Feeds.Create(ctx, actor, "photos", "Photos", level)
			})
		},
		"set a sub-feed's access": func(rt *rapid.T) {
			actor, level := d.who().AccountID, timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			d.act("set sub-feed access", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Feeds.SetSubfeedAccess(ctx, actor, "photos", level)
			})
		},
		"delete a sub-feed": func(rt *rapid.T) {
			actor := d.who().AccountID
			d.act("delete sub-feed", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Feeds.Delete(ctx, actor, "photos")
			})
		},
		"set a reader": func(rt *rapid.T) {
			actor, reader := d.who().AccountID, rapid.SampledFrom(d.names[:3]).Draw(rt, "reader")
			slug := rapid.SampledFrom([]string{"", "private", "photos"}).Draw(rt, "slug")
			set := rapid.SampledFrom([]func(context.Context, int64, string, string) (timelines.Change, error){
				d.n.store.Feeds.Admit, d.n.store.Feeds.Remove, d.n.store.Feeds.Exclude, d.n.store.Feeds.Unexclude,
			}).Draw(rt, "set")
			d.act("set reader", func(ctx context.Context) (timelines.Change, error) { return set(ctx, actor, slug, reader) })
		},
		"set access": func(rt *rapid.T) {
			actor, group := d.who().AccountID, rapid.SampledFrom([]string{"", "", "club-public", "club-private"}).Draw(rt, "group")
			level := timelines.Level(rapid.IntRange(0, 2).Draw(rt, "level"))
			d.act("set access", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Feeds.SetAccess(ctx, actor, group, level)
			})
		},
		"set writers": func(rt *rapid.T) {
			actor, group := d.who().AccountID, rapid.SampledFrom([]string{"", "club-public", "club-private"}).Draw(rt, "group")
			kind := timelines.User
			if group != "" {
				kind = timelines.Group
			}
			policy := rapid.SampledFrom(timelines.WritersOf(kind)).Draw(rt, "policy")
			d.act("set writers", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Groups.SetWriters(ctx, actor, group, policy)
			})
		},
		"moderate": func(rt *rapid.T) {
			actor, whom, group := d.who().AccountID, d.name(), rapid.SampledFrom([]string{"club-public", "club-private"}).Draw(rt, "group")
			do := rapid.SampledFrom(moderations(d.n.store)).Draw(rt, "what")
			d.act("moderate", func(ctx context.Context) (timelines.Change, error) { return do(ctx, actor, group, whom) })
		},
	}
}

// following is what people do about whom they follow.
func (d *doings) following() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"subscribe": func(*rapid.T) {
			actor, to := d.who().AccountID, d.name()
			d.act("subscribe", func(ctx context.Context) (timelines.Change, error) {
				c, _, err := d.n.store.Subscriptions.Subscribe(ctx, actor, to)
				return c, err
			})
		},
		"unsubscribe": func(*rapid.T) {
			actor, from := d.who().AccountID, d.name()
			d.act("unsubscribe", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Subscriptions.Unsubscribe(ctx, actor, from)
			})
		},
		"make a list": func(rt *rapid.T) {
			actor := d.who().AccountID
			d.act("make list", func(ctx context.Context) (timelines.Change, error) {
				_, c, err := d.n.store.Lists.Create(ctx, timelines.NewList{Actor: actor, Title: "some"})
				return c, err
			})
		},
		"edit a list": func(rt *rapid.T) {
			actor, members := d.who().AccountID, rapid.SliceOfN(rapid.SampledFrom(d.names), 0, 2).Draw(rt, "members")
			d.act("edit list", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Lists.Edit(ctx, actor, "some", "some", members)
			})
		},
		"delete a list": func(rt *rapid.T) {
			actor := d.who().AccountID
			d.act("delete list", func(ctx context.Context) (timelines.Change, error) { return d.n.store.Lists.Delete(ctx, actor, "some") })
		},
		"place": func(rt *rapid.T) {
			actor, whom, inHome := d.who().AccountID, d.name(), rapid.Bool().Draw(rt, "in home")
			lists := rapid.SliceOfN(rapid.Just("some"), 0, 1).Draw(rt, "lists")
			d.act("place", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Lists.Place(ctx, actor, whom, inHome, lists)
			})
		},
		"accept": func(rt *rapid.T) {
			actor, from, group := d.who().AccountID, d.name(), rapid.SampledFrom([]string{"", "club-private"}).Draw(rt, "group")
			d.act("accept", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Subscriptions.Accept(ctx, actor, from, group)
			})
		},
		"decline": func(rt *rapid.T) {
			actor, from, group := d.who().AccountID, d.name(), rapid.SampledFrom([]string{"", "club-private"}).Draw(rt, "group")
			d.act("decline", func(ctx context.Context) (timelines.Change, error) {
				return d.n.store.Subscriptions.Decline(ctx, actor, from, group)
			})
		},
	}
}

// hiding is what people do so as not to see something.
func (d *doings) hiding() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"ban or hide": func(rt *rapid.T) {
			store := d.n.store
			acts := map[string]func(context.Context, int64, string) (timelines.Change, error){
				"ban": store.Bans.Ban, "unban": store.Bans.Unban, "hide": store.Hides.HideAccount, "unhide": store.Hides.UnhideAccount,
				"hide a word": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.Hides.HideTerm(ctx, actor, strconv.Itoa(len(name)))
				},
				"show a word": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.Hides.UnhideTerm(ctx, actor, strconv.Itoa(len(name)))
				},
				"show banned": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.Bans.ShowBanned(ctx, actor, name, true)
				},
				"hide banned": func(ctx context.Context, actor int64, name string) (timelines.Change, error) {
					return store.Bans.ShowBanned(ctx, actor, name, false)
				},
			}
			what := rapid.SampledFrom(slices.Sorted(maps.Keys(acts))).Draw(rt, "what")
			actor, whom := d.who().AccountID, d.name()
			d.act(what, func(ctx context.Context) (timelines.Change, error) { return acts[what](ctx, actor, whom) })
		},
		"hide a post": d.onPost("hide post", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			_, c, err := d.n.store.Hides.HidePost(ctx, actor, code)
			return c, err
		}),
		"show a post": d.onPost("unhide post", func(ctx context.Context, actor int64, code string) (timelines.Change, error) {
			_, c, err := d.n.store.Hides.UnhidePost(ctx, actor, code)
			return c, err
		}),
	}
}

// operating is what happens to the rivers: they are read, brought up, expired and lost.
func (d *doings) operating() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"visit": func(rt *rapid.T) { d.look(rt, false) },
		"open":  func(rt *rapid.T) { d.look(rt, true) },
		"work": func(rt *rapid.T) {
			l := luck{rng: d.chance(), batch: 3, twice: 3, again: 3}
			if _, err := d.queue.work(d.ctx, d.n, l); err != nil {
				rt.Fatalf("work: %v", err)
			}
		},
		"expire": func(rt *rapid.T) {
			d.execSecondary(`UPDATE rivers SET created_at = created_at - interval '2 days', retired_at = retired_at - interval '1 hour',
				updated_at = updated_at - interval '1 hour'`)
			d.execSecondary(`UPDATE visits SET visited_at = visited_at - interval '2 days'`)
			d.execSecondary(`UPDATE entries SET updated_at = updated_at - interval '1 hour'`)
			d.execSecondary(`UPDATE folds SET updated_at = updated_at - interval '1 hour'`)
			if _, err := d.n.rivers.Expire(d.ctx); err != nil {
				rt.Fatalf("expire: %v", err)
			}
		},
		"lose a table": func(rt *rapid.T) {
			d.execSecondary(`TRUNCATE ` + rapid.SampledFrom([]string{"clock", "rivers", "rivers_timelines", "entries", "folds", "visits"}).Draw(rt, "table"))
		},
	}
}

// source makes, edits and deletes posts as a source of somebody's does, in one transaction.
func (d *doings) source(rt *rapid.T) {
	// Texts of items name nobody: who is named there is not told, which the oracle expects.
	text := func() string { return strings.ReplaceAll(d.text(), "@", "") }
	place := timelines.ItemPlace{Author: d.who().AccountID, To: rapid.SampledFrom(d.names).Draw(rt, "to"), Via: "a source"}
	var fresh []timelines.ItemPost
	for range rapid.IntRange(0, 3).Draw(rt, "new") {
		fresh = append(fresh, timelines.ItemPost{
			Body: text(), Language: rapid.SampledFrom(langs).Draw(rt, "language"), Lifts: rapid.Bool().Draw(rt, "lifts"),
			CreatedAt: time.Now().Add(-time.Duration(rapid.IntRange(0, 40*24).Draw(rt, "hours")) * time.Hour),
		})
	}
	var edits []timelines.ItemPost
	var gone []int64
	if len(d.items) > 0 {
		edits = append(edits, timelines.ItemPost{ID: rapid.SampledFrom(d.items).Draw(rt, "edited"), Body: text()})
		gone = append(gone, rapid.SampledFrom(d.items).Draw(rt, "gone"))
	}
	var made []int64
	_, ok := d.act("items", func(ctx context.Context) (timelines.Change, error) {
		tx, err := d.db.Primary.Begin(ctx)
		if err != nil {
			return timelines.Change{}, err
		}
		defer tx.Rollback(context.WithoutCancel(ctx)) // no effect after the commit
		x, err := d.n.store.Items.Begin(ctx, tx, place)
		if err != nil {
			return timelines.Change{}, err
		}
		made, err = x.Create(ctx, fresh)
		if err == nil {
			_, _, err = x.Edit(ctx, edits)
		}
		if err == nil {
			_, err = x.Delete(ctx, gone, rapid.Bool().Draw(rt, "discussed too"))
		}
		if err != nil {
			return timelines.Change{}, err
		}
		c, err := x.End(ctx)
		if err != nil {
			return timelines.Change{}, err
		}
		return c, tx.Commit(ctx)
	})
	for _, id := range made {
		if !ok {
			break
		}
		c := timelines.Change{PostID: id}
		if err := d.db.Primary.QueryRow(d.ctx, `SELECT code FROM posts WHERE id = $1`, id).Scan(&c.Code); err != nil {
			rt.Fatal(err)
		}
		d.posts, d.items = append(d.posts, c), append(d.items, id)
	}
}

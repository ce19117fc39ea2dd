package timelines

import (
	"errors"
	"testing"
)

// A transaction that waits for a row holds none that comes after it in the order of locks
// (doc.go). Somebody else holds first; act waits for it; then what comes later must be free
// for who holds first, or the two would wait for each other.
func TestOrderOfLocks(t *testing.T) {
	const (
		posts    = `SELECT FROM posts p JOIN accounts a ON a.id = p.author_id WHERE a.name = 'bob'`
		feed     = `SELECT FROM timelines t JOIN accounts a ON a.id = t.their_id WHERE a.name = 'bob' AND t.kind = 'feed'`
		club     = `SELECT FROM timelines t JOIN accounts a ON a.id = t.their_id WHERE a.name = 'club'`
		group    = `SELECT FROM accounts a WHERE a.name = 'club'`
		requests = `SELECT FROM subscription_requests r JOIN accounts a ON a.id = r.subscriber_id WHERE a.name = `
		follows  = `SELECT FROM subscriptions s JOIN accounts a ON a.id = s.subscriber_id WHERE a.name = `
		readers  = `SELECT FROM readers r JOIN accounts a ON a.id = r.account_id WHERE a.name = `
	)
	type change = func(w *town, bob, ann Account, p Change) error
	for name, tc := range map[string]struct {
		first string
		act   change
		then  []string
	}{
		"a move: places, then the post": {
			club + ` FOR NO KEY UPDATE OF t`,
			func(w *town, bob, _ Account, p Change) error {
				return second(w.Posts.Revise(w.Context(), bob.ID, p.Code, Revision{To: []string{"bob", "club"}}))
			},
			[]string{posts + ` FOR NO KEY UPDATE OF p`},
		},
		"a level: the feed, then its posts": {
			feed + ` FOR SHARE OF t`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Feeds.SetAccess(w.Context(), bob.ID, "", Private))
			},
			[]string{posts + ` FOR NO KEY UPDATE OF p`},
		},
		"a level: posts in the order of ids": {
			posts + ` AND p.id = (SELECT min(id) FROM posts) FOR NO KEY UPDATE OF p`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Feeds.SetAccess(w.Context(), bob.ID, "", Private))
			},
			[]string{posts + ` ORDER BY p.id FOR NO KEY UPDATE OF p`},
		},
		"a group's profile: the account, then its timeline": {
			group + ` FOR NO KEY UPDATE`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Groups.SetProfile(w.Context(), bob.ID, "club", "Club", ""))
			},
			[]string{club + ` FOR NO KEY UPDATE OF t`},
		},
		"an answer: the group, then the request": {
			club + ` FOR NO KEY UPDATE OF t`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Subscriptions.Accept(w.Context(), bob.ID, "asking", "club"))
			},
			[]string{requests + `'asking' FOR UPDATE OF r`},
		},
		"an import's follows: the feeds, then the request and who reads": {
			club + ` FOR SHARE OF t`,
			func(w *town, bob, _ Account, _ Change) error {
				asking, err := w.Accounts.ByName(w.Context(), "asking")
				w.must(err)
				group, err := w.Accounts.ByName(w.Context(), "club")
				w.must(err)
				return second(w.follow(ImportedFollow{asking.ID, bob.ID}, ImportedFollow{asking.ID, group.ID}))
			},
			[]string{requests + `'asking' FOR UPDATE OF r`, readers + `'asking' FOR UPDATE OF r`},
		},
		"a subscription: the request, then who follows and who reads": {
			requests + `'asking' FOR UPDATE OF r`,
			func(w *town, _, _ Account, _ Change) error {
				asking, err := w.Accounts.ByName(w.Context(), "asking")
				w.must(err)
				_, _, err = w.Subscriptions.Subscribe(w.Context(), asking.ID, "club")
				return err
			},
			[]string{readers + `'asking' FOR UPDATE OF r`},
		},
		"an end: who follows, then who reads": {
			follows + `'ann' FOR UPDATE OF s`,
			func(w *town, _, ann Account, _ Change) error {
				return second(w.Subscriptions.Unsubscribe(w.Context(), ann.ID, "club"))
			},
			[]string{readers + `'ann' FOR UPDATE OF r`},
		},
		"a removal: the group, then who follows and who reads": {
			club + ` FOR NO KEY UPDATE OF t`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Groups.RemoveMember(w.Context(), bob.ID, "club", "ann"))
			},
			[]string{follows + `'ann' FOR UPDATE OF s`, readers + `'ann' FOR UPDATE OF r`},
		},
		"an exclusion: the group, then the request and who reads": {
			club + ` FOR SHARE OF t`,
			func(w *town, bob, _ Account, _ Change) error {
				return second(w.Groups.Exclude(w.Context(), bob.ID, "club", "asking"))
			},
			[]string{requests + `'asking' FOR UPDATE OF r`, readers + `'asking' FOR UPDATE OF r`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			bob, asking := w.user("bob"), w.user("asking")
			w.group(bob, "club", Public)
			ann := w.member("ann", "club")
			w.setAccess(bob, "club", Private)
			// Two posts on one page of the table, the later one in front, and many more: no
			// plan is right by chance.
			p := w.post(bob, "first")
			for range 40 {
				w.post(bob, "more")
			}
			w.exec(`UPDATE posts SET via = 'x' WHERE id = $1`, p.PostID)
			w.subscribe(asking, "club")
			w.act(w.Groups.Admit, bob, "club", "asking")
			held := w.hold()
			rows(w, held, tc.first)
			acted := during(func() error { return tc.act(w, bob, ann, p) })
			w.waitBlocked(1)
			for _, then := range tc.then {
				rows(w, held, then+` NOWAIT`)
			}
			w.must(held.Rollback(t.Context()))
			w.must(acted())
			w.sound()
		})
	}
}

// rows runs a statement that must find some.
func rows(w *town, tx querier, query string) {
	w.Helper()
	found, err := tx.Query(w.Context(), query)
	w.must(err)
	n := 0
	for found.Next() {
		n++
	}
	if err := found.Err(); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	if n == 0 {
		w.Fatalf("%s finds nothing", query)
	}
}

// An import puts a post into a second place while the level of the first changes: the
// flag is of both.
func TestImportMovesAgainstSetAccess(t *testing.T) {
	for _, second := range []Level{Public, Private} {
		t.Run(second.String(), func(t *testing.T) {
			w := newTown(t)
			p, other := tale("1"), tale("2")
			p.To, other.To = []ImportedAccount{person("ann")}, []ImportedAccount{club("pub")}
			w.importPosts(10, p, other)
			w.exec(`UPDATE timelines SET access = $1 WHERE kind = 'group'`, second)
			w.exec(`UPDATE posts SET is_public = $1 WHERE id = $2`, second == Public, w.imported(originPost, "2"))
			post, ann := w.imported(originPost, "1"), w.importedAccount("ann")
			moving := w.pauseInside()
			p.To = []ImportedAccount{club("pub")}
			moved := during(func() error {
				im, err := w.Imports.Start(w.Context(), FriendFeedSource)
				if err != nil {
					return err
				}
				_, err = im.Add(w.Context(), []Imported{p})
				return errors.Join(err, im.Close(w.Context()))
			})
			moving.reached(t)
			set := during(func() error {
				_, err := w.Feeds.SetAccess(t.Context(), ann.ID, "", Private)
				return err
			})
			w.waitBlocked(1)
			moving.release()
			w.must(moved())
			w.must(set())
			w.same("flag", w.isPublic(post), second == Public)
			w.sound()
		})
	}
}

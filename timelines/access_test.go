package timelines

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// isPublic is the flag of a post.
func (w *town) isPublic(post int64) bool {
	w.Helper()
	return value[bool](w, `SELECT is_public FROM posts WHERE id = $1`, post)
}

func TestSetAccess(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.group(bob, "club", Public)
	own := w.post(bob, "mine")
	both := w.post(bob, "mine and ours", "bob", "club")
	ours := w.post(ann, "ours", "club")
	direct := w.post(bob, "between us", "ann")
	gone := w.post(bob, "gone")
	_, err := w.Posts.Delete(t.Context(), bob.ID, gone.Code)
	w.must(err)
	versions := w.version(both.PostID)
	w.heard.take()

	for _, tc := range []struct {
		group           string
		level           Level
		own, both, ours bool
		wrong           Replace
	}{
		{"", Private, false, true, true, Replace{Everybody: true}},
		{"club", Protected, false, false, false, Replace{}}, // the anonymous'
		{"club", Private, false, false, false, Replace{Everybody: true}},
		{"", Public, true, true, false, Replace{Everybody: true}},
	} {
		before := w.clock()
		feed := bob.FeedID
		if tc.group != "" {
			feed = club.FeedID
		}
		c := w.setAccess(bob, tc.group, tc.level)
		w.same("change", c, Change{Actor: bob.ID, Clock: before + 1, Replace: []Replace{tc.wrong}})
		w.same("announced", w.heard.take(), []Event{tc.wrong})
		w.same("logged", w.logged(before), []Invalidation{{N: before + 1, TimelineID: feed, Kind: "level"}})
		what := "flags with " + tc.group + " " + tc.level.String()
		w.same(what, []bool{w.isPublic(own.PostID), w.isPublic(both.PostID), w.isPublic(ours.PostID)}, []bool{tc.own, tc.both, tc.ours})
		w.same("flags of a direct", w.isPublic(direct.PostID), false)
		w.same("flags of what was deleted", w.isPublic(gone.PostID), false)
		w.sound()

		// Again: no change, but its answer waits for the first one's number.
		c = w.setAccess(bob, tc.group, tc.level)
		w.same("change, again", c, Change{Actor: bob.ID, Clock: before + 1})
		w.same("announced", w.heard.take(), []Event(nil))
	}
	w.same("version", w.version(both.PostID), versions)

	_, err = w.Feeds.SetAccess(t.Context(), ann.ID, "club", Public)
	w.fails("who does not administer", err, ErrForbidden)
	_, err = w.Feeds.SetAccess(t.Context(), ann.ID, "bob", Public)
	w.fails("another person's feed", err, ErrNotFound)
	_, err = w.Feeds.SetAccess(t.Context(), ann.ID, "nogroup", Public)
	w.fails("no group", err, ErrNotFound)
	_, err = w.Feeds.SetAccess(t.Context(), ann.ID, "", 3)
	w.invalid("no level", err, "level_unknown")
	_, err = w.Feeds.SetAccess(t.Context(), 999, "", Public)
	w.fails("nobody", err, ErrNotFound)
}

// A change of level reaches the rivers of those who read more or less from then on,
// and no others.
func TestWhomALevelConcerns(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	everybody, of := []Replace{{Everybody: true}}, []Replace{{AccountID: bob.ID}}
	nobody := Replace{ViewerID: 0}
	set := func(what string, level Level, want ...Replace) {
		t.Helper()
		w.same(what, w.setAccess(bob, "", level).Replace, want)
	}
	set("nothing, for the signed in", Protected, nobody)
	set("nothing, for readers", Private, of...)
	set("nothing, for all", Public, of...)
	p := w.post(bob, "hello")
	_, err := w.Feeds.Exclude(t.Context(), bob.ID, "", "ann")
	w.must(err)
	set("a post, for the signed in but ann", Protected, nobody, Replace{ViewerID: ann.ID})
	set("a post, for readers", Private, everybody...)
	set("a post, for the signed in", Protected, everybody...)
	set("a post, for all", Public, nobody, Replace{ViewerID: ann.ID})
	w.exec(`
		WITH made AS (
			INSERT INTO accounts (kind, name, title) SELECT 'user', 'foe-' || i, 'foe' FROM generate_series(1, $2) i RETURNING id)
		INSERT INTO excluded (timeline_id, account_id) SELECT $1, id FROM made`, bob.FeedID, manyReaders)
	set("a post, for the signed in but very many", Protected, everybody...)
	_, err = w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	set("a post deleted", Public, of...)
	w.sound()
}

// Somebody is excluded while the feed goes from public to protected: whichever
// comes second announces their rivers.
func TestExcludeAgainstSetAccess(t *testing.T) {
	start := func(t *testing.T) (w *town, ann Account, exclude, set func() (Change, error)) {
		w = newTown(t)
		bob := w.user("bob")
		ann = w.user("ann")
		w.post(bob, "hello")
		return w, ann, func() (Change, error) { return w.Feeds.Exclude(w.Context(), bob.ID, "", "ann") },
			func() (Change, error) { return w.Feeds.SetAccess(w.Context(), bob.ID, "", Protected) }
	}
	// meet makes two changes. The first has done everything but draw its number, and
	// waits.
	meet := func(w *town, first, second func() (Change, error)) (one, two Change) {
		clock := w.hold()
		_, err := clock.Exec(w.Context(), `SELECT FROM access_clock FOR UPDATE`)
		w.must(err)
		into := func(to *Change, change func() (Change, error)) func() error {
			return during(func() (err error) {
				*to, err = change()
				return err
			})
		}
		waitOne := into(&one, first)
		w.waitBlocked(1)
		waitTwo := into(&two, second)
		w.waitBlocked(2)
		w.must(clock.Rollback(w.Context()))
		w.must(waitOne())
		w.must(waitTwo())
		return one, two
	}
	t.Run("exclude first", func(t *testing.T) {
		w, ann, exclude, set := start(t)
		excluded, level := meet(w, exclude, set)
		w.same("wrong by the exclusion", excluded.Replace, []Replace(nil))
		w.same("wrong by the level", level.Replace, []Replace{{ViewerID: 0}, {ViewerID: ann.ID}})
	})
	t.Run("level first", func(t *testing.T) {
		w, ann, exclude, set := start(t)
		level, excluded := meet(w, set, exclude)
		w.same("wrong by the level", level.Replace, []Replace{{ViewerID: 0}})
		w.same("wrong by the exclusion", excluded.Replace, []Replace{{ViewerID: ann.ID}})
	})
}

// A post is being written while its group goes private: whichever comes first,
// the flags are of the level that stands.
func TestCreatePostAgainstSetAccess(t *testing.T) {
	t.Run("level first", func(t *testing.T) {
		w := newTown(t)
		bob := w.user("bob")
		setting := w.pauseInside()
		set := during(func() error {
			_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)
			return err
		})
		setting.reached(t)
		var c Change
		posted := during(func() (err error) {
			c, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello"})
			return err
		})
		w.waitBlocked(1)
		setting.release()
		w.must(set())
		w.must(posted())
		w.same("flags", w.isPublic(c.PostID), false)
		w.sound()
	})
	t.Run("post first", func(t *testing.T) {
		w := newTown(t)
		bob := w.user("bob")
		posting := w.pauseInside()
		var c Change
		posted := during(func() (err error) {
			c, err = w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello"})
			return err
		})
		posting.reached(t)
		set := during(func() error {
			_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "", Private)
			return err
		})
		w.waitBlocked(1)
		posting.release()
		w.must(posted())
		w.must(set())
		w.same("flags", w.isPublic(c.PostID), false)
		w.sound()
	})
	t.Run("the right to write", func(t *testing.T) {
		w := newTown(t)
		bob, ann := w.user("bob"), w.user("ann")
		w.group(bob, "club", Public)
		setting := w.pauseInside()
		set := during(func() error {
			_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "club", Private)
			return err
		})
		setting.reached(t)
		posted := during(func() error {
			_, err := w.Posts.Create(t.Context(), NewPost{Author: ann.ID, Body: "hello", To: []string{"club"}})
			return err
		})
		w.waitBlocked(1)
		setting.release()
		w.must(set())
		w.invalid("a post by no member", posted(), "to_forbidden")
	})
}

// Two groups that share a post go private at once: each must not count on the
// other to be public still.
func TestSetAccessOfTwoGroupsAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	w.group(bob, "club", Public)
	w.group(bob, "pub", Public)
	p := w.post(bob, "hello", "club", "pub")
	first := w.pauseInside()
	one := during(func() error {
		_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "club", Private)
		return err
	})
	first.reached(t)
	two := during(func() error {
		_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "pub", Private)
		return err
	})
	w.waitBlocked(1)
	first.release()
	w.must(one())
	w.must(two())
	w.same("flags", w.isPublic(p.PostID), false)
	w.sound()
}

// A post deleted while its feed opens gets no flag.
func TestDeletePostAgainstSetAccess(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	w.setAccess(bob, "", Private)
	deleting := w.pauseInside()
	deleted := during(func() error {
		_, err := w.Posts.Delete(t.Context(), bob.ID, p.Code)
		return err
	})
	deleting.reached(t)
	set := during(func() error {
		_, err := w.Feeds.SetAccess(t.Context(), bob.ID, "", Public)
		return err
	})
	w.waitBlocked(1)
	deleting.release()
	w.must(deleted())
	w.must(set())
	w.same("flags", w.isPublic(p.PostID), false)
	w.sound()
}

// The clock is the last statement of its transaction: while a change announces,
// its number is not drawn yet.
func TestClockIsDrawnLast(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	before := w.clock()
	announced := 0
	w.heard.inside(func(ctx context.Context, tx pgx.Tx, _ []Event) error {
		announced++
		_, err := w.pool.Exec(ctx, `SELECT FROM access_clock WHERE n = `+
			`(SELECT n FROM access_clock) FOR UPDATE NOWAIT`)
		return err
	})
	w.subscribe(ann, "bob")
	w.setAccess(bob, "", Private)
	_, err := w.Subscriptions.Unsubscribe(t.Context(), ann.ID, "bob")
	w.must(err)
	w.subscribe(ann, "bob")
	_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
	w.must(err)
	w.group(bob, "club", Public)
	w.same("announcements", announced, 5)
	w.same("clock", w.clock(), before+6) // a request draws one, and announces nothing
	w.sound()
}

// Numbers are in commit order: who sees a number sees the rows of all before.
func TestClockIsInCommitOrder(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writers, reader sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 25 {
				if _, err := w.Accounts.SetProfile(t.Context(), bob.ID, "Bob", "", "en"); err != nil {
					t.Errorf("SetProfile: %v", err)
				}
			}
		})
	}
	reader.Go(func() {
		for ctx.Err() == nil {
			// One statement, one snapshot.
			var n, rows int64
			err := w.pool.QueryRow(t.Context(),
				`SELECT (SELECT n FROM access_clock), (SELECT count(*) FROM access_log)`).Scan(&n, &rows)
			if err != nil || n != rows+1 {
				t.Errorf("clock at %d with %d numbers logged, %v; want one more than logged", n, rows, err)
				return
			}
		}
	})
	writers.Wait()
	stop()
	reader.Wait()
	w.same("clock", w.clock(), int64(101))
	w.sound()
}

func TestTrimAccessLogAndKeys(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	for _, key := range []string{"old", "new"} {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello", Key: key})
		w.must(err)
		w.setAccess(bob, "", map[string]Level{"old": Private, "new": Public}[key])
	}
	w.exec(`UPDATE keys SET created_at = now() - interval '2 hours' WHERE key = 'old'`)
	w.exec(`UPDATE access_log SET created_at = now() - interval '2 hours'`) // the last of these stays
	for what, trim := range map[string]func(context.Context, time.Duration) (int64, error){
		"ExpireKeys": w.Maintenance.ExpireKeys, "TrimAccessLog": w.Maintenance.TrimAccessLog,
	} {
		for i, want := range []int64{1, 0} {
			if got, err := trim(t.Context(), time.Hour); err != nil || got != want {
				t.Errorf("%s, round %d: got %d, %v; want %d", what, i, got, err, want)
			}
		}
	}
}

// A follower who is excluded while the feed is protected or public does not read it when it
// becomes private, and cannot come to read it.
func TestTheExcludedReadNoPrivateFeed(t *testing.T) {
	for _, level := range []Level{Public, Protected} {
		t.Run(level.String(), func(t *testing.T) {
			w := newTown(t)
			ann, bob := w.user("ann"), w.user("bob")
			p := w.post(bob, "hello")
			w.setAccess(bob, "", level)
			w.subscribe(ann, "bob")
			w.must(second(w.Feeds.Exclude(t.Context(), bob.ID, "", "ann")))
			_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			w.fails("subscribe", err, ErrExcluded)
			w.setAccess(bob, "", Private)
			w.same("reads", w.mayRead(ann.ID, p.PostID), false)
			_, _, err = w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			w.fails("ask", err, ErrExcluded)
			// People who are let in again may ask, and an admitted person is not excluded.
			w.must(second(w.Feeds.Unexclude(t.Context(), bob.ID, "", "ann")))
			_, requested, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			w.must(err)
			w.same("asks", requested, true)
			w.must(second(w.Feeds.Exclude(t.Context(), bob.ID, "", "ann")))
			_, err = w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")
			w.fails("accept", err, ErrNotFound)
			w.must(second(w.Feeds.Admit(t.Context(), bob.ID, "", "ann")))
			w.same("reads", w.mayRead(ann.ID, p.PostID), true)
			w.setAccess(bob, "", Protected)
			w.same("reads", w.mayRead(ann.ID, p.PostID), true)
			w.sound()
		})
	}
}

// Somebody is accepted while being excluded, or, having been admitted meanwhile, while
// being removed: whichever comes first, they read no more, and all their rivers are
// announced.
func TestAcceptAgainstClosing(t *testing.T) {
	for what, closing := range map[string]func(w *town) groupAct{
		"exclude": func(w *town) groupAct { return w.Feeds.Exclude },
		"remove":  func(w *town) groupAct { return w.Feeds.Remove },
	} {
		t.Run(what, func(t *testing.T) {
			w := newTown(t)
			bob, ann := w.user("bob"), w.user("ann")
			w.setAccess(bob, "", Private)
			_, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			w.must(err)
			if what == "remove" {
				w.must(second(w.Feeds.Admit(t.Context(), bob.ID, "", "ann")))
			}
			accepting := w.pauseInside()
			accepted := during(func() error { return second(w.Subscriptions.Accept(t.Context(), bob.ID, "ann", "")) })
			accepting.reached(t)
			var c Change
			closed := during(func() (err error) {
				c, err = closing(w)(t.Context(), bob.ID, "", "ann")
				return err
			})
			w.waitBlocked(1)
			accepting.release()
			w.must(accepted())
			w.must(closed())
			w.same("reads", w.reads(ann, bob.FeedID), false)
			w.same("wrong", c.Replace, []Replace{{ViewerID: ann.ID}})
			w.sound()
		})
	}
}

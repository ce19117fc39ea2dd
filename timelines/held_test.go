package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/listings"
	"riverrun/timelines/publishing"
)

// rule moderates a post.
func (w *town) rule(code string, r Ruling) Change {
	w.Helper()
	c, err := w.Posts.Moderate(w.Context(), 0, code, func(context.Context, pgx.Tx, int64, int64) (Ruling, error) { return r, nil })
	w.must(err)
	return c
}

// statusOf is a post's status.
func (w *town) statusOf(c Change) publishing.Status {
	w.Helper()
	return value[publishing.Status](w, `SELECT status FROM posts WHERE id = $1`, c.PostID)
}

// places are the decisive timelines of a post.
func (w *town) places(c Change) string {
	w.Helper()
	_, decisive := w.standsIn(c.PostID)
	return strings.Join(decisive, ", ")
}

// counted are the counters of an author, and what the repair finds wrong with them.
func (w *town) counted(author Account) string {
	w.Helper()
	drift, err := publishing.Open(w.pool).Compare(w.Context(), author.ID)
	w.must(err)
	if len(drift) > 0 {
		w.Errorf("the counters drifted: %v", drift)
	}
	return strings.Join(all(w, pgx.RowTo[string], `
		SELECT status || ': ' || posts FROM author_counters WHERE author_id = $1 AND posts <> 0 ORDER BY status`, author.ID), ", ")
}

// A block leaves a post to its author, wherever it stood, and the end of the block puts it back (G12).
func TestABlockedPost(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.group(ann, "club", Public)
	p := w.post(bob, "hello #tea", "bob", "club")
	w.must(second(w.Posts.Like(t.Context(), ann.ID, p.Code)))
	was := value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, p.PostID)

	c := w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})
	w.same("places", w.places(p), "eyes of bob")
	w.same("status", w.statusOf(p), publishing.Blocked)
	w.same("counters", w.counted(bob), "2: 1")
	if c.Clock == 0 || len(c.Touched) == 0 {
		t.Errorf("a block told nobody: %+v", c)
	}
	if _, err := w.Posts.Like(t.Context(), ann.ID, p.Code); !errors.Is(err, ErrNotFound) {
		t.Errorf("a blocked post was liked: %v", err)
	}
	h, err := w.Posts.Held(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("what its author learns", h.Reason, "spam")
	if _, err := w.Posts.Held(t.Context(), ann.ID, p.Code); !errors.Is(err, ErrNotFound) {
		t.Errorf("somebody else learns of a block: %v", err)
	}

	// Its author may change its text, and neither that nor anything else ends the block.
	w.must(second(w.Posts.Edit(t.Context(), bob.ID, p.Code, "hello again #tea")))
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob"}})
	w.same("a move", codesOf(err), "to: post_held")
	if _, err := w.Posts.RemoveFromGroup(t.Context(), ann.ID, p.Code, "club"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	w.rule(p.Code, Ruling{Blocked: true, Reason: "worse"})
	w.same("places of a post blocked twice", w.places(p), "eyes of bob")

	w.rule(p.Code, Ruling{})
	w.same("places after the block", w.places(p), "feed of bob, group of club")
	w.same("status after the block", w.statusOf(p), publishing.Published)
	w.same("counters after the block", w.counted(bob), "0: 1")
	w.same("rows", value[int](w, `SELECT count(*) FROM held_posts`), 0)
	w.same("its freshness", value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, p.PostID), was)
	w.soundAggregates()
	w.soundReading("after a block")
}

// A group that was deleted while a post was blocked does not get it back, and a blocked listing is afterwards what it
// became meanwhile.
func TestABlockEnds(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.market(ann)
	sold, late := w.offer(bob, "bicycle", "10"), w.offer(bob, "boat", "20")
	gone := w.post(bob, "bye", "market")
	for _, p := range []Change{sold, late, gone} {
		w.rule(p.Code, Ruling{Blocked: true, Reason: "why"})
	}
	w.same("counters", w.counted(bob), "2: 3")
	w.must(second(w.Posts.Close(t.Context(), bob.ID, sold.Code, listings.Sale{How: listings.Sold})))
	w.over(late)
	_, _, err := w.Maintenance.ExpireListings(t.Context(), 10)
	w.must(err)
	w.same("counters of blocked listings", w.counted(bob), "2: 3")
	w.rule(sold.Code, Ruling{})
	w.rule(late.Code, Ruling{})
	w.same("counters", w.counted(bob), "2: 1, 3: 1, 4: 1")

	w.exec(`UPDATE timelines SET access = 3 WHERE kind = 'group'`)
	w.rule(gone.Code, Ruling{})
	w.same("places of a post whose group is gone", w.places(gone), "eyes of bob")
	w.same("counters", w.counted(bob), "0: 1, 3: 1, 4: 1")

	// A deleted post leaves nothing behind.
	w.rule(gone.Code, Ruling{Blocked: true, Reason: "why"})
	w.must(second(w.Posts.Delete(t.Context(), bob.ID, gone.Code)))
	w.same("rows", value[int](w, `SELECT count(*) FROM held_posts`), 0)
	w.same("counters", w.counted(bob), "3: 1, 4: 1")
	_, err = w.Posts.Moderate(t.Context(), 0, gone.Code, func(context.Context, pgx.Tx, int64, int64) (Ruling, error) { return Ruling{}, nil })
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("a deleted post was moderated: %v", err)
	}
}

// approving makes a group of ann's that lets posts in.
func (w *town) approving(ann Account, name string) Account {
	w.Helper()
	g := w.group(ann, name, Public)
	w.must(second(w.Groups.SetApproval(w.Context(), ann.ID, name, true)))
	return g
}

// A post to groups that approve posts waits for all of them, and is as new as on the day when it is let in.
func TestAPostWaits(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	club, pub := w.approving(ann, "club"), w.approving(ann, "pub")
	waiting := func(g Account) string {
		list, err := w.Posts.Waiting(t.Context(), ann.ID, g.ID, 0, 10)
		w.must(err)
		var bodies []string
		for _, p := range list {
			bodies = append(bodies, p.Body)
		}
		return strings.Join(bodies, ", ")
	}
	p := w.post(bob, "hello @cid", "bob", "club", "pub")
	w.same("it waits", p.Waits, true)
	w.same("places", w.places(p), "eyes of bob")
	w.same("counters", w.counted(bob), "1: 1")
	w.same("cid is told", w.told(cid, p), "")
	w.same("those of club", waiting(club), "hello @cid")
	w.same("totals", value[int](w, `SELECT count(*) FROM author_totals`), 0)

	_, err := w.Posts.Approve(t.Context(), cid.ID, "club", p.Code)
	if !errors.Is(err, ErrForbidden) {
		t.Errorf("somebody else approved: %v", err)
	}
	later := w.post(cid, "meanwhile", "cid")
	w.must(second(w.Posts.Approve(t.Context(), ann.ID, "club", p.Code)))
	w.same("places of a post that waits for another group", w.places(p), "eyes of bob")
	w.same("those of club", waiting(club), "")
	w.must(second(w.Posts.Approve(t.Context(), ann.ID, "pub", p.Code)))
	w.same("places", w.places(p), "feed of bob, group of club, group of pub")
	w.same("counters", w.counted(bob), "0: 1")
	w.same("cid is told", w.told(cid, p), "5 by bob")
	w.same("totals", value[int](w, `SELECT sum(value) FROM author_totals WHERE author_id = $1`, bob.ID), 1)
	if value[bool](w, `SELECT p.fresh_at <= l.fresh_at FROM posts p, posts l WHERE p.id = $1 AND l.id = $2`, p.PostID, later.PostID) {
		t.Error("a post that was let in late stands behind others")
	}
	w.soundAggregates()
	_, err = w.Posts.Approve(t.Context(), ann.ID, "pub", p.Code)
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("approved twice: %v", err)
	}

	// One group lets it in, the other does not.
	p = w.post(bob, "second", "club", "pub")
	w.must(second(w.Posts.Refuse(t.Context(), ann.ID, "pub", p.Code, " too long ")))
	w.must(second(w.Posts.Approve(t.Context(), ann.ID, "club", p.Code)))
	w.same("places", w.places(p), "group of club")
	w.same("the reason", value[string](w, `SELECT reason FROM approvals WHERE post_id = $1`, p.PostID), "too long")

	// None does.
	p = w.post(bob, "third", "pub")
	fresh := value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, p.PostID)
	w.must(second(w.Posts.Refuse(t.Context(), ann.ID, "pub", p.Code, "")))
	w.same("places", w.places(p), "eyes of bob")
	w.same("the freshness of a post that goes nowhere", value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, p.PostID), fresh)
	w.same("status", w.statusOf(p), publishing.Published)
	_, err = w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"pub"}})
	w.same("a move into a group that approves", codesOf(err), "to: to_approval")
	w.must(second(w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"bob"}})))

	// Its author does not wait.
	p = w.post(bob, "fourth", "bob", "pub")
	if _, err := w.Posts.StopWaiting(t.Context(), cid.ID, p.Code); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	w.must(second(w.Posts.StopWaiting(t.Context(), bob.ID, p.Code)))
	w.same("places", w.places(p), "feed of bob")
	w.same("those of pub", waiting(pub), "")

	// Blocked while it waits, it waits again afterwards.
	p = w.post(bob, "fifth", "pub")
	w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})
	w.same("those of pub", waiting(pub), "")
	w.same("status", w.statusOf(p), publishing.Blocked)
	w.rule(p.Code, Ruling{})
	w.same("status", w.statusOf(p), publishing.Waiting)
	w.same("those of pub", waiting(pub), "fifth")
	w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})
	if _, err := w.Posts.StopWaiting(t.Context(), bob.ID, p.Code); !errors.Is(err, ErrNotFound) {
		t.Errorf("a blocked post waits no longer: %v, want not found", err)
	}
	const since = `SELECT blocked_at FROM held_posts WHERE post_id = $1`
	blocked := value[time.Time](w, since, p.PostID)
	w.must(second(w.Posts.Approve(t.Context(), ann.ID, "pub", p.Code)))
	w.same("when it was blocked", value[time.Time](w, since, p.PostID), blocked)
	w.same("status of a blocked post that was approved", w.statusOf(p), publishing.Blocked)
	w.rule(p.Code, Ruling{})
	w.same("places", w.places(p), "group of pub")

	// Those who administer the group do not wait, and a source brings nothing.
	w.same("an administrator's post waits", w.post(ann, "mine", "pub").Waits, false)
	_, err = w.tryItems(ItemPlace{Author: bob.ID, To: "pub"}, func(*ItemsTx) error { return nil })
	w.same("a source", codesOf(err), "to: to_forbidden")
	w.counted(bob)
	w.soundAggregates()
}

// Answers, blocks, edits and deletions at once leave a post in one of the states that there are.
func TestHeldAtOnce(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.approving(ann, "club")
	w.approving(ann, "pub")
	for i := range 15 {
		p := w.post(bob, fmt.Sprint("post ", i), "bob", "club", "pub")
		acts := []func() error{
			func() error { return second(w.Posts.Approve(t.Context(), ann.ID, "club", p.Code)) },
			func() error { return second(w.Posts.Refuse(t.Context(), ann.ID, "pub", p.Code, "no")) },
			func() error { return second(w.Posts.Approve(t.Context(), ann.ID, "pub", p.Code)) },
			func() error { return second(w.Posts.StopWaiting(t.Context(), bob.ID, p.Code)) },
			func() error { return second(w.Posts.Edit(t.Context(), bob.ID, p.Code, "changed")) },
			func() error {
				return second(w.Posts.Moderate(t.Context(), 0, p.Code, func(context.Context, pgx.Tx, int64, int64) (Ruling, error) {
					return Ruling{Blocked: i%2 == 0, Reason: strings.Repeat("x", 1-i%2)}, nil
				}))
			},
		}
		errs := make(chan error, len(acts))
		for _, act := range acts {
			go func() { errs <- act() }()
		}
		for range acts {
			if err := <-errs; err != nil && !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
		}
	}
	for _, wrong := range all(w, pgx.RowTo[string], `
		SELECT p.code || ' has status ' || p.status FROM posts p LEFT JOIN held_posts h ON h.post_id = p.id
		WHERE p.status <> CASE
			WHEN h.blocked_at IS NOT NULL THEN 2
			WHEN EXISTS (SELECT FROM approvals a WHERE a.post_id = p.id AND a.refused_at IS NULL) THEN 1
			ELSE 0 END
		OR (h.post_id IS NULL) <> (p.status = 0)`) {
		t.Error(wrong)
	}
	w.counted(bob)
	w.soundAggregates()
}

// Groups and authors hear of what happened to posts that waited for them, whatever it was, and people who are unseen have none that wait.
func TestWhoHearsOfHeldPosts(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.approving(ann, "club")
	heard := func(c Change) string {
		w.Helper()
		return strings.Join(all(w, pgx.RowTo[string], `
			SELECT a.name FROM access_log i JOIN accounts a ON a.id = i.account_id WHERE i.n = $1 AND i.kind = 'members' ORDER BY a.name`, c.Clock), " ")
	}
	count := func() int {
		w.Helper()
		n, err := w.Posts.CountWaiting(t.Context(), ann.ID, club.ID)
		w.must(err)
		return n
	}
	p := w.post(bob, "first", "club")
	w.same("who hears of a post that waits", heard(p), "club")
	w.same("how many wait", count(), 1)
	w.same("who hears of a block", heard(w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})), "bob club")
	w.same("how many wait", count(), 0)
	w.same("who hears of its end", heard(w.rule(p.Code, Ruling{})), "bob club")
	c, err := w.Posts.Delete(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("who hears of a deletion", heard(c), "club")
	w.same("how many wait", count(), 0)

	// The author reads what was refused and blocked, the newest first.
	refused, blocked := w.post(bob, "second", "club"), w.post(bob, "third", "bob")
	w.must(second(w.Posts.Refuse(t.Context(), ann.ID, "club", refused.Code, "no")))
	w.rule(blocked.Code, Ruling{Blocked: true, Reason: "spam"})
	list, err := w.Posts.Refused(t.Context(), bob.ID, 10)
	w.must(err)
	var said []string
	for _, r := range list {
		said = append(said, fmt.Sprint(r.Beginning, " ", r.GroupID == club.ID, " ", r.Reason))
	}
	w.same("what bob reads", strings.Join(said, ", "), "third false spam, second true no")
	list, err = w.Posts.Refused(t.Context(), ann.ID, 10)
	w.must(err)
	w.same("what ann reads", len(list), 0)

	w.post(bob, "fourth", "club")
	w.same("how many wait", count(), 1)
	w.exec(`INSERT INTO unseen_accounts (account_id, cause) VALUES ($1, 'suspended')`, bob.ID)
	w.same("how many of somebody unseen", count(), 0)
}

// A decision that waits for another one about the same post knows the places that the other one noted.
func TestAPostIsAllowedWhileItIsBlocked(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	p := w.post(bob, "hello")
	inside, goOn := make(chan struct{}), make(chan struct{})
	blocked := during(func() error {
		return second(w.Posts.Moderate(t.Context(), 0, p.Code, func(context.Context, pgx.Tx, int64, int64) (Ruling, error) {
			close(inside)
			<-goOn
			return Ruling{Blocked: true, Reason: "spam"}, nil
		}))
	})
	<-inside
	allowed := during(func() error {
		return second(w.Posts.Moderate(t.Context(), 0, p.Code, func(context.Context, pgx.Tx, int64, int64) (Ruling, error) { return Ruling{}, nil }))
	})
	w.waitBlocked(1)
	close(goOn)
	w.must(blocked())
	w.must(allowed())
	w.same("places", w.places(p), "feed of bob")
	w.same("status", w.statusOf(p), publishing.Published)
	w.same("counters", w.counted(bob), "0: 1")
}

// Nobody answers for a group that is deleted: posts that wait for it go on without it.
func TestWaitingForAGroupThatEnds(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	club := w.approving(ann, "club")
	w.approving(ann, "pub")
	also, alone, both := w.post(bob, "also", "bob", "club"), w.post(bob, "alone", "club"), w.post(bob, "both", "bob", "club", "pub")
	blocked := w.post(bob, "blocked", "bob", "club")
	w.rule(blocked.Code, Ruling{Blocked: true, Reason: "spam"})
	w.exec(`UPDATE timelines SET access = 3 WHERE kind = 'group' AND their_id = $1`, club.ID)
	for more := true; more; {
		_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (_ struct{}, err error) {
			_, more, err = w.Posts.DisbandBlockTx(t.Context(), tx, club.ID, 10)
			return struct{}{}, err
		})
		w.must(err)
	}
	w.same("places", w.places(also), "feed of bob")
	w.same("places of a post that went to the group alone", w.places(alone), "eyes of bob")
	w.same("places of a post that waits for another group", w.places(both), "eyes of bob")
	w.same("status of that", w.statusOf(both), publishing.Waiting)
	w.same("status of a blocked post", w.statusOf(blocked), publishing.Blocked)
	w.same("approvals", value[int](w, `SELECT count(*) FROM approvals`), 1)
	w.same("counters", w.counted(bob), "0: 2, 1: 1, 2: 1")
	w.rule(blocked.Code, Ruling{})
	w.same("places of the blocked post", w.places(blocked), "feed of bob")
	w.must(second(w.Posts.Approve(t.Context(), ann.ID, "pub", both.Code)))
	w.same("places of the other one", w.places(both), "feed of bob, group of pub")
	w.same("counters", w.counted(bob), "0: 4")
}

// Accounts that were told of a held post learn that it is deleted.
func TestDeletionOfAHeldPostIsTold(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	w.approving(ann, "club")
	for name, p := range map[string]Change{"waits": w.post(bob, "one", "club"), "blocked": w.post(bob, "two", "bob")} {
		if name == "blocked" {
			w.rule(p.Code, Ruling{Blocked: true, Reason: "spam"})
		}
		c, err := w.Posts.Delete(t.Context(), bob.ID, p.Code)
		w.must(err)
		if c.Clock == 0 {
			t.Errorf("a post that %s: its deletion drew no number of the access clock", name)
		}
	}
	c, err := w.Posts.Delete(t.Context(), bob.ID, w.post(bob, "three").Code)
	w.must(err)
	w.same("the clock after another deletion", c.Clock, int64(0))
	// So they do when all that somebody wrote is removed.
	w.post(bob, "four", "club")
	drop, err := inTx(t.Context(), w.core, func(tx pgx.Tx) ([]Invalidation, error) {
		_, _, drop, err := w.Posts.RemoveBlockTx(t.Context(), tx, bob.ID, 0, 10)
		return drop, err
	})
	w.must(err)
	if len(drop) != 1 || drop[0].Kind != InvalidCounts {
		t.Errorf("a removal drops %+v, want the alerts of the group", drop)
	}
	// A form that is sent twice says both times that the post waits.
	for range 2 {
		c, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "five", To: []string{"club"}, Key: "five"})
		w.must(err)
		w.same("it waits", c.Waits, true)
	}
}

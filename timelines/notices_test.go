package timelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/marks"
	"riverrun/timelines/notices"
)

// told are the account's notifications of a post, as "kind by name", in order of their kinds.
func (w *town) told(a Account, post Change) string {
	w.Helper()
	got := all(w, pgx.RowTo[string], `
		SELECT n.kind || ' by ' || a.name FROM notifications n JOIN accounts a ON a.id = n.actor_id
		WHERE n.account_id = $1 AND n.post_id = $2 ORDER BY n.kind, n.at, a.name`, a.ID, post.PostID)
	return strings.Join(got, ", ")
}

// An event tells the people it concerns, and nobody else. It is taken back with its cause.
func TestPeopleAreTold(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	p := w.post(bob, "hello")
	timeline := w.timeline(kinds.Notifications, bob.ID)

	// One's own doings tell nobody.
	own := w.comment(bob, p.Code)
	w.must(second(w.Posts.Like(t.Context(), bob.ID, p.Code)))
	w.must(second(w.Comments.Like(t.Context(), bob.ID, p.Code, own.CommentID)))
	w.same("by oneself", w.told(bob, p), "")

	w.must(second(w.Posts.Like(t.Context(), ann.ID, p.Code)))
	liked := w.row(timeline, p.PostID).EnteredAt
	said := w.say(ann, p.Code, "so it is")
	if at := w.row(timeline, p.PostID).EnteredAt; at <= liked {
		t.Errorf("a comment later stands at %d, want it above the like at %d", at, liked)
	}
	w.must(second(w.Comments.Like(t.Context(), cid.ID, p.Code, own.CommentID)))
	w.same("the author", w.told(bob, p), "1 by ann, 2 by cid, 3 by ann")
	w.same("who is not concerned", w.told(cid, p), "")

	// A comment tells those who commented before, and those it names, each once. The post's author
	// is not told as one who commented before.
	after := w.say(cid, p.Code, "not at all, @ann and @bob and @cid")
	w.same("who commented before", w.told(ann, p), "4 by cid, 5 by cid")
	w.same("the author", w.told(bob, p), "1 by ann, 2 by cid, 3 by ann, 3 by cid, 5 by cid")
	w.same("the one who wrote it", w.told(cid, p), "")

	// No bump and no doing of one's own moves it.
	at := w.row(timeline, p.PostID)
	w.comment(bob, p.Code)
	w.same("after one's own comment", w.row(timeline, p.PostID), at)

	// All of it is taken back.
	w.must(second(w.Comments.Edit(t.Context(), cid.ID, p.Code, after.CommentID, "not at all, @ann")))
	w.same("edited away", w.told(bob, p), "1 by ann, 2 by cid, 3 by ann, 3 by cid")
	w.must(second(w.Comments.Edit(t.Context(), cid.ID, p.Code, after.CommentID, "not at all, @ann @bob")))
	w.same("and back", w.told(bob, p), "1 by ann, 2 by cid, 3 by ann, 3 by cid, 5 by cid")
	w.must(second(w.Comments.Delete(t.Context(), cid.ID, p.Code, after.CommentID)))
	w.same("deleted", w.told(bob, p), "1 by ann, 2 by cid, 3 by ann")
	w.must(second(w.Comments.Unlike(t.Context(), cid.ID, p.Code, own.CommentID)))
	w.must(second(w.Comments.Delete(t.Context(), ann.ID, p.Code, said.CommentID)))
	w.same("stands where the like puts it", w.row(timeline, p.PostID), row{liked, liked, false})
	w.must(second(w.Posts.Unlike(t.Context(), ann.ID, p.Code)))
	w.same("nothing is left", w.told(bob, p), "")
	w.same("and nothing holds it", w.row(timeline, p.PostID).Withdrawn, true)
	w.sound()

	w.must(second(w.Posts.Like(t.Context(), ann.ID, p.Code)))
	w.must(second(w.Posts.Delete(t.Context(), bob.ID, p.Code)))
	w.same("of a deleted post", value[int](w, `SELECT count(*)::int FROM notifications`), 0)
	w.sound()
}

// A message tells its recipients, and so does each comment on it. People who are taken out of it
// hear no more, and people who are added hear of it.
func TestMessagesTell(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	p := w.post(bob, "hello", "ann")
	w.same("the recipient", w.told(ann, p), "6 by bob")
	w.same("the sender", w.told(bob, p), "")
	w.say(bob, p.Code, "are you there?")
	w.same("another word", w.told(ann, p), "6 by bob, 6 by bob")
	w.say(ann, p.Code, "yes")
	w.same("the answer", w.told(bob, p), "3 by ann")
	w.say(bob, p.Code, "good")
	w.same("and as one who commented before", w.told(ann, p), "4 by bob, 6 by bob, 6 by bob, 6 by bob")
	w.must(second(w.Posts.Revise(t.Context(), bob.ID, p.Code, Revision{To: []string{"cid"}})))
	w.same("left out", w.told(ann, p), "4 by bob")
	w.same("added", w.told(cid, p), "6 by bob")
	w.sound()
}

// Nobody is told of what they do not want, or of a post they have muted; lifting either tells of
// what happens from then on.
func TestWhatPeopleDoNotWant(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	w.must(second(w.Notices.SetKinds(t.Context(), bob.ID, notices.Off(0).With(notices.Like))))
	w.must(second(w.Posts.Like(t.Context(), ann.ID, p.Code)))
	w.comment(ann, p.Code)
	w.same("likes not wanted", w.told(bob, p), "3 by ann")
	w.must(second(w.Notices.SetKinds(t.Context(), bob.ID, 0)))

	id, _, err := w.Notices.Mute(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.same("the post", id, p.PostID)
	w.comment(ann, p.Code)
	w.say(ann, p.Code, "@bob, are you there?")
	w.same("muted", w.told(bob, p), "3 by ann")
	list, err := w.Notices.Muted(t.Context(), bob.ID, HiddenPost{}, 10)
	w.must(err)
	if len(list) != 1 || list[0].Code != p.Code {
		t.Errorf("muted: got %+v, want %s", list, p.Code)
	}
	_, _, err = w.Notices.Unmute(t.Context(), bob.ID, p.Code)
	w.must(err)
	w.comment(ann, p.Code)
	w.same("heard again", w.told(bob, p), "3 by ann, 3 by ann")
	_, _, err = w.Notices.Mute(t.Context(), bob.ID, "0000000000")
	w.fails("a post of nobody", err, ErrNotFound)
}

// A comment tells a bounded number of those who commented before, those who did so last, in one
// statement.
func TestACrowdIsToldInPart(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p := w.post(bob, "hello")
	w.exec(`INSERT INTO accounts (kind, name, title) SELECT 'user', 'fan-' || i, 'x' FROM generate_series(1, 300) i`)
	fans := value[[]int64](w, `SELECT array_agg(id ORDER BY id) FROM accounts WHERE name LIKE 'fan-%'`)
	_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, insertTimelinesTx(t.Context(), tx, fans)
	})
	w.must(err)
	w.exec(`INSERT INTO comments (post_id, author_id, created_at, body)
		SELECT $1, id, now() - interval '1 hour' + id * interval '1 millisecond', 'x' FROM accounts WHERE name LIKE 'fan-%'`, p.PostID)
	w.comment(ann, p.Code)
	got := value[[]int64](w, `SELECT array_agg(account_id ORDER BY account_id) FROM notifications WHERE post_id = $1 AND kind = 4`, p.PostID)
	w.same("told", got, fans[100:])
	if !slices.IsSorted(fans) {
		t.Fatal(fmt.Sprint(fans))
	}
}

// A text tells a bounded number of those it names, the first ones: a post, a comment, and an edit
// of either.
func TestATextTellsAFewOfManyNames(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	w.exec(`INSERT INTO accounts (kind, name, title) SELECT 'user', 'fan-' || i, 'x' FROM generate_series(1, 30) i`)
	fans := value[[]int64](w, `SELECT array_agg(id ORDER BY id) FROM accounts WHERE name LIKE 'fan-%'`)
	_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, insertTimelinesTx(t.Context(), tx, fans)
	})
	w.must(err)
	var names strings.Builder
	for i := range 30 {
		fmt.Fprintf(&names, "@fan-%d ", i+1)
	}
	told := func(what string, p Change) {
		t.Helper()
		got := value[[]int64](w, `SELECT array_agg(account_id ORDER BY account_id) FROM notifications WHERE post_id = $1 AND kind = 5 AND comment_id = $2`,
			p.PostID, p.CommentID)
		w.same(what, got, fans[:marks.Most])
	}
	p := w.post(bob, names.String())
	told("a post", p)
	told("a comment", w.say(bob, p.Code, names.String()))
	edited := w.post(bob, "nobody yet")
	_, err = w.Posts.Edit(t.Context(), bob.ID, edited.Code, "#a #b "+names.String())
	w.must(err)
	told("an edit", edited)
	w.sound()
}

// A mark covers the events up to its time, and no more.
func TestMarkRead(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	p, other := w.post(bob, "hello"), w.post(bob, "more")
	w.must(second(w.Posts.Like(t.Context(), ann.ID, p.Code)))
	w.must(second(w.Posts.Like(t.Context(), ann.ID, other.Code)))
	seen := w.row(w.timeline(kinds.Notifications, bob.ID), p.PostID).EnteredAt
	w.comment(ann, p.Code)
	unread := func() int { return value[int](w, `SELECT count(*)::int FROM notifications WHERE NOT read`) }
	w.same("before", unread(), 3)
	w.must(w.Notices.MarkRead(t.Context(), []Read{{bob.ID, p.PostID, seen}, {ann.ID, p.PostID, seen}}))
	w.same("the like alone", unread(), 2)
	w.must(w.Notices.MarkAllRead(t.Context(), bob.ID))
	w.same("all", unread(), 0)
}

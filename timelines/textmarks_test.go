package timelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/marks"
	"riverrun/timelines/snapshot"
)

func (w *town) hashtag(term string) int64 {
	w.Helper()
	return value[int64](w, `SELECT id FROM timelines WHERE kind = 'hashtag' AND their_id = 0 AND term = $1`, term)
}

func (w *town) say(author Account, code, body string) Change {
	w.Helper()
	c, err := w.Comments.Create(w.Context(), NewComment{Author: author.ID, Code: code, Body: body})
	w.must(err)
	return c
}

// soundMarks checks that the timelines of tags and mentions hold what the texts
// say.
func (w *town) soundMarks() {
	w.Helper()
	type text struct {
		ID   int64
		Body string
	}
	texts := all(w, func(row pgx.CollectableRow) (t text, err error) { return t, row.Scan(&t.ID, &t.Body) }, `
		SELECT id, body FROM posts WHERE deleted_at IS NULL
		UNION ALL
		SELECT c.post_id, c.body FROM comments c JOIN posts p ON p.id = c.post_id
		WHERE c.deleted_at IS NULL AND p.deleted_at IS NULL`)
	users := map[string]bool{}
	for _, name := range all(w, pgx.RowTo[string], `SELECT name FROM accounts WHERE kind = 'user'`) {
		users[name] = true
	}
	want := []string{}
	for _, t := range texts {
		for _, term := range marks.Tags(t.Body) {
			want = append(want, fmt.Sprintf("%d #%s", t.ID, term))
		}
		for _, name := range marks.Names(t.Body) {
			if users[name] {
				want = append(want, fmt.Sprintf("%d @%s", t.ID, name))
			}
		}
	}
	slices.Sort(want)
	got := all(w, func(row pgx.CollectableRow) (s string, err error) { return s, row.Scan(&s) }, `
		SELECT e.post_id || CASE t.kind WHEN 'hashtag' THEN ' #' || t.term ELSE ' @' || a.name END
		FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id LEFT JOIN accounts a ON a.id = t.their_id
		WHERE t.kind IN ('hashtag', 'mentions') AND NOT e.withdrawn`)
	slices.Sort(got)
	w.same("posts in timelines of tags and mentions", got, slices.Compact(want))
}

func TestHashtags(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	c := w.post(bob, "hello #River, #весна and #river")
	river, spring := w.hashtag("river"), w.hashtag("весна")
	own := w.timeline(kinds.Post, c.PostID)
	w.same("touched by a post", c.Touched, ids(w.timeline(kinds.Feed, bob.ID), w.timeline(kinds.Discussions, bob.ID),
		w.timeline(kinds.Everything, 0), own, river, spring))
	w.same("wrong rivers of the author", c.Replace,
		[]Replace{{ViewerID: bob.ID, Kinds: []string{"hashtag"}, Terms: []string{"river", "весна"}}})
	w.same("announced", w.heard.take(), []Event{
		Replace{Everybody: true, Kinds: []string{"hashtag"}, Terms: []string{"river", "весна"}},
		Touched{PostID: c.PostID, Timelines: c.Touched},
	})
	fresh := w.freshAt(c.PostID)
	w.same("row of the post", w.row(river, c.PostID), row{EnteredAt: fresh, FreshAt: fresh})

	// A comment's tags count as the post's do; what is there already moves nothing.
	w.age(c.PostID, 48*time.Hour)
	was := w.row(river, c.PostID)
	said := w.say(ann, c.Code, "no, #RIVER and #weir")
	weir := w.hashtag("weir")
	w.same("the tag it had", w.row(river, c.PostID), was)
	if got := w.row(weir, c.PostID); got.EnteredAt <= was.FreshAt || got.FreshAt != got.EnteredAt {
		t.Errorf("a comment's new tag: row %+v, want it fresh there", got)
	}
	w.same("wrong rivers of the commenter", said.Replace,
		[]Replace{{ViewerID: ann.ID, Kinds: []string{"hashtag"}, Terms: []string{"weir"}}})
	w.heard.take()

	// The post leaves with the last text that says it.
	edited, err := w.Posts.Edit(t.Context(), bob.ID, c.Code, "hello #lock")
	w.must(err)
	lock := w.hashtag("lock")
	w.same("touched by an edit", edited.Touched, ids(lock, spring, w.timeline(kinds.Notifications, bob.ID)))
	if w.row(river, c.PostID).Withdrawn || !w.row(spring, c.PostID).Withdrawn {
		t.Error("an edit took away a tag that a comment has, or not the one that nobody has")
	}
	w.same("an edit bumps nothing", w.freshAt(c.PostID), was.FreshAt)
	changed, err := w.Comments.Edit(t.Context(), ann.ID, c.Code, said.CommentID, "#lock it is")
	w.must(err)
	w.same("touched by an edit of the comment", changed.Touched, ids(river, weir))
	deleted, err := w.Comments.Delete(t.Context(), ann.ID, c.Code, said.CommentID)
	w.must(err)
	if slices.Contains(deleted.Touched, lock) || w.row(lock, c.PostID).Withdrawn {
		t.Error("deleting a comment took away a tag that the post has")
	}

	// Coming back keeps the first stamp.
	was = w.row(weir, c.PostID)
	back := w.say(ann, c.Code, "#weir")
	w.same("wrong rivers where no timeline is made", len(back.Replace), 0)
	was.Withdrawn = false
	was.FreshAt = max(was.EnteredAt, w.freshAt(c.PostID))
	w.same("a tag that comes back", w.row(weir, c.PostID), was)

	_, err = w.Posts.Delete(t.Context(), bob.ID, c.Code)
	w.must(err)
	w.same("marks of a deleted post", value[int](w, `SELECT count(*)::int FROM text_marks`), 0)
	w.sound()
}

// An old post is lifted by no tag, and a bump takes the rows of tags along.
func TestHashtagsAndBumps(t *testing.T) {
	w := newTown(t)
	bob, ann := w.user("bob"), w.user("ann")
	old := w.post(bob, "hello")
	w.age(old.PostID, 31*24*time.Hour)
	fresh := w.freshAt(old.PostID)
	w.say(ann, old.Code, "#river")
	river := w.hashtag("river")
	w.same("an old post's row", w.row(river, old.PostID), row{EnteredAt: fresh, FreshAt: fresh})
	for _, crowd := range []int{0, bumpFew + 1} {
		c := w.post(bob, "the #river")
		if crowd > 0 {
			w.crowd(c.PostID, crowd)
		}
		w.say(ann, c.Code, "indeed")
		w.followBumps()
		w.same(fmt.Sprintf("the row's freshness after a bump, crowd of %d", crowd),
			w.row(river, c.PostID).FreshAt, w.freshAt(c.PostID))
	}
	w.sound()
}

// Texts that use the same new tags at once, in any order, wait for each other and
// not in a circle; each tag has one timeline.
func TestHashtagsMadeAtOnce(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	var tags []string
	for i := range marks.Most {
		tags = append(tags, fmt.Sprintf("#t%d", i))
	}
	var waits []func() error
	for i := range 6 {
		turned := slices.Concat(tags[i*3:], tags[:i*3])
		waits = append(waits, during(func() error {
			_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: strings.Join(turned, " ")})
			return err
		}))
	}
	for _, wait := range waits {
		w.must(wait())
	}
	w.same("timelines", value[int](w, `SELECT count(*)::int FROM timelines WHERE kind = 'hashtag'`), marks.Most)
	var made []string
	for _, e := range w.heard.take() {
		if e, ok := e.(Replace); ok {
			made = append(made, e.Terms...)
		}
	}
	w.same("terms announced", len(made), marks.Most)
	w.soundMarks()
}

// A person who is named has the post among their mentions, even if they may not read it. A
// group, or a name of nobody, has none.
func TestMentions(t *testing.T) {
	w := newTown(t)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	w.group(bob, "club", Public)
	c := w.post(bob, "@ann, @club and @nobody-here: #river", "cid")
	mine := w.timeline(kinds.Mentions, ann.ID)
	fresh := w.freshAt(c.PostID)
	w.same("touched", c.Touched, ids(w.timeline(kinds.Directs, bob.ID), w.timeline(kinds.Directs, cid.ID),
		w.timeline(kinds.Discussions, bob.ID), w.timeline(kinds.Post, c.PostID), w.hashtag("river"), mine,
		w.timeline(kinds.Notifications, ann.ID), w.timeline(kinds.Notifications, cid.ID)))
	w.same("row", w.row(mine, c.PostID), row{EnteredAt: fresh, FreshAt: fresh})
	w.same("home is not made of mentions", slices.Contains(w.home(ann.ID), mine), false)

	said := w.say(cid, c.Code, "is that so, @ann? @cid")
	if w.row(mine, c.PostID).EnteredAt != fresh || w.row(w.timeline(kinds.Mentions, cid.ID), c.PostID).EnteredAt <= fresh {
		t.Error("a comment entered a post again, or did not enter it")
	}
	_, err := w.Posts.Edit(t.Context(), bob.ID, c.Code, "@anna: #river")
	w.must(err)
	w.same("named by a comment", w.row(mine, c.PostID).Withdrawn, false)
	gone, err := w.Comments.Delete(t.Context(), bob.ID, c.Code, said.CommentID)
	w.must(err)
	w.same("named by nothing", w.row(mine, c.PostID).Withdrawn, true)
	if !slices.Contains(gone.Touched, mine) {
		t.Errorf("touched %v by the last mention's end, want %d among them", gone.Touched, mine)
	}
	w.sound()
}

func (w *town) home(viewer int64) (ids []int64) {
	w.Helper()
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) (err error) {
		ids, err = sn.Home(w.Context(), viewer, false)
		return err
	}))
	return ids
}

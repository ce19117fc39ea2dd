package timelines

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
)

func (w *town) aggregate(kind, lang string) int64 {
	w.Helper()
	return value[int64](w, `SELECT id FROM timelines WHERE kind = $1 AND their_id = 0 AND term = $2`, kind, lang)
}

// soundAggregates checks that the aggregates hold what belongs there.
func (w *town) soundAggregates() {
	w.Helper()
	wrong := all(w, func(row pgx.CollectableRow) (s string, err error) { return s, row.Scan(&s) }, `
		WITH ranked AS (
			SELECT p.id, p.lang, p.deleted_at IS NULL AND EXISTS (
					SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.kind NOT IN ('directs', 'eyes')) AS open,
				(SELECT count(DISTINCT t.id) FROM (
					SELECT l.account_id AS id FROM likes l WHERE l.post_id = p.id
					UNION ALL SELECT c.author_id FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL) t
				WHERE t.id <> p.author_id) AS people,
				(SELECT count(*) FROM faves f WHERE f.post_id = p.id) AS faves
			FROM posts p
		)
		SELECT format('post %s in %s/%s: %s people, %s faves', p.id, t.kind, t.term, p.people, p.faves)
		FROM ranked p CROSS JOIN timelines t
		WHERE t.kind IN ('everything', 'best', 'mostfaved')
			AND (p.open AND t.term IN ('', p.lang) AND CASE t.kind
				WHEN 'best' THEN p.people >= $1 WHEN 'mostfaved' THEN p.faves >= $2 ELSE true END)
			<> EXISTS (SELECT FROM timeline_entries e
				WHERE e.timeline_id = t.id AND e.post_id = p.id AND NOT e.withdrawn)
		ORDER BY 1`, w.opts.BestOf, w.opts.MostFaved)
	if len(wrong) > 0 {
		w.Errorf("aggregates: wrong are %v", wrong)
	}
}

func TestBestOf(t *testing.T) {
	w := newTown(t)
	w.opts.BestOf = 3
	bob := w.user("bob")
	var fans []Account
	for i := range 4 {
		fans = append(fans, w.user(fmt.Sprintf("fan-%d", i)))
	}
	c := w.post(bob, english)
	best, mine := w.aggregate(kinds.Best, ""), w.aggregate(kinds.Best, "en")
	stands := func(what string, want bool) {
		t.Helper()
		for _, id := range []int64{best, mine} {
			w.same(what, value[bool](w, `SELECT EXISTS (SELECT FROM timeline_entries
				WHERE timeline_id = $1 AND post_id = $2 AND NOT withdrawn)`, id, c.PostID), want)
		}
	}
	like := func(who Account) Change {
		t.Helper()
		c, err := w.Posts.Like(t.Context(), who.ID, c.Code)
		w.must(err)
		return c
	}
	like(bob)
	w.comment(bob, c.Code)
	like(fans[0])
	w.comment(fans[0], c.Code)
	said := w.comment(fans[1], c.Code)
	stands("two people and the author", false)
	told := w.timeline(kinds.Notifications, bob.ID)
	reached := like(fans[2])
	stands("three people", true)
	w.same("touched by the third", reached.Touched,
		ids(w.timeline(kinds.Likes, fans[2].ID), w.timeline(kinds.Discussions, fans[2].ID), best, mine, told))
	at := w.row(best, c.PostID)
	if at.EnteredAt <= w.freshAt(c.PostID) || at.FreshAt != at.EnteredAt {
		t.Errorf("row %+v, want it to enter then, later than the post's %d", at, w.freshAt(c.PostID))
	}
	w.same("row of the language", w.row(mine, c.PostID), at)
	w.same("one more touches no aggregate", like(fans[3]).Touched,
		ids(w.timeline(kinds.Likes, fans[3].ID), w.timeline(kinds.Discussions, fans[3].ID), told))

	unlike := func(who Account) {
		t.Helper()
		w.must(second(w.Posts.Unlike(t.Context(), who.ID, c.Code)))
	}
	unlike(fans[3])
	stands("three again", true)
	w.must(second(w.Comments.Delete(t.Context(), fans[1].ID, c.Code, said.CommentID)))
	stands("two again", false)
	unlike(fans[0])
	w.comment(fans[1], c.Code)
	stands("three, one by a comment alone", true)
	w.same("coming back keeps the first stamp", w.row(best, c.PostID).EnteredAt, at.EnteredAt)

	direct := w.post(bob, english, "fan-0", "fan-1", "fan-2")
	for _, fan := range fans[:3] {
		w.must(second(w.Posts.Like(t.Context(), fan.ID, direct.Code)))
	}
	w.sound() // messages are in none
	w.must(second(w.Posts.Delete(t.Context(), bob.ID, c.Code)))
	stands("deleted", false)

	// With the author's own like there are more likes than people.
	c = w.post(bob, english)
	for _, who := range []Account{bob, fans[0], fans[1], fans[2], fans[3]} {
		like(who)
	}
	unlike(fans[0])
	stands("three people and the author like it", true)
	unlike(fans[1])
	stands("two people and the author like it", false)
	w.sound()
}

func TestMostFaved(t *testing.T) {
	w := newTown(t)
	w.opts.MostFaved = 2
	bob, ann := w.user("bob"), w.user("ann")
	old := w.post(bob, russian)
	w.age(old.PostID, 60*24*time.Hour)
	most := w.aggregate(kinds.MostFaved, "")
	w.must(second(w.Posts.Fave(t.Context(), ann.ID, old.Code)))
	kept, err := w.Posts.Fave(t.Context(), bob.ID, old.Code)
	w.must(err)
	w.same("touched", kept.Touched, ids(w.timeline(kinds.Faves, bob.ID), most, w.aggregate(kinds.MostFaved, "ru")))
	fresh := w.freshAt(old.PostID)
	w.same("an old post is lifted nowhere", w.row(most, old.PostID), row{EnteredAt: fresh, FreshAt: fresh})
	w.must(second(w.Posts.Unfave(t.Context(), ann.ID, old.Code)))
	w.same("withdrawn", w.row(most, old.PostID).Withdrawn, true)
	w.sound()
}

// A post moves with its language, to the place it had, and a bump takes all its
// rows along.
func TestAggregatesFollowTheLanguage(t *testing.T) {
	w := newTown(t)
	w.opts.BestOf = 1
	bob, ann := w.user("bob"), w.user("ann")
	c := w.post(bob, english)
	w.must(second(w.Posts.Like(t.Context(), ann.ID, c.Code)))
	was := w.row(w.aggregate(kinds.Best, ""), c.PostID)
	all := w.row(w.aggregate(kinds.Everything, ""), c.PostID)
	edited, err := w.Posts.Edit(t.Context(), bob.ID, c.Code, russian)
	w.must(err)
	w.same("touched", edited.Touched, ids(w.aggregate(kinds.Best, "en"), w.aggregate(kinds.Best, "ru"),
		w.aggregate(kinds.Everything, "en"), w.aggregate(kinds.Everything, "ru"), w.timeline(kinds.Notifications, bob.ID)))
	w.same("place among the best", w.row(w.aggregate(kinds.Best, "ru"), c.PostID), was)
	w.same("place in everything", w.row(w.aggregate(kinds.Everything, "ru"), c.PostID), all)
	w.sound()
	w.comment(ann, c.Code)
	for _, kind := range []string{kinds.Best, kinds.Everything} {
		for _, lang := range []string{"", "en", "ru"} {
			w.same(kind+"/"+lang, w.row(w.aggregate(kind, lang), c.PostID).FreshAt, w.freshAt(c.PostID))
		}
	}
	chosen, err := w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{Body: new(russian), Language: new("en")})
	w.must(err)
	w.same("touched by a choice", len(chosen.Touched), 5)
	w.sound()
}

// Imported posts stand among the best since the last of the people needed came.
func TestImportedBest(t *testing.T) {
	w := newTown(t)
	w.opts.BestOf = 2
	p := tale("1")
	p.Body = english
	p.Likes = []ImportedLike{thumb("ann", time.Minute), thumb("bob", 3*time.Hour)}
	p.Comments = []ImportedComment{remark("c1", "bob", time.Hour)}
	w.importPosts(1, p)
	w.same("one person and the author", value[int](w, `
		SELECT count(*)::int FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id WHERE t.kind = 'best'`), 0)
	p.Likes = append(p.Likes, thumb("cid", 2*time.Hour), thumb("dan", 4*time.Hour))
	w.importPosts(1, p)
	id := w.imported(originPost, "1")
	want := row{EnteredAt: Micros(noon.Add(2 * time.Hour)), FreshAt: Micros(noon.Add(2 * time.Hour))}
	w.same("row", w.row(w.aggregate(kinds.Best, ""), id), want)
	w.same("row of the language", w.row(w.aggregate(kinds.Best, "en"), id), want)
	w.sound()
}

// The cost of a like of a post that few, many and very many people know, including the
// count for best-of, and of a post with a very long discussion.
func BenchmarkLike(b *testing.B) {
	w := newTown(b)
	bob, ann, cid := w.user("bob"), w.user("ann"), w.user("cid")
	plain, crowded, talk := w.post(bob, "hello"), w.post(bob, "hello"), w.post(bob, "hello")
	w.crowd(crowded.PostID, large(5000))
	w.exec(`INSERT INTO comments (post_id, author_id, created_at, body)
		SELECT $1, CASE WHEN i % 2 = 0 THEN $2::bigint ELSE $3 END, now(), 'so' FROM generate_series(1, $4::int) i`,
		talk.PostID, bob.ID, cid.ID, large(5000))
	w.exec(`WITH made AS (
			INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive)
			SELECT $1, i, now(), true, lpad(i::text, 10, '0'), 'hello', ARRAY[$2::bigint] FROM generate_series(1, $3::int) i
			RETURNING id)
		INSERT INTO comments (post_id, author_id, created_at, body)
		SELECT id, $1, now(), 'so' FROM made, generate_series(1, 10)`, bob.ID, bob.FeedID, large(2000))
	w.exec(`VACUUM ANALYZE`)
	w.pool.Reset()
	for name, code := range map[string]string{"plain": plain.Code, "much-liked": crowded.Code, "long-talk": talk.Code} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.must(second(w.Posts.Like(b.Context(), ann.ID, code)))
				w.must(second(w.Posts.Unlike(b.Context(), ann.ID, code)))
			}
		})
	}
}

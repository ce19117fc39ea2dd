package rivers

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// BenchmarkTier0 measures from the commit of a like to the actor's own rivers, for a post
// that few like and for one that ten thousand like.
func BenchmarkTier0(b *testing.B) {
	w := newTown(b)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	few, many := w.post(bob, "for few"), w.post(bob, "for many")
	w.likedByMany(many.PostID, 10_000)
	w.drain()
	w.visit(ann, Home, "")
	w.visit(ann, Everything, "")
	for _, of := range []struct {
		name string
		post timelines.Change
	}{{"cold", few}, {"much-liked", many}} {
		b.Run(of.name, func(b *testing.B) {
			like := true
			for b.Loop() {
				b.StopTimer()
				set := w.store.Posts.Unlike
				if like {
					set = w.store.Posts.Like
				}
				like = !like
				c, err := set(w.ctx, ann.AccountID, of.post.Code)
				must(w, c, err)
				b.StartTimer()
				touched := []timelines.Touched{{PostID: c.PostID, Timelines: c.Touched}}
				if err := w.rivers.Distribute(w.ctx, touched, Scope{Actor: ann.AccountID}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A post in very many timelines has the same entries as any other.
func TestAPostInVeryManyTimelines(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.person("ann"), w.person("bob"), w.person("cat")
	w.follow(ann, "cat")
	p := w.post(bob, "liked by many")
	w.likedByMany(p.PostID, 1000)
	w.drain()
	w.visit(ann, Home, "")
	w.visit(ann, Everything, "")
	w.like(cat, p.Code)
	w.drain()
	w.shows(w.visit(ann, Home, ""), "liked by many")
	if why := w.visit(ann, Home, "").Items[0].Why; len(why) != 1 || why[0].TheirID != cat.AccountID {
		t.Errorf("it is here because of %+v, want cat's like alone", why)
	}
	w.unlike(cat, p.Code)
	w.drain()
	w.shows(w.visit(ann, Home, ""))
	w.shows(w.visit(ann, Everything, ""), "liked by many")
	w.sound()
}

// likedByMany makes this many people like a post, as if an import had brought them.
func (w *town) likedByMany(post int64, people int) {
	w.t.Helper()
	// The server looks for referenced rows by plans it made when there were few.
	w.db.Primary.Reset()
	err := pgx.BeginFunc(w.ctx, w.db.Primary, func(tx pgx.Tx) error {
		for _, query := range []string{
			`SELECT set_config('enable_seqscan', 'off', true) WHERE $1::bigint > 0 AND $2::int > 0`,
			`INSERT INTO accounts (kind, name, title) SELECT 'user', 'ghost-' || i, 'g' FROM generate_series(1, $2::int) i WHERE $1 > 0`,
			`INSERT INTO timelines (kind, their_id) SELECT k, id FROM accounts, unnest(ARRAY['feed', 'likes', 'discussions']) k
			WHERE name LIKE 'ghost-%' AND $1 > 0 AND $2 > 0`,
			`INSERT INTO likes SELECT $1, id, now() FROM accounts WHERE name LIKE 'ghost-%' AND $2 > 0`,
			`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT t.id, p.id, p.fresh_at + t.id, p.fresh_at + t.id, p.fresh_at
			FROM posts p, timelines t JOIN accounts a ON a.id = t.their_id
			WHERE p.id = $1 AND $2 > 0 AND a.name LIKE 'ghost-%' AND t.kind IN ('likes', 'discussions')`,
			`UPDATE posts SET version = version + 1 WHERE id = $1 AND $2 > 0`,
		} {
			if _, err := tx.Exec(w.ctx, query, post, people); err != nil {
				return err
			}
		}
		return nil
	})
	must(w, 0, err)
	if _, err := w.db.Primary.Exec(w.ctx, `ANALYZE`); err != nil {
		w.t.Fatal(err)
	}
}

// BenchmarkBuild measures the first visit to a river of two pages' posts with a hundred
// likes each: posts that stand in other rivers, so that their folds are there, and posts
// that stand in none.
func BenchmarkBuild(b *testing.B) {
	w := newTown(b)
	ann, bob := w.person("ann"), w.person("bob")
	w.follow(ann, "bob")
	last := w.post(bob, "a post")
	for range firstChunk - 1 {
		last = w.post(bob, "a post")
	}
	w.likedByMany(last.PostID, 100)
	if _, err := w.db.Primary.Exec(w.ctx, `
		INSERT INTO likes SELECT p.id, l.account_id, l.created_at FROM likes l, posts p WHERE p.id <> l.post_id`); err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct{ name, throw string }{
		{"folds", `TRUNCATE entries, rivers_timelines, rivers`},
		{"none", `TRUNCATE entries, rivers_timelines, rivers, folds`},
	} {
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				w.exec(of.throw)
				w.rivers.folds = newFoldCache(1000)
				b.StartTimer()
				w.visit(ann, Home, "")
			}
		})
	}
}

package timelines

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// items runs fn in a transaction as package sources does, and returns what End did.
func (w *town) items(place ItemPlace, fn func(*ItemsTx) error) Change {
	w.Helper()
	c, err := w.tryItems(place, fn)
	w.must(err)
	return c
}

func (w *town) tryItems(place ItemPlace, fn func(*ItemsTx) error) (Change, error) {
	return inTx(w.Context(), w.core, func(tx pgx.Tx) (Change, error) {
		x, err := w.Items.Begin(w.Context(), tx, place)
		if err != nil {
			return Change{}, err
		}
		before := w.versions(tx)
		if err := fn(x); err != nil {
			return Change{}, err
		}
		// Whatever gets another version is announced, and nothing else.
		var raised, touched []int64
		for post, version := range w.versions(tx) {
			if before[post] != version {
				raised = append(raised, post)
			}
		}
		for post := range x.touched {
			touched = append(touched, post)
		}
		w.same("posts touched, of those of other versions", union(touched, nil), union(raised, nil))
		return x.End(w.Context())
	})
}

// versions are those of all posts, as a transaction sees them.
func (w *town) versions(tx pgx.Tx) map[int64]int64 {
	w.Helper()
	of := map[int64]int64{}
	var post, version int64
	rows, err := tx.Query(w.Context(), `SELECT id, version FROM posts`)
	w.must(err)
	_, err = pgx.ForEachRow(rows, []any{&post, &version}, func() error {
		of[post] = version
		return nil
	})
	w.must(err)
	return of
}

// makeItems makes posts of a source.
func (w *town) makeItems(place ItemPlace, posts ...ItemPost) (ids []int64) {
	w.Helper()
	w.items(place, func(x *ItemsTx) (err error) {
		ids, err = x.Create(w.Context(), posts)
		return err
	})
	return ids
}

// stored is all that the store holds of a post but its ids, its code, its dates and who was told.
func (w *town) stored(post int64) []string {
	w.Helper()
	one := `SELECT format('%s %s markup=%s lang=%s public=%s deleted=%s edited=%s decisive=%s', author_id, body, markup, lang, is_public,
			deleted_at IS NOT NULL, edited_at IS NOT NULL, decisive)
		FROM posts WHERE id = $1`
	rows := `SELECT format('%s %s %s withdrawn=%s', t.kind, CASE t.kind WHEN 'post' THEN 0 ELSE t.their_id END, t.term, e.withdrawn)
		FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id WHERE e.post_id = $1 AND t.kind <> 'notifications'`
	named := `SELECT format('names %s %s', t.kind, t.term) FROM text_marks m JOIN timelines t ON t.id = m.timeline_id WHERE m.post_id = $1`
	found := `SELECT format('search %s', lexemes) FROM texts WHERE post_id = $1`
	var list []string
	for _, query := range []string{one, rows, named, found} {
		list = append(list, all(w, pgx.RowTo[string], query, post)...)
	}
	slices.Sort(list)
	return list
}

// A post of a source stands in the store as one that its author wrote, was edited and was deleted,
// but that nobody edited it here.
func TestItemsAreStoredAsPosts(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	w.user("bob")
	w.group(ann, "sailing", Private)
	_, err := w.Feeds.Create(w.Context(), ann.ID, "photos", "Photos", Protected)
	w.must(err)
	texts := []string{
		"The weather is fine today and we go sailing #weather #wind @bob",
		"Сегодня хорошая погода, мы пойдём под парусом #погода #wind @nobody",
		"The sea was calm and nobody said anything at all, `#code` and *more*",
	}
	for _, to := range []string{"ann", "ann/photos", "sailing"} {
		for i, text := range texts {
			next := texts[(i+1)%len(texts)]
			own := w.post(ann, text, to).PostID
			item := w.makeItems(ItemPlace{Author: ann.ID, To: to}, ItemPost{Body: text, Markup: true, CreatedAt: time.Now(), Lifts: true})[0]
			if d := cmp.Diff(w.stored(own), w.stored(item)); d != "" {
				t.Errorf("new in %s (-written +of a source):\n%s", to, d)
			}
			code := value[string](w, `SELECT code FROM posts WHERE id = $1`, own)
			_, err := w.Posts.Edit(w.Context(), ann.ID, code, next)
			w.must(err)
			w.exec(`UPDATE posts SET edited_at = NULL WHERE id = $1`, own)
			c := w.items(ItemPlace{Author: ann.ID, To: to}, func(x *ItemsTx) error {
				edited, _, err := x.Edit(w.Context(), []ItemPost{{ID: item, Body: next, Markup: true}})
				w.same("edited", edited, []int64{item})
				return err
			})
			if len(c.Rewritten) != 1 || c.Rewritten[0].PostID != item {
				t.Errorf("an edit: rewritten %v, want post %d", c.Rewritten, item)
			}
			if d := cmp.Diff(w.stored(own), w.stored(item)); d != "" {
				t.Errorf("edited in %s (-written +of a source):\n%s", to, d)
			}
			_, err = w.Posts.Delete(w.Context(), ann.ID, code)
			w.must(err)
			c = w.items(ItemPlace{Author: ann.ID, To: to}, func(x *ItemsTx) error {
				gone, err := x.Delete(w.Context(), []int64{item}, true)
				w.same("deleted", gone, []int64{item})
				return err
			})
			if len(c.Rewritten) != 1 || len(c.Rewritten[0].Timelines) == 0 {
				t.Errorf("a deletion: rewritten %v, want post %d with the timelines it left", c.Rewritten, item)
			}
			if d := cmp.Diff(w.stored(own), w.stored(item)); d != "" {
				t.Errorf("deleted from %s (-written +of a source):\n%s", to, d)
			}
		}
	}
	w.soundMarks()
}

// Many items are one event, with what each of them touched.
func TestItemsAreAnnouncedTogether(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	w.heard.take()
	var posts []ItemPost
	for i := range 30 {
		posts = append(posts, ItemPost{Body: fmt.Sprintf("number %d of #many", i), CreatedAt: time.Now().Add(-time.Duration(i) * time.Hour)})
	}
	ids := w.makeItems(ItemPlace{Author: ann.ID, To: "ann"}, posts...)
	var batches, others int
	for _, e := range w.heard.take() {
		switch e := e.(type) {
		case TouchedBatch:
			batches++
			if len(e) != len(ids) || !slices.IsSortedFunc(e, func(a, b Touched) int { return int(a.PostID - b.PostID) }) {
				t.Errorf("a batch of %d posts, want %d in order", len(e), len(ids))
			}
			for _, one := range e {
				standing := all(w, pgx.RowTo[int64], `SELECT timeline_id FROM timeline_entries WHERE post_id = $1 ORDER BY 1`, one.PostID)
				w.same("touched", one.Timelines, standing)
			}
		case Replace: // of the new tag
		default:
			others++
		}
	}
	if batches != 1 || others != 0 {
		t.Errorf("announced %d batches and %d other events, want one batch", batches, others)
	}
}

// Items that do not lift stand where their dates put them; those that do come to the top in the
// order in which they are given.
func TestItemsTakeTheirPlaces(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	today := w.post(ann, "written today").PostID
	old := time.Now().Add(-100 * time.Hour).Truncate(time.Microsecond)
	ids := w.makeItems(ItemPlace{Author: ann.ID, To: "ann"},
		ItemPost{Body: "later", CreatedAt: old.Add(time.Hour)}, ItemPost{Body: "earlier", CreatedAt: old},
		ItemPost{Body: "first on top", CreatedAt: old, Lifts: true}, ItemPost{Body: "second on top", CreatedAt: old, Lifts: true})
	const in = `SELECT e.post_id FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id WHERE t.kind = $1 AND t.their_id = $2 ORDER BY `
	for _, kind := range []string{"feed", "discussions"} {
		got := all(w, pgx.RowTo[int64], in+`e.fresh_at DESC, e.post_id DESC`, kind, ann.ID)
		w.same("fresh order of "+kind, got, []int64{ids[3], ids[2], today, ids[0], ids[1]})
		got = all(w, pgx.RowTo[int64], in+`e.created_at DESC, e.post_id DESC`, kind, ann.ID)
		w.same("order of creation of "+kind, got[:2], []int64{today, ids[0]})
	}
	w.same("fresh", value[int64](w, `SELECT fresh_at FROM posts WHERE id = $1`, ids[1]), Micros(old))
}

// Posts that were edited or deleted here stay as they are, whatever the source says. A source
// reaches only its author's posts.
func TestItemsRespectWhatWasDoneHere(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	place := ItemPlace{Author: ann.ID, To: "ann"}
	now := time.Now()
	ids := w.makeItems(place, ItemPost{Body: "edited here", CreatedAt: now}, ItemPost{Body: "deleted here", CreatedAt: now},
		ItemPost{Body: "liked", CreatedAt: now}, ItemPost{Body: "commented on", CreatedAt: now}, ItemPost{Body: "as it was", CreatedAt: now})
	codes := map[int64]string{}
	for _, id := range ids {
		codes[id] = value[string](w, `SELECT code FROM posts WHERE id = $1`, id)
	}
	_, err := w.Posts.Edit(w.Context(), ann.ID, codes[ids[0]], "my own words")
	w.must(err)
	_, err = w.Posts.Delete(w.Context(), ann.ID, codes[ids[1]])
	w.must(err)
	_, err = w.Posts.Like(w.Context(), bob.ID, codes[ids[2]])
	w.must(err)
	w.say(bob, codes[ids[3]], "a word")
	stranger := w.post(bob, "somebody else's").PostID

	var edits []ItemPost
	for _, id := range append(slices.Clone(ids), stranger) {
		edits = append(edits, ItemPost{ID: id, Body: "the source says so now"})
	}
	w.items(place, func(x *ItemsTx) error {
		edited, _, err := x.Edit(w.Context(), edits)
		w.same("edited", edited, ids[2:])
		return err
	})
	w.items(place, func(x *ItemsTx) error {
		edited, _, err := x.Edit(w.Context(), edits)
		w.same("the same again", edited, []int64(nil))
		return err
	})
	w.same("of the person", value[string](w, `SELECT body FROM posts WHERE id = $1`, ids[0]), "my own words")
	w.same("of a stranger", value[string](w, `SELECT body FROM posts WHERE id = $1`, stranger), "somebody else's")
	w.items(place, func(x *ItemsTx) error {
		gone, err := x.Delete(w.Context(), append(slices.Clone(ids), stranger), false)
		w.same("those that nobody discussed or edited", gone, []int64{ids[4]})
		return err
	})
	w.items(place, func(x *ItemsTx) error {
		gone, err := x.Delete(w.Context(), append(slices.Clone(ids), stranger), true)
		w.same("all others", gone, []int64{ids[0], ids[2], ids[3]})
		return err
	})
	w.same("posts left", all(w, pgx.RowTo[int64], `SELECT id FROM posts WHERE deleted_at IS NULL`), []int64{stranger})
}

// A source posts only where its author may.
func TestItemsNeedTheRightToWrite(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.group(bob, "closed", Private)
	for to, code := range map[string]string{"closed": "to_forbidden", "bob": "to_forbidden", "nowhere": "to_unknown", "bob/private": "to_unknown"} {
		_, err := w.tryItems(ItemPlace{Author: ann.ID, To: to}, func(*ItemsTx) error { return nil })
		w.invalid(to, err, code)
	}
}

// The statements of a batch do not grow with its items.
func TestItemsTakeFewStatements(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	counted := &counter{}
	config := w.pool.Config()
	config.ConnConfig.Tracer = counted
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	w.must(err)
	t.Cleanup(pool.Close)
	w = &town{TB: t, Store: Open(pool, w.heard, DefaultOptions()), heard: w.heard}
	statements := func(do func()) int64 {
		before := counted.n.Load()
		do()
		return counted.n.Load() - before
	}
	place := ItemPlace{Author: ann.ID, To: "ann"}
	count := func(n int) (made, edited, deleted int64) {
		var posts []ItemPost
		for i := range n {
			posts = append(posts, ItemPost{Body: fmt.Sprintf("number %d of #many", i), CreatedAt: time.Now()})
		}
		ids := []int64{}
		made = statements(func() { ids = w.makeItems(place, posts...) })
		for i := range posts {
			posts[i].ID, posts[i].Body = ids[i], posts[i].Body+" #other"
		}
		edited = statements(func() {
			w.items(place, func(x *ItemsTx) error { _, _, err := x.Edit(w.Context(), posts); return err })
		})
		deleted = statements(func() {
			w.items(place, func(x *ItemsTx) error { _, err := x.Delete(w.Context(), ids, true); return err })
		})
		return made, edited, deleted
	}
	count(1)
	made, edited, deleted := count(2)
	madeMany, editedMany, deletedMany := count(60)
	if made != madeMany || edited != editedMany || deleted != deletedMany {
		t.Errorf("statements for 2 items: %d, %d, %d; for 60: %d, %d, %d", made, edited, deleted, madeMany, editedMany, deletedMany)
	}
}

// counter counts statements, alone or in a pipeline.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Some items of a batch go to groups instead, whose levels decide who reads them. Only items for
// places that may not be written to are refused.
func TestItemsGoToSeveralPlaces(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	w.group(bob, "open", Public)
	w.group(bob, "closed", Private)
	w.group(ann, "mine", Private)
	place := ItemPlace{Author: ann.ID, To: "ann", Also: []string{"open", "mine", "closed", "nowhere", "bob", "ann", "mine", "no name"}}
	var refused []string
	w.items(place, func(x *ItemsTx) error {
		for _, group := range place.Also {
			if x.Refused(group) {
				refused = append(refused, group)
			}
		}
		_, err := x.Create(w.Context(), []ItemPost{
			{Body: "own", CreatedAt: time.Now()},
			{Body: "open", To: "open", CreatedAt: time.Now()},
			{Body: "mine", To: "mine", CreatedAt: time.Now()},
			{Body: "closed", To: "closed", CreatedAt: time.Now()},
			{Body: "bob", To: "bob", CreatedAt: time.Now()},
		})
		return err
	})
	w.same("refused", refused, []string{"closed", "nowhere", "bob", "ann", "no name"})
	w.same("where they stand", all(w, pgx.RowTo[string], `
		SELECT format('%s %s public=%s %s', p.body, string_agg(a.name || ' ' || t.kind, ', '), p.is_public, min(p.author_id) = $1)
		FROM posts p JOIN timelines t ON t.id = ANY(p.decisive) JOIN accounts a ON a.id = t.their_id
		GROUP BY p.id ORDER BY p.id`, ann.ID), []string{
		"own ann feed public=t t", "open open group public=t t", "mine mine group public=f t", "closed ann feed public=t t", "bob ann feed public=t t",
	})
	_, err := w.tryItems(ItemPlace{Author: ann.ID, To: "closed", Also: []string{"closed", "open"}}, func(*ItemsTx) error { return nil })
	w.invalid("no place of its own", err, "to_forbidden")
	w.sound()
}

package rivers

import (
	"slices"
	"testing"

	"riverrun/timelines"
)

// No single request stores the whole history, however deep its cursor.
func TestADeepCursorStoresNoWholeHistory(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	const total = (maxExtensions + 3) * chunk
	for _, query := range []string{
		`INSERT INTO posts (author_id, fresh_at, created_at, is_public, is_protected, is_private, code, body, decisive)
		SELECT a.id, 1000000::bigint * i, to_timestamp(i), true, false, false, lpad(to_hex(i), 10, '0'), 'post ' || i, ARRAY[t.id]
		FROM accounts a JOIN timelines t ON t.kind = 'feed' AND t.their_id = a.id, generate_series(1, $1::int) i`,
		`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT decisive[1], id, fresh_at, fresh_at, fresh_at FROM posts WHERE id <= (SELECT min(id) FROM posts) + $1`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query, total); err != nil {
			t.Fatal(err)
		}
	}
	name := w.name(ann, User, "ann")
	deep := Cursor{Place: 2_500_000, PostID: 1}
	p, err := w.rivers.Visit(w.ctx, ann, name, deep)
	if err != nil || len(p.Items) > 0 || !p.More || p.Next != deep {
		t.Errorf("a page below everything: got %+v, %v; want it empty, and the same again for more", p, err)
	}
	if got, most := w.count(`SELECT count(*) FROM entries`), (maxExtensions+1)*chunk; got > most {
		t.Errorf("%d entries stored by one request, want at most %d", got, most)
	}
	p, err = w.rivers.Visit(w.ctx, ann, name, p.Next)
	if err != nil || p.More {
		t.Errorf("the same again: %+v, %v", p, err)
	}
	w.shows(p, "post 2", "post 1")
	p, err = w.rivers.Visit(w.ctx, ann, name, Cursor{Place: 1000000 * (total - PageSize), PostID: 1})
	if err != nil || len(p.Items) != PageSize {
		t.Errorf("the second page: %v, %v", p, err)
	}
}

// A stranger looks at what is nearly all private: no request reads it whole, and
// going on from page to page comes to what there is, without holes.
func TestAStrangerPagesThroughPrivatePosts(t *testing.T) {
	w := newTown(t)
	w.rivers.scanRows = 200
	ann, wren := w.person("ann"), w.person("wren")
	c, err := w.store.SetAccess(w.ctx, wren.AccountID, "", timelines.Private)
	must(w, c, err)
	for _, query := range []string{
		`INSERT INTO posts (author_id, fresh_at, created_at, is_public, is_protected, is_private, code, body, decisive)
		SELECT a.id, 1000000::bigint * i, to_timestamp(i), name = 'ann', false, name = 'wren', lpad(to_hex(i), 10, '0'), 'post ' || i, ARRAY[t.id]
		FROM generate_series(1, 4000) i
		JOIN accounts a ON a.name = CASE WHEN i % 1500 = 1 THEN 'ann' ELSE 'wren' END
		JOIN timelines t ON t.kind = 'feed' AND t.their_id = a.id`,
		`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, p.fresh_at, p.fresh_at, p.fresh_at
		FROM posts p JOIN timelines t ON t.id = p.decisive[1] OR t.kind = 'everything'`,
	} {
		if _, err := w.db.Primary.Exec(w.ctx, query); err != nil {
			t.Fatal(err)
		}
	}
	w.drain()
	name := w.name(timelines.Viewer{}, Everything, "")
	var got []string
	pages := 0
	for at := (Cursor{}); pages < 40; {
		p, err := w.rivers.Visit(w.ctx, timelines.Viewer{}, name, at)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, it := range p.Items {
			got = append(got, it.Fold.Text.Body)
		}
		if !p.More {
			break
		}
		if p.Next == at {
			t.Fatalf("page %d leads to itself", pages)
		}
		at = p.Next
	}
	if want := []string{"post 3001", "post 1501", "post 1"}; !slices.Equal(got, want) || pages < 2 {
		t.Errorf("got %q on %d pages, want %q on several", got, pages, want)
	}
	w.shows(w.visit(ann, User, "ann"), "post 3001", "post 1501", "post 1")
	w.sound()
}

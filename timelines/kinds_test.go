package timelines

import (
	"slices"
	"testing"
)

// The database has the kinds this package names, and its triggers take for base
// timelines those that IsBase does.
func TestTheDatabaseKnowsTheKinds(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	post := w.post(bob, "hello").PostID
	kinds := value[[]string](w, `
		SELECT array_agg(m[1]) FROM pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), $$'([a-z]+)'$$, 'g') m
		WHERE c.conname = 'timelines_kind'`)
	for _, kind := range slices.Concat(baseKinds, ungatedKinds, []string{
		KindLikes, KindComments, KindDiscussions, KindFaves, KindMentions, KindEverything, KindBest, KindMostFaved, KindHashtag,
	}) {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the database takes the kinds %q, without %q", kinds, kind)
		}
	}
	for _, kind := range kinds {
		id := value[int64](w, `
			INSERT INTO timelines (kind, their_id, term, writers)
			VALUES ($1, $2, 'x', CASE WHEN $1 IN ('directs', 'group') THEN 'anyone' ELSE '' END) RETURNING id`, kind, bob.ID)
		w.exec(`INSERT INTO timeline_entries (timeline_id, post_id, entered_at, fresh_at, created_at) VALUES ($1, $2, 1, 1, 1)`, id, post)
		entered := value[bool](w, `SELECT EXISTS (SELECT FROM gated_entries WHERE timeline_id = $1)`, id)
		w.exec(`DELETE FROM gated_entries WHERE timeline_id = $1`, id)
		w.exec(`UPDATE posts SET decisive = decisive || $2::bigint WHERE id = $1`, post, id)
		moved := value[bool](w, `SELECT EXISTS (SELECT FROM gated_entries WHERE timeline_id = $1)`, id)
		if want := !slices.Contains(ungatedKinds, kind); entered != want || moved != want {
			t.Errorf("gated_entries has a row of a timeline of kind %s: %t once entered, %t once moved; want %t", kind, entered, moved, want)
		}
	}
}

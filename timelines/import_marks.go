package timelines

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/marks"
)

// findMarks finds or creates the timelines that the batch's new texts name, so that replay
// can enter them at the dates of the texts. A @name is the account that has this name here,
// as it is on pages.
func (b *batch) findMarks(ctx context.Context) error {
	var tags, names []string
	gather := func(body string) *textMarks {
		if !strings.ContainsAny(body, "#@") {
			return nil
		}
		m := &textMarks{marks.Tags(body), marks.Names(body)}
		tags, names = append(tags, m.tags...), append(names, m.names...)
		return m
	}
	for _, p := range b.posts {
		if p.new {
			p.marks = gather(p.writing().prose())
		}
		for i, c := range p.comments {
			p.comments[i].marks = gather(c.Body)
		}
	}
	if len(tags)+len(names) == 0 {
		return nil
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	made, err := insertHashtagsTx(ctx, b.tx, tags)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		b.events = append(b.events, Replace{Everybody: true, Kinds: []string{kinds.Hashtag}, Terms: made})
	}
	// As in recall, each is found by itself.
	const query = `
		SELECT '#' || n.term, t.id FROM unnest(@tags::text[]) n (term)
		CROSS JOIN LATERAL (
			SELECT id FROM timelines WHERE kind = 'hashtag' AND their_id = 0 AND term = n.term OFFSET 0) t
		UNION ALL
		SELECT '@' || a.name, t.id FROM accounts a
		CROSS JOIN LATERAL (
			SELECT id FROM timelines WHERE kind = 'mentions' AND their_id = a.id AND term = '' OFFSET 0) t
		WHERE a.name = ANY(@names)`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"tags": tags, "names": names})
	if err != nil {
		return fmt.Errorf("find what texts name: %w", err)
	}
	var mark string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&mark, &id}, func() error {
		b.marks[mark] = id
		return nil
	})
	if err != nil {
		return fmt.Errorf("find what texts name: %w", err)
	}
	return nil
}

// textMarks are what a text names: tags by their terms, people by their names. Most texts have none.
type textMarks struct{ tags, names []string }

// named returns the timelines that a text names.
func (b *batch) named(m *textMarks) []int64 {
	if m == nil {
		return nil
	}
	var ids []int64
	for _, tag := range m.tags {
		ids = append(ids, b.marks["#"+tag])
	}
	for _, name := range m.names {
		if id, ok := b.marks["@"+name]; ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// markTexts records which timelines the new texts name. It follows makeActivity, which gives
// comments their ids.
func (b *batch) markTexts(ctx context.Context) error {
	var posts, comments, timelines []int64
	mark := func(post, comment int64, of *textMarks) {
		for _, id := range b.named(of) {
			posts, comments, timelines = append(posts, post), append(comments, comment), append(timelines, id)
		}
	}
	for _, p := range b.posts {
		if p.new {
			mark(p.ID, ownText, p.marks)
		}
	}
	for id, c := range b.made {
		mark(c.post.ID, id, c.marks)
	}
	if len(posts) == 0 {
		return nil
	}
	_, err := b.tx.Exec(ctx, `
		INSERT INTO text_marks (post_id, comment_id, timeline_id)
		SELECT * FROM unnest(@posts::bigint[], @comments::bigint[], @timelines::bigint[])`,
		pgx.StrictNamedArgs{"posts": posts, "comments": comments, "timelines": timelines})
	if err != nil {
		return fmt.Errorf("mark texts: %w", err)
	}
	return nil
}

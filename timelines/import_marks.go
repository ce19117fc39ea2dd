package timelines

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/marks"
)

// findMarks makes and finds the timelines that the batch's new texts name, so
// that replay can enter them at the texts' own dates.
func (b *batch) findMarks(ctx context.Context) error {
	var tags []string
	for _, p := range b.posts {
		if p.new {
			tags = append(tags, marks.Tags(p.Body)...)
		}
		for _, c := range p.comments {
			tags = append(tags, marks.Tags(c.Body)...)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	if len(tags) == 0 {
		return nil
	}
	made, err := insertHashtagsTx(ctx, b.tx, tags)
	if err != nil {
		return err
	}
	if len(made) > 0 {
		b.events = append(b.events, Replace{Everybody: true, Kinds: []string{KindHashtag}, Terms: made})
	}
	rows, err := b.tx.Query(ctx, `SELECT term, id FROM timelines WHERE kind = 'hashtag' AND their_id = 0 AND term = ANY(@tags)`,
		pgx.StrictNamedArgs{"tags": tags})
	if err != nil {
		return fmt.Errorf("find hashtags: %w", err)
	}
	b.tags = make(map[string]int64, len(tags))
	var term string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&term, &id}, func() error {
		b.tags[term] = id
		return nil
	})
	if err != nil {
		return fmt.Errorf("find hashtags: %w", err)
	}
	return nil
}

// named are the timelines a text names.
func (b *batch) named(body string) []int64 {
	var ids []int64
	for _, tag := range marks.Tags(body) {
		ids = append(ids, b.tags[tag])
	}
	return ids
}

// markTexts writes down what the new texts name. It follows makeTalk, which gives
// comments their ids.
func (b *batch) markTexts(ctx context.Context) error {
	var posts, comments, timelines []int64
	mark := func(post, comment int64, body string) {
		for _, id := range b.named(body) {
			posts, comments, timelines = append(posts, post), append(comments, comment), append(timelines, id)
		}
	}
	for _, p := range b.posts {
		if p.new {
			mark(p.ID, ownText, p.Body)
		}
	}
	for id, c := range b.made {
		mark(c.post.ID, id, c.Body)
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

package timelines

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// importDecisive returns the destinations of each post, with the flags that follow from
// their levels, which lockLevels has locked.
const importDecisive = `
	SELECT x.post_id, array_agg(x.timeline_id ORDER BY x.timeline_id) AS decisive, ` + publicColumn + `
	FROM unnest(@at_posts::bigint[], @at_timelines::bigint[]) AS x (post_id, timeline_id)
	JOIN timelines t ON t.id = x.timeline_id
	GROUP BY x.post_id`

func (b *batch) decisiveRows(pass func(*importPost) bool) (posts, timelines []int64) {
	for _, p := range b.posts {
		for _, t := range p.decisive {
			if pass(p) {
				posts, timelines = append(posts, p.ID), append(timelines, t)
			}
		}
	}
	return posts, timelines
}

// makePosts creates the new posts, with their own timelines and attachments. They get ids in
// the order of their dates.
func (b *batch) makePosts(ctx context.Context) error {
	var posts []*importPost
	for _, p := range b.posts {
		if p.new {
			posts = append(posts, p)
		}
	}
	if len(posts) == 0 {
		return nil
	}
	slices.SortStableFunc(posts, func(x, y *importPost) int { return x.CreatedAt.Compare(y.CreatedAt) })
	ids, err := b.draw(ctx, "posts", len(posts))
	if err != nil {
		return err
	}
	for i, p := range posts {
		p.ID = ids[i]
		b.met = append(b.met, meeting{kind: originPost, id: p.ID, new: true})
	}
	if err := b.leaveTexts(ctx, true); err != nil {
		return err
	}
	// As in insertPostTx, a post whose code is taken gets another one.
	waiting := posts
	for range maxAttempts {
		if waiting, err = b.insertPosts(ctx, waiting); err != nil {
			return err
		}
		if len(waiting) == 0 {
			break
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("make posts: no free codes")
	}
	if err := b.leaveTexts(ctx, false); err != nil {
		return err
	}
	if err := b.makeOwnTimelines(ctx); err != nil {
		return err
	}
	return b.attach(ctx)
}

// rememberPosts records the keys of the new posts.
func (b *batch) rememberPosts(ctx context.Context) error {
	var ids []int64
	var keys, titles []string
	for _, p := range b.posts {
		if p.new {
			ids, keys, titles = append(ids, p.ID), append(keys, p.ExternalID), append(titles, p.URL)
		}
	}
	return b.remember(ctx, originPost, ids, keys, titles)
}

// insertPosts inserts the posts and returns those whose code was taken.
func (b *batch) insertPosts(ctx context.Context, posts []*importPost) ([]*importPost, error) {
	var ids, authors, fresh []int64
	var dates []time.Time
	var codes, bodies, langs, vias, viaURLs, places []string
	var markups []bool
	waiting := map[int64]*importPost{}
	for _, p := range posts {
		waiting[p.ID] = p
		ids, authors, fresh = append(ids, p.ID), append(authors, b.accounts[p.Author.ExternalID].ID), append(fresh, p.freshAt)
		dates, codes, bodies = append(dates, p.CreatedAt), append(codes, newCode()), append(bodies, p.Body)
		langs, markups = append(langs, p.lang), append(markups, p.markup)
		vias, viaURLs, places = append(vias, p.Via), append(viaURLs, p.ViaURL), append(places, p.place)
	}
	atPosts, atTimelines := b.decisiveRows(created)
	const query = `
		INSERT INTO posts (id, author_id, created_at, fresh_at, code, body, markup, lang, via, via_url, place,
			imported, decisive, is_public)
		OVERRIDING SYSTEM VALUE
		SELECT n.*, true, d.decisive, d.is_public
		FROM unnest(@ids::bigint[], @authors::bigint[], @dates::timestamptz[], @fresh::bigint[], @codes::text[],
			@bodies::text[], @markups::boolean[], @langs::text[], @vias::text[], @via_urls::text[], @places::text[])
			AS n (id, author_id, created_at, fresh_at, code, body, markup, lang, via, via_url, place)
		JOIN (` + importDecisive + `) d ON d.post_id = n.id
		ON CONFLICT (code) DO NOTHING
		RETURNING id`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{
		"ids": ids, "authors": authors, "dates": dates, "fresh": fresh, "codes": codes,
		"bodies": bodies, "markups": markups, "langs": langs, "vias": vias, "via_urls": viaURLs, "places": places, "at_posts": atPosts, "at_timelines": atTimelines,
	})
	if err != nil {
		return nil, fmt.Errorf("make posts: %w", err)
	}
	made, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("make posts: %w", err)
	}
	for _, id := range made {
		delete(waiting, id)
	}
	return slices.DeleteFunc(slices.Clone(posts), func(p *importPost) bool { return waiting[p.ID] == nil }), nil
}

func (b *batch) makeOwnTimelines(ctx context.Context) error {
	byID := map[int64]*importPost{}
	for _, p := range b.posts {
		byID[p.ID] = p
	}
	rows, err := b.tx.Query(ctx, `
		INSERT INTO timelines (kind, their_id) SELECT 'post', unnest(@posts::bigint[]) RETURNING id, their_id`,
		pgx.StrictNamedArgs{"posts": b.ids(created)})
	if err != nil {
		return fmt.Errorf("make posts' timelines: %w", err)
	}
	var id, post int64
	_, err = pgx.ForEachRow(rows, []any{&id, &post}, func() error {
		byID[post].enter(id, Micros(byID[post].CreatedAt))
		return nil
	})
	if err != nil {
		return fmt.Errorf("make posts' timelines: %w", err)
	}
	return nil
}

func (b *batch) attach(ctx context.Context) error {
	var posts, sizes []int64
	var positions []int16
	var urls, titles []string
	for _, p := range b.posts {
		if !p.new {
			continue
		}
		for i, a := range p.Attachments {
			posts, positions, sizes = append(posts, p.ID), append(positions, int16(i)), append(sizes, a.Bytes)
			urls, titles = append(urls, a.URL), append(titles, a.Title)
		}
	}
	if len(posts) == 0 {
		return nil
	}
	_, err := b.tx.Exec(ctx, `
		INSERT INTO attachments (post_id, position, bytes, url, title)
		SELECT * FROM unnest(@posts::bigint[], @positions::smallint[], @sizes::bigint[], @urls::text[], @titles::text[])`,
		pgx.StrictNamedArgs{"posts": posts, "positions": positions, "sizes": sizes, "urls": urls, "titles": titles})
	if err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	return nil
}

// updatePosts draws a version for each post that was there and gains something, and writes
// its freshness and destinations. lockPosts has locked the posts.
func (b *batch) updatePosts(ctx context.Context) error {
	ids := b.ids(gaining)
	if len(ids) == 0 {
		return nil
	}
	byID := map[int64]int64{}
	for _, p := range b.posts {
		byID[p.ID] = p.freshAt
	}
	fresh := make([]int64, len(ids))
	for i, id := range ids {
		fresh[i] = byID[id]
	}
	_, err := b.tx.Exec(ctx, `
		UPDATE posts p SET version = version + 1, fresh_at = n.fresh_at
		FROM unnest(@ids::bigint[], @fresh::bigint[]) AS n (id, fresh_at) WHERE p.id = n.id`,
		pgx.StrictNamedArgs{"ids": ids, "fresh": fresh})
	if err != nil {
		return fmt.Errorf("draw versions: %w", err)
	}
	posts, timelines := b.decisiveRows(func(p *importPost) bool { return p.rerouted })
	if len(posts) == 0 {
		return nil
	}
	_, err = b.tx.Exec(ctx, `
		UPDATE posts p
		SET decisive = d.decisive, is_public = d.is_public
		FROM (`+importDecisive+`) d WHERE p.id = d.post_id`,
		pgx.StrictNamedArgs{"at_posts": posts, "at_timelines": timelines})
	if err != nil {
		return fmt.Errorf("set destinations: %w", err)
	}
	return nil
}

// makeActivity writes the new comments and likes.
func (b *batch) makeActivity(ctx context.Context) error {
	if err := b.makeComments(ctx); err != nil {
		return err
	}
	type like struct {
		post, account int64
		*ImportedLike
	}
	var likes []like
	for _, p := range b.posts {
		for _, l := range p.likes {
			likes = append(likes, like{p.ID, b.accounts[l.Account.ExternalID].ID, l})
			b.met = append(b.met, meeting{kind: metLike, id: p.ID, of: likes[len(likes)-1].account, new: true})
		}
	}
	if len(likes) == 0 {
		return nil
	}
	return b.copyRows(ctx, "likes", []string{"post_id", "account_id", "created_at"}, len(likes), func(i int, row []any) {
		row[0], row[1], row[2] = likes[i].post, likes[i].account, likes[i].CreatedAt
	})
}

func (b *batch) makeComments(ctx context.Context) error {
	all := b.sortedComments()
	if len(all) == 0 {
		return nil
	}
	ids, err := b.draw(ctx, "comments", len(all))
	if err != nil {
		return err
	}
	keys := make([]string, len(all))
	for i, c := range all {
		keys[i] = c.ExternalID
		b.met = append(b.met, meeting{kind: originComment, id: ids[i], new: true})
		if c.marks != nil {
			b.made[ids[i]] = c
		}
	}
	columns := []string{"id", "post_id", "author_id", "created_at", "body", "via"}
	err = b.copyRows(ctx, "comments", columns, len(ids), func(i int, row []any) {
		c := all[i]
		row[0], row[1], row[2] = ids[i], c.post.ID, b.accounts[c.Author.ExternalID].ID
		row[3], row[4], row[5] = c.CreatedAt, c.Body, c.Via
	})
	if err != nil {
		return err
	}
	return b.remember(ctx, originComment, ids, keys, make([]string, len(ids)))
}

// writeEntries writes the new entries, and brings all other entries of these posts to the
// posts' freshness.
func (b *batch) writeEntries(ctx context.Context) error {
	if err := b.enterNewPosts(ctx); err != nil {
		return err
	}
	if len(b.ids(gaining)) == 0 {
		return nil
	}
	byID := map[int64]*importPost{}
	var timelines, posts, entered, fresh, dates []int64
	for _, p := range b.posts {
		byID[p.ID] = p
		if !gaining(p) {
			continue
		}
		for timeline, at := range p.entries {
			timelines, posts, entered = append(timelines, timeline), append(posts, p.ID), append(entered, at)
			fresh, dates = append(fresh, max(p.freshAt, at)), append(dates, Micros(p.CreatedAt))
		}
	}
	// A row that is there already keeps the earlier stamp. If it was withdrawn it comes back,
	// because there is a reason for it again. Its fresh_at is computed from that stamp and
	// the post's freshness, which is written by now. With the later stamp no row would be at
	// the post's place, and scans would not find it there.
	const enter = `
		INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT * FROM unnest(@timelines::bigint[], @posts::bigint[], @entered::bigint[], @fresh::bigint[], @dates::bigint[]) AS n
		ORDER BY 1, 2
		ON CONFLICT (timeline_id, post_id) DO UPDATE
		SET withdrawn = false, entered_at = least(e.entered_at, EXCLUDED.entered_at),
			fresh_at = greatest(least(e.entered_at, EXCLUDED.entered_at),
				(SELECT p.fresh_at FROM posts p WHERE p.id = e.post_id))
		WHERE e.withdrawn OR e.entered_at > EXCLUDED.entered_at
		RETURNING post_id, timeline_id`
	const follow = `
		UPDATE timeline_entries e SET fresh_at = p.fresh_at
		FROM posts p WHERE p.id = ANY(@posts) AND e.post_id = p.id AND e.fresh_at < p.fresh_at
		RETURNING e.post_id, e.timeline_id`
	note := func(rows pgx.Rows, err error) error {
		if err != nil {
			return fmt.Errorf("place posts: %w", err)
		}
		var post, timeline int64
		_, err = pgx.ForEachRow(rows, []any{&post, &timeline}, func() error {
			byID[post].touched = append(byID[post].touched, timeline)
			return nil
		})
		if err != nil {
			return fmt.Errorf("place posts: %w", err)
		}
		return nil
	}
	err := note(b.tx.Query(ctx, enter, pgx.StrictNamedArgs{
		"timelines": timelines, "posts": posts, "entered": entered, "fresh": fresh, "dates": dates,
	}))
	if err != nil {
		return err
	}
	if err := note(b.tx.Query(ctx, follow, pgx.StrictNamedArgs{"posts": b.ids(gaining)})); err != nil {
		return err
	}
	var moved []int64
	for _, p := range b.posts {
		if p.rerouted {
			moved = append(moved, p.ID)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	// Their readers have changed, so all their timelines count as touched.
	return note(b.tx.Query(ctx, `SELECT post_id, timeline_id FROM timeline_entries WHERE post_id = ANY(@posts)`,
		pgx.StrictNamedArgs{"posts": moved}))
}

// enterNewPosts writes the entries of new posts, which cannot have any yet.
func (b *batch) enterNewPosts(ctx context.Context) error {
	type place struct {
		timeline, at int64
		post         *importPost
	}
	var places []place
	for _, p := range b.posts {
		if !p.new {
			continue
		}
		for timeline, at := range p.entries {
			places = append(places, place{timeline, at, p})
			p.touched = append(p.touched, timeline)
		}
	}
	slices.SortFunc(places, func(x, y place) int {
		return cmp.Or(cmp.Compare(x.timeline, y.timeline), cmp.Compare(x.post.ID, y.post.ID))
	})
	columns := []string{"timeline_id", "post_id", "entered_at", "fresh_at", "created_at"}
	return b.copyRows(ctx, "timeline_entries", columns, len(places), func(i int, row []any) {
		at := places[i]
		row[0], row[1], row[2] = at.timeline, at.post.ID, at.at
		row[3], row[4] = max(at.post.freshAt, at.at), Micros(at.post.CreatedAt)
	})
}

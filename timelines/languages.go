package timelines

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/language"
	"riverrun/timelines/rules"
)

// The language of a post is the one its author chose. If there is none, it is the one its
// text is surely in (language.Detect); then, of the languages the text can be in
// (language.Fits), the one most of its author's latest posts are surely in; then the one
// most of its groups' latest posts are in. It is determined when the text is written. An
// import does it at its end, when it knows everybody's posts (Import.GuessLanguages).
//
// Guessed languages do not count for other guesses, so they do not reinforce themselves:
// a person who writes in German, and a few times in English, does not become English post
// by post. Posts that only some people may read do not count either: private writing must
// not show in public posts.
//
// Rejected: reading all posts without a language again when an author's usual language
// changes, and migrating old ones. Editing such a post, or importing it again, guesses its
// language.

const (
	// latestPosts is how many posts of an author, or of a group, are read for a guess.
	latestPosts = 100
	// leastSure: of ten posts whose language is sure, at least this many must be in a
	// guessed language.
	leastSure = 1
)

// postLanguage is the language of a post: one of language.Known, or "" if it is unknown, and
// whether its author chose it.
type postLanguage struct {
	lang   string
	chosen bool
	// fits are the languages that may be guessed if lang is unknown; guessed: lang was guessed.
	fits    []string
	guessed bool
}

// languageOf returns the language that the author chose for a body, or the one it is surely
// in. It is slow for long bodies, so it is called before the transaction.
func languageOf(body, chosen string) (postLanguage, error) {
	switch {
	case chosen == "":
		if lang := language.Detect(body); lang != "" {
			return postLanguage{lang: lang}, nil
		}
		return postLanguage{fits: language.Fits(body)}, nil
	}
	if err := rules.LanguageUnknown.OneOf(chosen); err != nil {
		return postLanguage{}, err
	}
	return postLanguage{lang: chosen, chosen: true}, nil
}

// guess returns the postLanguage with the language of its author's other posts, or of the posts
// in its groups, if the text can be in that language.
func (t postLanguage) guess(ctx context.Context, tx pgx.Tx, author int64, decisive []int64) (postLanguage, error) {
	if t.lang != "" || len(t.fits) == 0 {
		return t, nil
	}
	const query = `
		WITH usual AS (` + usualLanguages + `)
		SELECT coalesce(
			(SELECT lang FROM usual WHERE author = @author AND lang = ANY(@fits) ORDER BY posts DESC, lang LIMIT 1),
			(SELECT lang FROM usual WHERE place <> 0 AND lang = ANY(@fits) GROUP BY lang ORDER BY sum(posts) DESC, lang LIMIT 1),
			'')`
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"author": author, "authors": []int64{author}, "places": decisive, "fits": t.fits, "latest": latestPosts, "least": leastSure,
	}).Scan(&t.lang)
	if err != nil {
		return t, fmt.Errorf("guess language: %w", err)
	}
	t.guessed = t.lang != ""
	return t, nil
}

// usualLanguages yields the languages that the authors, and the groups among the places,
// write in, with how many of their latest posts are surely in each.
const usualLanguages = `
	SELECT w.author, w.place, l.lang, l.posts
	FROM (
		SELECT id AS author, 0::bigint AS place FROM unnest(@authors::bigint[]) id
		UNION ALL
		SELECT 0, t.id FROM timelines t WHERE t.id = ANY(@places) AND t.kind = 'group'
	) w
	CROSS JOIN LATERAL (
		SELECT latest.lang, count(*) AS posts, sum(count(*)) FILTER (WHERE latest.lang <> '') OVER () AS of_all
		FROM (
			(SELECT CASE WHEN p.lang_guessed OR p.deleted_at IS NOT NULL OR NOT ` + forMany + ` THEN '' ELSE p.lang END AS lang
			FROM posts p WHERE w.author <> 0 AND p.author_id = w.author ORDER BY p.id DESC LIMIT @latest)
			UNION ALL
			(SELECT CASE WHEN p.lang_guessed OR NOT ` + forMany + ` THEN '' ELSE p.lang END
			FROM (
				SELECT e.post_id FROM timeline_entries e
				WHERE w.place <> 0 AND e.timeline_id = w.place AND NOT e.withdrawn
				ORDER BY e.created_at DESC, e.post_id DESC LIMIT @latest) e
			JOIN posts p ON p.id = e.post_id)
		) latest
		GROUP BY latest.lang
	) l
	WHERE l.lang <> '' AND l.posts * 10 >= l.of_all * @least`

// forMany is true for a post p that not only the readers of private timelines may read.
const forMany = `(p.is_public OR EXISTS (SELECT FROM timelines d WHERE d.id = ANY(p.decisive) AND d.access < 2))`

// guessBlock is how many posts get their language in one transaction. The languages of an
// author are read once for all the author's posts in it.
const guessBlock = 2000

// GuessLanguages gives some posts that the import met, and that have no language, the one
// of their author or group, and reports whether more are left. It is for the end of an
// import, when all posts are known. If an import ends earlier, the next one meets the
// same posts again.
func (im *Import) GuessLanguages(ctx context.Context) (more bool, err error) {
	if len(im.guessing) == 0 {
		im.guessing = slices.SortedFunc(maps.Keys(im.unsure), func(x, y int64) int {
			return cmp.Or(cmp.Compare(im.unsure[x].author, im.unsure[y].author), cmp.Compare(x, y))
		})
	}
	ids := im.guessing[:min(len(im.guessing), guessBlock)]
	if len(ids) == 0 {
		return false, nil
	}
	// One row for each language that each post can be in.
	var posts []int64
	var fits []string
	for _, id := range ids {
		for _, lang := range strings.Fields(im.unsure[id].fits.Value()) {
			posts, fits = append(posts, id), append(fits, lang)
		}
	}
	_, err = inTxOn(ctx, im.conn, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, im.store.guessManyTx(ctx, tx, posts, fits)
	})
	if err != nil {
		return false, fmt.Errorf("import: %w", err)
	}
	for _, id := range ids {
		delete(im.unsure, id)
	}
	im.guessing = im.guessing[len(ids):]
	return len(im.unsure) > 0, nil
}

// guessManyTx guesses languages of posts. Beside each post stand the languages that it can
// be in. Posts that are in aggregates of all languages enter those of the guessed ones.
func (s *core) guessManyTx(ctx context.Context, tx pgx.Tx, posts []int64, fits []string) error {
	const where = `
		SELECT coalesce(array_agg(DISTINCT p.author_id), '{}'), coalesce(array_agg(DISTINCT d.id) FILTER (WHERE d.id IS NOT NULL), '{}')
		FROM posts p LEFT JOIN LATERAL unnest(p.decisive) d(id) ON true WHERE p.id = ANY(@posts)`
	var authors, places []int64
	if err := tx.QueryRow(ctx, where, pgx.StrictNamedArgs{"posts": posts}).Scan(&authors, &places); err != nil {
		return fmt.Errorf("guess languages: %w", err)
	}
	// The versions come first: they lock the posts, in the order of their ids.
	const guess = `
		WITH usual AS MATERIALIZED (` + usualLanguages + `
		), fit AS (
			SELECT * FROM unnest(@posts::bigint[], @fits::text[]) AS f(post_id, lang)
		), guessed AS MATERIALIZED (
			SELECT DISTINCT ON (p.id) p.id, u.lang
			FROM fit f
			JOIN posts p ON p.id = f.post_id
			JOIN usual u ON u.lang = f.lang AND (u.author = p.author_id OR u.place = ANY(p.decisive))
			ORDER BY p.id, u.author = p.author_id DESC, u.posts DESC, u.lang
		), locked AS MATERIALIZED (
			SELECT p.id FROM posts p JOIN guessed USING (id) ORDER BY p.id FOR NO KEY UPDATE OF p
		)
		UPDATE posts p SET version = version + 1, lang = g.lang, lang_guessed = true
		FROM locked JOIN guessed g USING (id)
		WHERE p.id = locked.id AND p.lang = '' AND p.deleted_at IS NULL
		RETURNING p.id`
	rows, err := tx.Query(ctx, guess, pgx.StrictNamedArgs{
		"authors": authors, "places": places, "posts": posts, "fits": fits, "latest": latestPosts, "least": leastSure,
	})
	changed, err := collectIDs(rows, err, "posts of guessed languages")
	if err != nil || len(changed) == 0 {
		return err
	}
	enter := `
		INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
		SELECT t.id, p.id, a.entered_at, greatest(a.entered_at, p.fresh_at), a.created_at
		FROM posts p
		JOIN timelines whole ON whole.kind IN ` + kinds.SQL(kinds.Spec.IsAggregate) + ` AND whole.their_id = 0 AND whole.term = ''
		JOIN timeline_entries a ON a.timeline_id = whole.id AND a.post_id = p.id AND NOT a.withdrawn
		JOIN timelines t ON t.kind = whole.kind AND t.their_id = 0 AND t.term = p.lang
		WHERE p.id = ANY(@posts)
		ORDER BY t.id, p.id
		ON CONFLICT (timeline_id, post_id) DO UPDATE SET withdrawn = false, fresh_at = greatest(e.entered_at, EXCLUDED.fresh_at)
		RETURNING post_id, timeline_id`
	touched := map[int64][]int64{}
	if rows, err = tx.Query(ctx, enter, pgx.StrictNamedArgs{"posts": changed}); err != nil {
		return fmt.Errorf("enter languages: %w", err)
	}
	var post, timeline int64
	_, err = pgx.ForEachRow(rows, []any{&post, &timeline}, func() error {
		touched[post] = append(touched[post], timeline)
		return nil
	})
	if err != nil {
		return fmt.Errorf("enter languages: %w", err)
	}
	var batch TouchedBatch
	for _, post := range changed {
		batch = append(batch, Touched{PostID: post, Timelines: union(touched[post], nil)})
	}
	return s.announceTx(ctx, tx, batch)
}

package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/rights"
)

// ErrBroad: the search would meet very many texts, or took too long. More words may help.
var ErrBroad = errors.New("search too broad")

// Limits bound one search. A word that many posts have is found by a walk through the newest posts
// (see walk). Otherwise a statement finds all texts by the index, sorts their posts and checks the
// newest of them. There a word in all of 100,000 posts and 10,000 comments costs a
// quarter of a second, whether the viewer may read all of them, half or none; a word in a
// hundred of them costs 3 ms (2 cores, all in memory: go test ./timelines -run - -bench
// BenchmarkSearch). Matching 20 posts with the queries of 100 open searches takes 20 ms.
// The index makes writing a post or comment 0.2 ms slower; likes cost nothing. Rejected:
// going through all posts from the newest on, which takes minutes for rare words.
type Limits struct {
	// Texts is how many texts a search may find, and Found how many of their posts, the
	// newest, it checks. It goes on below them when more are asked for, and when there is a
	// place it must reach.
	Texts, Found int64
	// Timeout is how long it may take.
	Timeout time.Duration
}

// DefaultLimits returns the limits in use.
func DefaultLimits() Limits { return Limits{Texts: 200_000, Found: 5000, Timeout: 3 * time.Second} }

// Search reads the newest posts below a place that the query finds and the viewer may
// read, as Scan does for timelines; it ignores the scan's timelines. It goes on in rounds
// until it has reached Down or has met MaxRows posts; without a place to reach it ends
// after the first round. Bans and hides are decided where posts are shown. ErrBroad ends
// the snapshot.
func (sn *Snapshot) Search(ctx context.Context, q Query, at Scan) (Scanned, error) {
	nothing := Scanned{Floor: math.MinInt64, Finished: true}
	asks, err := sn.asks(ctx, []ViewerQuery{{Viewer: at.Viewer, Query: q}})
	if err != nil || asks[0].nothing {
		return nothing, err
	}
	a := asks[0]
	found := `
		SELECT t.post_id FROM texts t
		WHERE t.lexemes @@ (websearch_to_tsquery('pg_catalog.russian', @words) && @marks::text::tsquery)
		LIMIT @texts::bigint + 1`
	args := pgx.StrictNamedArgs{
		"viewer": at.Viewer, "texts": sn.limits.Texts,
		"placed": a.Placed, "places": a.Places, "elsewhere": a.Elsewhere,
	}
	offers := ``
	if a.Listed {
		args["states"], args["lowest"], args["highest"], args["currency"] = a.States, a.Lowest, a.Highest, a.Currency
		offers = listedAs("l", "@states::text[]", "@lowest::bigint", "@highest::bigint", "@currency::text")
	}
	switch {
	case a.Textual:
		args["words"], args["marks"] = a.Words, a.Marks
	case a.Listed && a.Placed:
		found = `
			SELECT l.post_id FROM listings l JOIN timeline_entries e ON e.post_id = l.post_id
			WHERE e.timeline_id = ANY(@places) AND NOT e.withdrawn AND ` + offers + ` LIMIT @texts::bigint + 1`
	case a.Listed:
		found = `SELECT l.post_id FROM listings l WHERE ` + offers + ` LIMIT @texts::bigint + 1`
	default:
		found = `
			SELECT e.post_id FROM timeline_entries e
			WHERE e.timeline_id = ANY(@places) AND NOT e.withdrawn LIMIT @texts::bigint + 1`
	}
	allowed, fits := ``, ``
	if a.Listed && a.Textual {
		fits = ` AND EXISTS (SELECT FROM listings l WHERE l.post_id = p.id AND ` + offers + `)`
	}
	if a.Unlisted {
		args["not_states"], args["not_lowest"], args["not_highest"] = a.NotStates, a.NotLowest, a.NotHighest
		args["not_currencies"] = a.NotCurrencies
		fits += ` AND NOT EXISTS (SELECT FROM listings l WHERE l.post_id = p.id AND ` +
			barredListing("l", "@not_states::text[]", "@not_lowest::bigint[]", "@not_highest::bigint[]", "@not_currencies::text[]") + `)`
	}
	if a.BarredWords+a.BarredMarks != "" {
		args["barred_words"], args["barred_marks"] = a.BarredWords, a.BarredMarks
		allowed = ` AND NOT EXISTS (
			SELECT FROM texts t WHERE t.post_id = p.id AND t.comment_id = 0 AND t.lexemes @@
				(websearch_to_tsquery('pg_catalog.russian', @barred_words) || @barred_marks::text::tsquery))`
	}
	by := `p.fresh_at`
	if at.ByCreation {
		by = `(extract(epoch FROM p.created_at) * 1000000)::bigint`
	}
	query := `
		WITH found AS MATERIALIZED (` + found + `
		), met AS MATERIALIZED (
			SELECT DISTINCT ` + by + ` AS place, p.id
			FROM found f JOIN posts p ON p.id = f.post_id
			WHERE p.deleted_at IS NULL AND (` + by + `, p.id) < (@place::bigint, @post::bigint)
				AND (p.is_public OR @viewer::bigint <> 0 OR EXISTS (SELECT FROM unflagged_timelines))
				AND (NOT @placed::boolean OR p.decisive && @places::bigint[]) AND NOT p.decisive && @elsewhere::bigint[]` + fits + `
			ORDER BY place DESC, p.id DESC LIMIT @rows::bigint
		)
		SELECT m.id, m.place, (SELECT count(*) FROM found), ` + rights.ReadablePost + allowed + ` AS taken
		FROM met m JOIN posts p ON p.id = m.id
		ORDER BY m.place DESC, m.id DESC`
	if a.Textual && !a.Placed && !a.Listed && !at.ByCreation && at.Down == math.MaxInt64 {
		out, ok, err := sn.tryWalk(ctx, at, a, allowed+fits, args)
		if err != nil {
			return nothing, err
		}
		if ok {
			return out, sn.bound(ctx, 0)
		}
	}
	if err := sn.bound(ctx, sn.limits.Timeout); err != nil {
		return nothing, err
	}
	var out Scanned
	place, post := at.BeforePlace, at.BeforePost
	// Each round finds all texts again, so there are few rounds.
	for met, round := int64(0), sn.limits.Found; ; round *= 2 {
		args["place"], args["post"], args["rows"] = place, post, round
		rows, err := sn.searchOnce(ctx, query, args)
		if err != nil {
			return nothing, err
		}
		for _, r := range rows {
			if r.taken {
				out.Posts = append(out.Posts, r.Placed)
			}
		}
		if int64(len(rows)) < round {
			out.Floor, out.Finished = math.MinInt64, true
			break
		}
		met += round
		top := rows[0].Place
		if len(out.Posts) > 0 {
			top = out.Posts[0].Place
		}
		place, post = rows[round-1].Place, rows[round-1].PostID
		// The place where it ended may be incomplete: one instant may fill the round, or hold all
		// that was found.
		reached := at.Down == math.MaxInt64 || place < at.Down || met >= cmp.Or(at.MaxRows, DefaultMaxRows)
		if reached && place < top {
			out.Floor = place + 1
			break
		}
	}
	out.cut(at)
	return out, sn.bound(ctx, 0)
}

// The posts that a walk looks at: at first, and at most. A post with more texts than walkTexts is left
// to the index of words, unless one of the first of them matches.
const (
	walkFirst = 500
	walkMost  = 16 * walkFirst
	walkTexts = 500
)

// walkTime bounds each statement of a walk.
const walkTime = 300 * time.Millisecond

// tryWalk is walk, but one that takes long ends as if it had not found enough: the index of words may have
// the answer at once.
func (sn *Snapshot) tryWalk(ctx context.Context, at Scan, a ask, allowed string, shared pgx.StrictNamedArgs) (out Scanned, ok bool, err error) {
	err = pgx.BeginFunc(ctx, sn.tx, func(tx pgx.Tx) (err error) { // a savepoint
		within := &Snapshot{tx: tx, limits: sn.limits}
		if err := within.bound(ctx, walkTime); err != nil {
			return err
		}
		out, ok, err = within.walk(ctx, at, a, allowed, shared)
		return err
	})
	if errors.Is(err, ErrBroad) {
		return Scanned{}, false, nil
	}
	return out, ok, err
}

// walk reads what Search does by looking at all posts from a place on, the newest first, whether they
// match. So a word that very many posts have costs as much as the few that are wanted, however many
// posts are stored. ok is false if the posts that it looks at do not have as many that match as are
// wanted, which the first of them nearly always tell: then the index of words finds them all.
func (sn *Snapshot) walk(ctx context.Context, at Scan, a ask, allowed string, shared pgx.StrictNamedArgs) (out Scanned, ok bool, err error) {
	query := `
		WITH walked AS MATERIALIZED (
			SELECT p.id, p.fresh_at, p.is_public, p.decisive FROM posts p
			WHERE p.deleted_at IS NULL AND (p.fresh_at, p.id) < (@place::bigint, @post::bigint)
			ORDER BY p.fresh_at DESC, p.id DESC LIMIT (SELECT @rows::bigint)
		)
		SELECT p.id, p.fresh_at, NOT f.matches AND f.texts > @walk_texts::bigint AS unknown,
			f.matches AND NOT p.decisive && @elsewhere::bigint[] AND ` + rights.ReadablePost + allowed + ` AS taken
		FROM walked p
		CROSS JOIN LATERAL (
			SELECT count(*) AS texts, coalesce(bool_or(t.lexemes @@
				(websearch_to_tsquery('pg_catalog.russian', @words) && @marks::text::tsquery)), false) AS matches
			FROM (SELECT t.lexemes FROM texts t WHERE t.post_id = p.id LIMIT @walk_texts::bigint + 1) t) f
		ORDER BY p.fresh_at DESC, p.id DESC`
	args := pgx.StrictNamedArgs{
		"viewer": at.Viewer, "elsewhere": a.Elsewhere, "words": a.Words, "marks": a.Marks, "walk_texts": walkTexts,
	}
	for _, name := range []string{"barred_words", "barred_marks", "not_states", "not_lowest", "not_highest", "not_currencies"} {
		if v, given := shared[name]; given {
			args[name] = v
		}
	}
	place, post := at.BeforePlace, at.BeforePost
	walked := 0
	for round := walkFirst; walked < walkMost; round *= 2 {
		round = min(round, walkMost-walked)
		args["place"], args["post"], args["rows"] = place, post, round
		rows, err := sn.tx.Query(ctx, query, pgx.QueryExecModeCacheDescribe, args)
		if err != nil {
			return Scanned{}, false, broad(err)
		}
		var p Placed
		var n int
		var unknown, unsure, taken bool
		_, err = pgx.ForEachRow(rows, []any{&p.PostID, &p.Place, &unknown, &taken}, func() error {
			n++
			place, post = p.Place, p.PostID
			unsure = unsure || unknown
			if taken {
				out.Posts = append(out.Posts, p)
			}
			return nil
		})
		if err != nil {
			return Scanned{}, false, broad(err)
		}
		// That place may be incomplete.
		enough := len(out.Posts) > at.Limit && out.Posts[at.Limit-1].Place > place
		walked += n
		switch {
		case unsure, n < round && !enough, !enough && len(out.Posts)*walkMost < at.Limit*walked:
			return Scanned{}, false, nil
		case enough:
			out.Floor = place + 1
			out.cut(at)
			return out, true, nil
		}
	}
	return Scanned{}, false, nil
}

// listedAs is true for a listing in one of the states, if any are given, and at a price within the
// bounds, where NULL is no bound, in the currency, where ” is any.
func listedAs(l, states, lowest, highest, currency string) string {
	return `(cardinality(` + states + `) = 0 OR ` + l + `.state = ANY(` + states + `))
		AND (` + currency + ` = '' OR ` + l + `.currency = ` + currency + `)
		AND (` + lowest + ` IS NULL OR ` + l + `.price >= ` + lowest + `) AND (` + highest + ` IS NULL OR ` + l + `.price <= ` + highest + `)`
}

// barredListing is true for a listing in one of the states, or at a price within one of the pairs of
// bounds in its currency.
func barredListing(l, states, lowest, highest, currencies string) string {
	return `(` + l + `.state = ANY(` + states + `) OR EXISTS (
		SELECT FROM unnest(` + lowest + `, ` + highest + `, ` + currencies + `) AS b (lowest, highest, currency)
		WHERE ` + l + `.currency = b.currency AND (b.lowest IS NULL OR ` + l + `.price >= b.lowest) AND (b.highest IS NULL OR ` + l + `.price <= b.highest) AND ` + l + `.price IS NOT NULL))`
}

// TooCommon reports whether a query asks only for words as common as "the". The index
// leaves them out, so the query finds nothing.
func (q Query) TooCommon(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	words := ""
	for _, t := range q.terms {
		switch {
		case t.not || t.kind >= termIn:
		case t.kind != termText:
			return false, nil
		default:
			words += `"` + wordsApart(t.text) + `" `
		}
	}
	if words == "" {
		return false, nil
	}
	var common bool
	const query = `SELECT numnode(websearch_to_tsquery('pg_catalog.russian', @words)) = 0`
	if err := pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"words": words}).Scan(&common); err != nil {
		return false, fmt.Errorf("look at words: %w", err)
	}
	return common, nil
}

// candidate is a post that a search met.
type candidate struct {
	Placed
	taken bool // the viewer may read it, and it has nothing that is barred
}

// searchOnce runs a search's statement.
func (sn *Snapshot) searchOnce(ctx context.Context, query string, args pgx.StrictNamedArgs) ([]candidate, error) {
	// The statement is planned anew each time (see bound): the best plan depends on how rare
	// the words are.
	rows, err := sn.tx.Query(ctx, query, pgx.QueryExecModeCacheDescribe, args)
	if err != nil {
		return nil, broad(err)
	}
	var texts int64
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c candidate, err error) {
		return c, row.Scan(&c.PostID, &c.Place, &texts, &c.taken)
	})
	if err != nil {
		return nil, broad(err)
	}
	if texts > sn.limits.Texts {
		return nil, fmt.Errorf("search: over %d texts: %w", sn.limits.Texts, ErrBroad)
	}
	return all, nil
}

// bound bounds the time of the next statements in this snapshot and has them planned for
// their arguments; 0 ends both. It also lets all later statements of the snapshot sort in
// memory.
func (sn *Snapshot) bound(ctx context.Context, d time.Duration) error {
	timeout, plans := strconv.FormatInt(d.Milliseconds(), 10), "force_custom_plan"
	if d == 0 {
		timeout, plans = "DEFAULT", "DEFAULT"
	}
	set := `SET LOCAL work_mem = '32MB'; SET LOCAL statement_timeout = ` + timeout + `; SET LOCAL plan_cache_mode = ` + plans
	if _, err := sn.tx.Exec(ctx, set, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("bound search: %w", err)
	}
	return nil
}

// broad turns the error of a statement that took too long into ErrBroad.
func broad(err error) error {
	var said *pgconn.PgError
	const cancelled = "57014"
	if errors.As(err, &said) && said.Code == cancelled {
		return fmt.Errorf("search: %w: %w", ErrBroad, err)
	}
	return fmt.Errorf("search: %w", err)
}

// Match says by which texts and places a query finds a post.
type Match struct {
	// Authors wrote the texts that match: the post's author, if its own text does, otherwise
	// those of comments, in order of id. A viewer who sees none of them must not find the
	// post: finding it would tell what they wrote.
	Authors []int64
	// Places are the places that the query asks for and that hold the post. A viewer who may
	// open none of them must not find the post either.
	Places []int64
}

// maxAuthors is how many authors of comments a Match names.
const maxAuthors = 1000

// Matches checks some posts against several queries at once, and returns the matches of
// each query. It asks the same as Search, except that it does not check the right to read.
func (sn *Snapshot) Matches(ctx context.Context, asked []ViewerQuery, posts []int64) ([]map[int64]Match, error) {
	found := make([]map[int64]Match, len(asked))
	for i := range found {
		found[i] = map[int64]Match{}
	}
	asks, err := sn.asks(ctx, asked)
	if err != nil {
		return nil, err
	}
	asks = slices.DeleteFunc(asks, func(a ask) bool { return a.nothing })
	if len(asks) == 0 || len(posts) == 0 {
		return found, nil
	}
	doc, err := json.Marshal(asks)
	if err != nil {
		return nil, fmt.Errorf("encode searches: %w", err)
	}
	query := `
		WITH asks AS MATERIALIZED (
			SELECT a.i, a.textual, a.placed, a.places, a.elsewhere,
				websearch_to_tsquery('pg_catalog.russian', a.words) && a.marks::tsquery AS asked,
				websearch_to_tsquery('pg_catalog.russian', a.barred_words) || a.barred_marks::tsquery AS barred,
				a.listed, a.states, a.lowest, a.highest, a.currency,
				a.unlisted, a.not_states, a.not_lowest, a.not_highest, a.not_currencies
			FROM jsonb_to_recordset(@asks::jsonb) AS a(i integer, textual boolean, placed boolean,
				places bigint[], elsewhere bigint[], words text, marks text, barred_words text, barred_marks text,
				listed boolean, states text[], lowest bigint, highest bigint, currency text,
				unlisted boolean, not_states text[], not_lowest bigint[], not_highest bigint[], not_currencies text[])
		)
		SELECT a.i, p.id, f.authors, ARRAY(
			SELECT d FROM unnest(p.decisive) d WHERE d = ANY(a.places) ORDER BY d)
		FROM asks a CROSS JOIN posts p
		CROSS JOIN LATERAL (
			SELECT CASE WHEN NOT a.textual OR EXISTS (
				SELECT FROM texts t WHERE t.post_id = p.id AND t.comment_id = 0 AND t.lexemes @@ a.asked)
			THEN ARRAY[p.author_id]
			ELSE ARRAY(
				SELECT DISTINCT t.author_id FROM texts t
				WHERE t.post_id = p.id AND t.comment_id <> 0 AND t.lexemes @@ a.asked ORDER BY 1 LIMIT @authors)
			END AS authors) f
		WHERE p.id = ANY(@posts) AND p.deleted_at IS NULL AND cardinality(f.authors) > 0
			AND (NOT a.placed OR p.decisive && a.places) AND NOT p.decisive && a.elsewhere
			AND (NOT a.listed OR EXISTS (SELECT FROM listings l WHERE l.post_id = p.id AND ` +
		listedAs("l", "a.states", "a.lowest", "a.highest", "a.currency") + `))
			AND (NOT a.unlisted OR NOT EXISTS (SELECT FROM listings l WHERE l.post_id = p.id AND ` +
		barredListing("l", "a.not_states", "a.not_lowest", "a.not_highest", "a.not_currencies") + `))
			AND NOT EXISTS (
				SELECT FROM texts t WHERE t.post_id = p.id AND t.comment_id = 0 AND t.lexemes @@ a.barred)`
	rows, err := sn.tx.Query(ctx, query, pgx.StrictNamedArgs{"asks": string(doc), "posts": posts, "authors": maxAuthors})
	if err != nil {
		return nil, fmt.Errorf("match posts: %w", err)
	}
	var i int
	var post int64
	var m Match
	_, err = pgx.ForEachRow(rows, []any{&i, &post, &m.Authors, &m.Places}, func() error {
		found[i][post] = Match{Authors: slices.Clone(m.Authors), Places: slices.Clone(m.Places)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("match posts: %w", err)
	}
	return found, nil
}

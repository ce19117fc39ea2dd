package timelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/kinds"
	"riverrun/timelines/language"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rules"
)

// Items writes the posts that items of sources become (package sources): many posts of one
// author in a few statements.
type Items struct{ *core }

// SourceReady says that a source has a load that waits to be worked.
type SourceReady struct{ SourceID int64 }

func (SourceReady) event() {}

// Ready announces SourceReady in the transaction that makes the load.
func (s Items) Ready(ctx context.Context, tx pgx.Tx, source int64) error {
	return s.announceTx(ctx, tx, SourceReady{SourceID: source})
}

// SourceDue says that a source is to be fetched now, for it was added, or somebody asked for it. For
// a Preview it is fetched to show what it would change.
type SourceDue struct {
	SourceID int64
	Preview  bool
}

func (SourceDue) event() {}

// Due announces SourceDue in the transaction of the request.
func (s Items) Due(ctx context.Context, tx pgx.Tx, source int64, preview bool) error {
	return s.announceTx(ctx, tx, SourceDue{SourceID: source, Preview: preview})
}

// Alerted ends the transaction that changed alerts of the sources of these accounts: nodes read the alerts anew.
func (s Items) Alerted(ctx context.Context, tx pgx.Tx, owners []int64) (Change, error) {
	rows := make([]Invalidation, len(owners))
	for i, owner := range owners {
		rows[i] = Invalidation{Kind: InvalidCounts, AccountID: owner}
	}
	clock, err := tickTx(ctx, tx, rows...)
	return Change{Clock: clock}, err
}

// ItemPlace is where the posts of a source go.
type ItemPlace struct {
	// Author is the person who added the source.
	Author int64
	// To is a destination as in NewPost.To: the author's own name, one of their sub-feeds, or a
	// group.
	To string
	// Also are groups that some of the posts go to instead.
	Also []string
	// Via is the name of the source, and ViaURL its site.
	Via, ViaURL string
	// Beside has connections for what can be computed beside the transaction; nil: nothing is.
	Beside *pgxpool.Pool
}

// ItemPost is a post as its source has it now.
type ItemPost struct {
	ID   int64 // 0 for a new one
	Body string
	// Markup says that the body has markup; else it is plain. Its mentions and tags count in both: in
	// a text of others they are escaped (markup.Escape).
	Markup bool
	// To is the group of ItemPlace.Also that a new post goes to instead; empty: none, or one that
	// is Refused.
	To string
	// Place is where it was made, or what it tells of, as it is shown.
	Place string
	// Language is one of language.Known, as the source says, or empty: Words show it.
	Language string
	// Words are the text of the source without what stands around it in the body; empty: the body is.
	Words string
	// CreatedAt is the date of a new post.
	CreatedAt time.Time
	// Lifts: a new post comes to the top of its pages. Otherwise it takes the place that its date
	// gives it, and lifts nothing.
	Lifts bool
}

// ItemsTx writes posts of one source in a transaction of its caller's. It is for one goroutine.
//
// People who are named in a text get no notification: the text comes from elsewhere. Pages that a
// text links to are not read either; thousands of items would ask one site thousands of times.
type ItemsTx struct {
	core  *core
	tx    pgx.Tx
	place ItemPlace
	where address
	also  map[string]address // by group, those that may be written to
	// touched are the posts that are new, or of another version, with the timelines to tell.
	touched map[int64][]int64
	// rewritten are the posts that pages may show in a form that is no longer right.
	rewritten []int64
	events    []Event
	counts    publishing.Counts
	// alerted are those whose alerts the posts were among that it deleted.
	alerted []int64
}

// Begin finds and locks the destinations, and checks that the author may write there. The errors
// are those of Posts.Create, and are about To: of the others some may be Refused. A group that approves the author's posts
// first is "to_forbidden": nobody would look through thousands of items. A source sends no
// messages: a person is "to_forbidden", and so is everything for an author who is suspended.
func (s Items) Begin(ctx context.Context, tx pgx.Tx, place ItemPlace) (*ItemsTx, error) {
	to, err := newDestinations([]string{place.To})
	if err != nil {
		return nil, err
	}
	var silenced, isStranger bool
	err = tx.QueryRow(ctx, `SELECT `+silencedAccount+`, `+stranger, pgx.StrictNamedArgs{"account": place.Author, "author": place.Author}).
		Scan(&silenced, &isStranger)
	if err != nil {
		return nil, fmt.Errorf("look for a suspension: %w", err)
	}
	if silenced {
		return nil, rules.ToForbidden.Broken(place.To)
	}
	also := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(place.Also))), func(name string) bool { return !nameForm.MatchString(name) || name == to[0] })
	where, found, err := writableTx(ctx, tx, place.Author, slices.Concat(to, also))
	for err != nil {
		// Each time one goes that cannot be written to, until that is To, or an error of the store.
		refused, ok := errors.AsType[*InvalidError](err)
		if !ok || !slices.Contains(also, refused.Value) {
			return nil, err
		}
		also = slices.DeleteFunc(also, func(name string) bool { return name == refused.Value })
		where, found, err = writableTx(ctx, tx, place.Author, slices.Concat(to, also))
	}
	x := &ItemsTx{core: s.core, tx: tx, place: place, also: map[string]address{}, touched: map[int64][]int64{}}
	for _, d := range found {
		alone := address{
			decisive: []int64{d.TimelineID}, own: where.own,
			// The sources of strangers do not fill the page of everything.
			everything: kinds.Of(d.Kind).Levelled && !(isStranger && s.opts.FirstDay > 0),
		}
		switch {
		case d.Name == to[0] && d.Kind == kinds.Directs:
			return nil, rules.ToForbidden.Broken(place.To)
		case d.Name == to[0]:
			x.where = alone
		case d.Kind == kinds.Group:
			x.also[d.Name] = alone
		}
	}
	return x, nil
}

// writableTx finds destinations, locks their levels, and checks that the author may write to all.
func writableTx(ctx context.Context, tx pgx.Tx, author int64, to []string) (address, []destination, error) {
	where, found, err := addressTx(ctx, tx, author, to)
	if err != nil {
		return address{}, nil, err
	}
	if err := checkWritableTx(ctx, tx, author, found); err != nil {
		return where, found, err
	}
	approving, err := approvingTx(ctx, tx, author, found)
	if err == nil && len(approving) > 0 {
		err = rules.ToForbidden.Broken(approving[0].Name)
	}
	return where, found, err
}

// Refused reports whether the author may not write to one of ItemPlace.Also.
func (x *ItemsTx) Refused(group string) bool {
	_, is := x.also[group]
	return !is
}

// Resume is Begin for posts that are only deleted, wherever they stand.
func (s Items) Resume(tx pgx.Tx, author int64) *ItemsTx {
	return &ItemsTx{core: s.core, tx: tx, place: ItemPlace{Author: author}, touched: map[int64][]int64{}}
}

// End announces what was written. The caller gives the Change to the tiers after its commit.
func (x *ItemsTx) End(ctx context.Context) (Change, error) {
	c := Change{Actor: x.place.Author}
	var batch TouchedBatch
	for post, of := range x.touched {
		batch = append(batch, Touched{PostID: post, Timelines: union(of, nil)})
	}
	slices.SortFunc(batch, func(a, b Touched) int { return int(a.PostID - b.PostID) })
	for _, t := range batch {
		if slices.Contains(x.rewritten, t.PostID) {
			c.Rewritten = append(c.Rewritten, t)
		}
	}
	if err := x.counts.ApplyTx(ctx, x.tx); err != nil {
		return Change{}, err
	}
	events := x.events
	if len(batch) > 0 {
		events = append(events, batch)
	}
	return c, x.core.announceTx(ctx, x.tx, events...)
}

// Create makes posts and returns their ids, in the same order.
func (x *ItemsTx) Create(ctx context.Context, posts []ItemPost) ([]int64, error) {
	if len(posts) == 0 {
		return nil, nil
	}
	b, err := x.batch(ctx)
	if err != nil {
		return nil, err
	}
	// The levels are locked, and nobody has seen the new posts.
	var now int64
	if err := x.tx.QueryRow(ctx, `SELECT `+clockMicros).Scan(&now); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	if len(posts) >= lexedApart && x.place.Beside != nil {
		bodies := make([]string, len(posts))
		for i, p := range posts {
			bodies[i] = p.Body
		}
		b.lexing = lex(ctx, x.place.Beside, x.place.Author, bodies)
		defer b.lexing.end()
	}
	langs := languagesOf(posts)
	for i, p := range posts {
		where, instead := x.also[p.To]
		if !instead {
			where = x.where
		}
		post := &importPost{
			Imported: Imported{Body: p.Body, CreatedAt: p.CreatedAt, Via: x.place.Via, ViaURL: x.place.ViaURL},
			new:      true, markup: p.Markup, open: where.everything, decisive: where.decisive, entries: map[int64]int64{},
			lang: langs[i], place: p.Place,
		}
		if p.Lifts {
			post.liftedAt = now + int64(i)
		}
		b.posts = append(b.posts, post)
	}
	made := slices.Clone(b.posts)
	for _, step := range []func(context.Context) error{b.findMarks, b.replay, b.makePosts, b.writeEntries, b.writeTexts, b.markTexts} {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("posts of a source: %w", err)
		}
	}
	ids := make([]int64, len(made))
	for i, p := range made {
		ids[i] = p.ID
		x.touched[p.ID] = p.touched
	}
	x.events = append(x.events, b.events...)
	x.counts.Publish(x.place.Author, true, int64(len(made)))
	return ids, nil
}

// batch returns a batch of no posts that knows the author's timelines.
func (x *ItemsTx) batch(ctx context.Context) (*batch, error) {
	b := newBatch(x.core, "", x.tx)
	b.accounts[""] = &importAccount{ID: x.place.Author, ImportedAccount: ImportedAccount{Kind: User}}
	if err := b.findTimelines(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// languageRunes is how much of an item's text is read to tell its language. All of it, of very many
// items, would take more time than to store them.
const languageRunes = 200

// languagesOf tells the languages of posts, several at a time: it takes as much of a processor as to
// store them.
func languagesOf(posts []ItemPost) []string {
	langs := make([]string, len(posts))
	var group sync.WaitGroup
	share := (len(posts) + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0)
	for from := 0; from < len(posts); from += share {
		group.Go(func() {
			for i := from; i < min(from+share, len(posts)); i++ {
				langs[i] = languageOfItem(posts[i])
			}
		})
	}
	group.Wait()
	return langs
}

func languageOfItem(p ItemPost) string {
	if language.IsKnown(p.Language) {
		return p.Language
	}
	text := cmp.Or(p.Words, p.Body)
	runes := 0
	for i := range text {
		if runes++; runes > languageRunes {
			text = text[:i]
			break
		}
	}
	return language.Detect(text)
}

// lockPosts locks those of these posts that the author has not deleted here, in the order of their
// ids, and with untouched only those that are not edited here either. So facts that later statements
// find out about them stay true. The posts keep their versions: raise gives another one to those
// that change.
func (x *ItemsTx) lockPosts(ctx context.Context, ids []int64, untouched bool) ([]int64, error) {
	const query = `
		SELECT id FROM posts WHERE id = ANY(@ids) AND author_id = @author AND deleted_at IS NULL
			AND (NOT @untouched OR edited_at IS NULL)
		ORDER BY id FOR NO KEY UPDATE`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"ids": ids, "author": x.place.Author, "untouched": untouched})
	return collectIDs(rows, err, "posts of a source")
}

// open locks those of these posts that nobody has edited or deleted here, in the order of their ids,
// and returns them without those that are barred.
func (x *ItemsTx) open(ctx context.Context, ids []int64) ([]int64, map[int64]string, error) {
	locked, err := x.lockPosts(ctx, ids, true)
	if err != nil || len(locked) == 0 {
		return nil, nil, err
	}
	// This is a statement of its own, so that it sees what the locks waited for.
	barred, err := barredTx(ctx, x.tx, x.place.Author, locked)
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(locked, func(id int64) bool { return barred[id] != "" }), barred, nil
}

// raise gives locked posts that change another version each, unless they are new or have got one
// here, and touches them: rivers that hold a post of a former version must follow.
func (x *ItemsTx) raise(ctx context.Context, posts []int64) error {
	var behind []int64
	for _, id := range posts {
		if _, raised := x.touched[id]; !raised {
			behind = append(behind, id)
		}
		x.touch(id)
	}
	if len(behind) == 0 {
		return nil
	}
	_, err := x.tx.Exec(ctx, `UPDATE posts SET version = version + 1 WHERE id = ANY(@ids)`, pgx.StrictNamedArgs{"ids": behind})
	if err != nil {
		return fmt.Errorf("versions of posts of a source: %w", err)
	}
	return nil
}

// Edit gives posts the texts that their items have now, and returns the ids of those that have
// other texts after it. It leaves alone what was deleted or edited here, and posts that are barred, as
// they stand where their author may not post any more: these it returns with the name of a place that
// forbids it.
func (x *ItemsTx) Edit(ctx context.Context, posts []ItemPost) (edited []int64, barred map[int64]string, err error) {
	if len(posts) == 0 {
		return nil, nil, nil
	}
	byID := map[int64]ItemPost{}
	var ids []int64
	for _, p := range posts {
		byID[p.ID] = p
		ids = append(ids, p.ID)
	}
	open, barred, err := x.open(ctx, ids)
	if err != nil || len(open) == 0 {
		return nil, barred, err
	}
	edited, err = x.edit(ctx, open, byID)
	return edited, barred, err
}

// edit is Edit for locked posts that may be changed.
func (x *ItemsTx) edit(ctx context.Context, locked []int64, byID map[int64]ItemPost) ([]int64, error) {
	var present []ItemPost
	var bodies, places []string
	var markups []bool
	for _, id := range locked {
		p := byID[id]
		present, bodies, markups, places = append(present, p), append(bodies, p.Body), append(markups, p.Markup), append(places, p.Place)
	}
	langs := languagesOf(present)
	// This is a statement of its own, so that it sees what the locks waited for. Each post that it changes
	// is touched below.
	const edit = `
		UPDATE posts p SET version = version + 1, body = n.body, lang = n.lang, lang_guessed = false, markup = n.markup, place = n.place
		FROM unnest(@ids::bigint[], @bodies::text[], @langs::text[], @markups::boolean[], @places::text[]) AS n (id, body, lang, markup, place)
		WHERE p.id = n.id AND p.edited_at IS NULL AND NOT p.lang_chosen
			AND (p.body, p.lang, p.markup, p.place) <> (n.body, n.lang, n.markup, n.place)
		RETURNING p.id`
	rows, err := x.tx.Query(ctx, edit, pgx.StrictNamedArgs{"ids": locked, "bodies": bodies, "langs": langs, "markups": markups, "places": places})
	edited, err := collectIDs(rows, err, "edited posts")
	if err != nil || len(edited) == 0 {
		return nil, err
	}
	slices.Sort(edited)
	b, err := x.batch(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range edited {
		b.posts = append(b.posts, &importPost{ID: id, Imported: Imported{Body: byID[id].Body}, new: true, markup: byID[id].Markup})
		x.touch(id)
	}
	if err := b.findMarks(ctx); err != nil {
		return nil, err
	}
	x.events = append(x.events, b.events...)
	x.rewritten = append(x.rewritten, edited...)
	for _, step := range []func(context.Context, []int64, *batch) error{x.remark, x.changeAggregates, x.touchTold} {
		if err := step(ctx, edited, b); err != nil {
			return nil, err
		}
	}
	return edited, nil
}

func (x *ItemsTx) touch(post int64, timelines ...int64) {
	x.touched[post] = append(x.touched[post], timelines...)
}

// touchRows touches what the rows (post, timeline) say.
func (x *ItemsTx) touchRows(rows pgx.Rows, err error, what string) error {
	if err == nil {
		var post, timeline int64
		_, err = pgx.ForEachRow(rows, []any{&post, &timeline}, func() error {
			x.touch(post, timeline)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("%s of posts of a source: %w", what, err)
	}
	return nil
}

// remark brings posts into the timelines of tags and @names that are new in their texts, where
// they stand as fresh as they are, and takes them out of those that no text of theirs names any more.
func (x *ItemsTx) remark(ctx context.Context, edited []int64, b *batch) error {
	var posts, timelines []int64
	for _, p := range b.posts {
		for _, id := range b.named(p.marks) {
			posts, timelines = append(posts, p.ID), append(timelines, id)
		}
	}
	const query = `
		WITH named AS MATERIALIZED (
			SELECT DISTINCT * FROM unnest(@posts::bigint[], @timelines::bigint[]) AS n (post_id, timeline_id)
		), unnamed AS (
			DELETE FROM text_marks m WHERE m.post_id = ANY(@edited) AND m.comment_id = 0
				AND NOT EXISTS (SELECT FROM named n WHERE n.post_id = m.post_id AND n.timeline_id = m.timeline_id)
			RETURNING m.post_id, m.timeline_id
		), marked AS (
			INSERT INTO text_marks (post_id, comment_id, timeline_id) SELECT post_id, 0, timeline_id FROM named
			ON CONFLICT DO NOTHING
			RETURNING post_id, timeline_id
		), entered AS (
			INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT m.timeline_id, p.id, p.fresh_at, p.fresh_at, (extract(epoch FROM p.created_at) * 1000000)::bigint
			FROM marked m JOIN posts p ON p.id = m.post_id
			ORDER BY 1, 2
			ON CONFLICT (timeline_id, post_id) DO UPDATE
			SET withdrawn = false, fresh_at = greatest(e.entered_at, EXCLUDED.fresh_at)
			RETURNING post_id, timeline_id
		), departed AS (
			UPDATE timeline_entries e SET withdrawn = true
			FROM unnamed u
			WHERE e.timeline_id = u.timeline_id AND e.post_id = u.post_id AND NOT e.withdrawn
				AND NOT EXISTS (SELECT FROM text_marks m WHERE m.post_id = u.post_id AND m.timeline_id = u.timeline_id AND m.comment_id <> 0)
			RETURNING e.post_id, e.timeline_id
		)
		SELECT * FROM entered UNION ALL SELECT * FROM departed`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"edited": edited, "posts": posts, "timelines": timelines})
	return x.touchRows(rows, err, "tags and names")
}

// changeAggregates moves posts from the aggregates of their former languages to those of their
// present ones, to the place that they have among the posts of all languages.
func (x *ItemsTx) changeAggregates(ctx context.Context, edited []int64, _ *batch) error {
	query := `
		WITH standing AS MATERIALIZED (
			SELECT e.post_id, e.entered_at, e.fresh_at, e.created_at, t.kind, p.lang
			FROM posts p
			JOIN timelines t ON t.kind IN ` + kinds.SQL(kinds.Spec.IsAggregate) + ` AND t.their_id = 0 AND t.term = ''
			JOIN timeline_entries e ON e.timeline_id = t.id AND e.post_id = p.id AND NOT e.withdrawn
			WHERE p.id = ANY(@posts)
		), entered AS (
			INSERT INTO timeline_entries AS e (timeline_id, post_id, entered_at, fresh_at, created_at)
			SELECT t.id, s.post_id, s.entered_at, s.fresh_at, s.created_at
			FROM standing s JOIN timelines t ON t.kind = s.kind AND t.their_id = 0 AND t.term = s.lang AND t.term <> ''
			ORDER BY 1, 2
			ON CONFLICT (timeline_id, post_id) DO UPDATE
			SET withdrawn = false, fresh_at = greatest(e.entered_at, EXCLUDED.fresh_at) WHERE e.withdrawn
			RETURNING post_id, timeline_id
		), departed AS (
			UPDATE timeline_entries e SET withdrawn = true
			FROM standing s JOIN timelines t ON t.kind = s.kind AND t.their_id = 0 AND t.term NOT IN ('', s.lang)
			WHERE e.timeline_id = t.id AND e.post_id = s.post_id AND NOT e.withdrawn
			RETURNING e.post_id, e.timeline_id
		)
		SELECT * FROM entered UNION ALL SELECT * FROM departed`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": edited})
	return x.touchRows(rows, err, "languages")
}

// touchTold touches the notifications that posts stand in: the terms that a person hides decide
// by the text whether an unread entry counts.
func (x *ItemsTx) touchTold(ctx context.Context, edited []int64, _ *batch) error {
	const query = `
		SELECT DISTINCT n.post_id, t.id
		FROM notifications n JOIN timelines t ON t.kind = 'notifications' AND t.their_id = n.account_id AND t.term = ''
		WHERE n.post_id = ANY(@posts)`
	rows, err := x.tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": edited})
	return x.touchRows(rows, err, "notifications")
}

// Delete deletes posts of the author, as Posts.Delete does, and returns the ids of those that it
// deleted. With discussed false it leaves those that somebody has liked, commented on, saved or edited.
func (x *ItemsTx) Delete(ctx context.Context, ids []int64, discussed bool) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	locked, err := x.lockPosts(ctx, ids, false)
	if err != nil {
		return nil, err
	}
	if !discussed {
		const quiet = `
			SELECT id FROM unnest(@posts::bigint[]) AS n (id) JOIN posts p USING (id)
			WHERE p.edited_at IS NULL AND NOT EXISTS (SELECT FROM comments c WHERE c.post_id = p.id AND c.deleted_at IS NULL)
				AND NOT EXISTS (SELECT FROM likes l WHERE l.post_id = p.id)
				AND NOT EXISTS (SELECT FROM faves f WHERE f.post_id = p.id)`
		rows, err := x.tx.Query(ctx, quiet, pgx.StrictNamedArgs{"posts": locked})
		if locked, err = collectIDs(rows, err, "posts that nobody discusses"); err != nil {
			return nil, err
		}
	}
	if len(locked) == 0 {
		return nil, nil
	}
	return locked, x.empty(ctx, locked)
}

// empty deletes locked posts, whoever wrote them.
func (x *ItemsTx) empty(ctx context.Context, locked []int64) error {
	if err := x.raise(ctx, locked); err != nil {
		return err
	}
	alerted, err := alertedTx(ctx, x.tx, locked)
	if err != nil {
		return err
	}
	x.alerted = append(x.alerted, alerted...)
	left, err := emptyPostsTx(ctx, x.tx, locked, &x.counts)
	if err != nil {
		return err
	}
	for _, id := range locked {
		x.touch(id, left[id]...)
	}
	x.rewritten = append(x.rewritten, locked...)
	return nil
}

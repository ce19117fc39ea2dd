package timelines

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/language"
)

// activity is a comment or a like. The bump rule is replayed over them in the order of time.
type activity struct {
	at      time.Time
	account *importAccount
	comment bool
	// named are the timelines that its text names.
	named []int64
	// known says that it is stored already.
	known bool
}

// findPosts finds the posts that were imported before.
func (b *batch) findPosts(ctx context.Context) error {
	var keys []string
	for _, p := range b.posts {
		keys = append(keys, p.ExternalID)
	}
	known, err := b.recall(ctx, originPost, keys)
	if err != nil {
		return err
	}
	for key, id := range known {
		b.byKey[key].ID = id
		b.met = append(b.met, meeting{kind: originPost, id: id})
	}
	for _, p := range b.posts {
		if p.new = p.ID == 0; p.new {
			if p.lang = language.Detect(p.Body); p.lang == "" {
				p.fits = language.Fits(p.Body)
			}
		}
	}
	return nil
}

// lockLevels locks the levels of all destinations of the batch's posts, and the levels that
// change, with one statement in the order of their ids.
func (b *batch) lockLevels(ctx context.Context) error {
	var places []int64
	for _, p := range b.posts {
		places = append(places, b.destinationsOf(p)...)
	}
	if len(b.goingPrivate) == 0 {
		_, err := lockLevelsTx(ctx, b.tx, union(places, nil))
		return err
	}
	// It does not lock FOR SHARE first. Two transactions that did, and then both wanted the
	// stronger lock, would wait for each other.
	_, err := b.tx.Exec(ctx, `SELECT FROM timelines WHERE id = ANY(@timelines) ORDER BY id FOR NO KEY UPDATE`,
		pgx.StrictNamedArgs{"timelines": union(places, b.goingPrivate)})
	if err != nil {
		return fmt.Errorf("lock levels: %w", err)
	}
	return nil
}

// destinationsOf returns the base timelines that the source puts the post in. As with posts
// written here, a message is in its author's messages too.
func (b *batch) destinationsOf(p *importPost) []int64 {
	author := b.accounts[p.Author.ExternalID]
	var places []int64
	for _, to := range p.To {
		places = append(places, b.accounts[to.ExternalID].feed())
	}
	for _, to := range p.Direct {
		a := b.accounts[to.ExternalID]
		if a.Kind == Group {
			places = append(places, a.feed())
			continue
		}
		places = append(places, a.timelines[kinds.Directs])
		if own := author.timelines[kinds.Directs]; own != 0 {
			places = append(places, own)
		}
	}
	return union(places, nil)
}

// lockPosts locks the posts that were there, and those of feeds that go private, in the
// order of their ids. Then it reads them.
func (b *batch) lockPosts(ctx context.Context) error {
	byID := map[int64]*importPost{}
	var ids []int64
	for _, p := range b.posts {
		if !p.new {
			byID[p.ID] = p
			ids = append(ids, p.ID)
		}
	}
	if len(b.goingPrivate) > 0 {
		if err := b.core.setLevelsTx(ctx, b.tx, b.goingPrivate, Private, ids...); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	const query = `
		SELECT id, fresh_at, created_at, decisive, deleted_at IS NOT NULL, status IN (1, 2), lang,
			CASE WHEN lang = '' AND deleted_at IS NULL THEN body END
		FROM posts WHERE id = ANY(@ids) ORDER BY id FOR NO KEY UPDATE`
	rows, err := b.tx.Query(ctx, query, pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return fmt.Errorf("lock posts: %w", err)
	}
	var id, freshAt int64
	var createdAt time.Time
	var decisive []int64
	var deleted, held bool
	var lang string
	var unsure *string
	_, err = pgx.ForEachRow(rows, []any{&id, &freshAt, &createdAt, &decisive, &deleted, &held, &lang, &unsure}, func() error {
		p := byID[id]
		p.lang = lang
		if unsure != nil {
			p.fits = language.Fits(*unsure)
		}
		p.freshAt, p.CreatedAt, p.decisive, p.deleted, p.held = freshAt, createdAt, slices.Clone(decisive), deleted, held
		return nil
	})
	if err != nil {
		return fmt.Errorf("lock posts: %w", err)
	}
	// This is a statement of its own, so that it sees what the locks waited for.
	rows, err = b.tx.Query(ctx, `SELECT post_id, timeline_id FROM timeline_entries WHERE post_id = ANY(@ids) AND withdrawn`,
		pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return fmt.Errorf("read what posts left: %w", err)
	}
	var left int64
	_, err = pgx.ForEachRow(rows, []any{&id, &left}, func() error {
		byID[id].left = append(byID[id].left, left)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what posts left: %w", err)
	}
	return nil
}

// findMissing finds the comments, likes and destinations that are not there yet. A deleted
// comment is known by its key, and a like that was taken back counts as there. A deleted post
// gains nothing, and all its likes count as there, since their rows are gone. A post that is held goes nowhere (held.go).
func (b *batch) findMissing(ctx context.Context) error {
	known, err := b.knownComments(ctx)
	if err != nil {
		return err
	}
	liked, err := b.knownLikes(ctx)
	if err != nil {
		return err
	}
	for _, p := range b.posts {
		for i := range p.Comments {
			c := &p.Comments[i]
			switch id, there := known[c.ExternalID]; {
			case there:
				b.met = append(b.met, meeting{kind: originComment, id: id})
			case !p.deleted:
				p.comments = append(p.comments, importComment{ImportedComment: c, post: p})
			}
		}
		for i := range p.Likes {
			l := &p.Likes[i]
			account := b.accounts[l.Account.ExternalID]
			if p.deleted || liked[[2]int64{p.ID, account.ID}] {
				b.met = append(b.met, meeting{kind: metLike, id: p.ID, of: account.ID})
			} else {
				p.likes = append(p.likes, l)
			}
		}
		p.open = len(p.To) > 0
		if p.new {
			p.decisive = b.destinationsOf(p)
		} else if all := union(p.decisive, without(b.destinationsOf(p), p.left)); !p.ToAssumed && !p.deleted && !p.held && len(all) > len(p.decisive) {
			p.decisive, p.rerouted = all, true
		}
	}
	return b.knownActivity(ctx)
}

func (b *batch) knownComments(ctx context.Context) (map[string]int64, error) {
	var keys []string
	for _, p := range b.posts {
		for _, c := range p.Comments {
			keys = append(keys, c.ExternalID)
		}
	}
	return b.recall(ctx, originComment, keys)
}

// knownLikes returns pairs of post and account: who likes a post, and who once did, because
// the entry in their likes timeline stays.
func (b *batch) knownLikes(ctx context.Context) (map[[2]int64]bool, error) {
	rows, err := b.tx.Query(ctx, `
		SELECT post_id, account_id FROM likes WHERE post_id = ANY(@posts)
		UNION
		SELECT e.post_id, t.their_id
		FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
		WHERE e.post_id = ANY(@posts) AND t.kind = 'likes'`, pgx.StrictNamedArgs{"posts": b.ids(existing)})
	if err != nil {
		return nil, fmt.Errorf("find likes: %w", err)
	}
	liked := map[[2]int64]bool{}
	var post, account int64
	_, err = pgx.ForEachRow(rows, []any{&post, &account}, func() error {
		liked[[2]int64{post, account}] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find likes: %w", err)
	}
	return liked, nil
}

// knownActivity reads the stored comments of the posts that gain something, because the bump
// rule counts all comments.
func (b *batch) knownActivity(ctx context.Context) error {
	byID := map[int64]*importPost{}
	for _, p := range b.posts {
		if existing(p) && p.gains() {
			byID[p.ID] = p
		}
	}
	if len(byID) == 0 {
		return nil
	}
	rows, err := b.tx.Query(ctx, `SELECT post_id, created_at FROM comments WHERE post_id = ANY(@posts) AND deleted_at IS NULL`,
		pgx.StrictNamedArgs{"posts": b.ids(gaining)})
	if err != nil {
		return fmt.Errorf("read comments: %w", err)
	}
	var post int64
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&post, &at}, func() error {
		byID[post].activity = append(byID[post].activity, activity{at: at, comment: true, known: true})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read comments: %w", err)
	}
	return nil
}

// entersAt is when the post enters the timelines of its author and its places.
func (p *importPost) entersAt() int64 { return max(p.liftedAt, Micros(p.CreatedAt)) }

func (p *importPost) writing() writing { return writing{p.Body, p.markup} }

func existing(p *importPost) bool { return !p.new }
func created(p *importPost) bool  { return p.new }
func gaining(p *importPost) bool  { return !p.new && p.gains() }

// ids returns the sorted ids of the posts that pass.
func (b *batch) ids(pass func(*importPost) bool) []int64 {
	ids := []int64{}
	for _, p := range b.posts {
		if pass(p) {
			ids = append(ids, p.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// replay computes the freshness and the new entries of each post that gains something.
func (b *batch) replay(context.Context) error {
	for _, p := range b.posts {
		if !p.gains() {
			continue
		}
		for _, c := range p.comments {
			p.activity = append(p.activity, activity{at: c.CreatedAt, account: b.accounts[c.Author.ExternalID], comment: true, named: b.named(c.marks)})
		}
		for _, l := range p.likes {
			p.activity = append(p.activity, activity{at: l.CreatedAt, account: b.accounts[l.Account.ExternalID]})
		}
		slices.SortStableFunc(p.activity, func(x, y activity) int { return x.at.Compare(y.at) })
		if p.new {
			b.enterNew(p)
		} else if p.rerouted {
			for _, place := range p.decisive {
				p.enter(place, Micros(p.CreatedAt))
			}
			b.enterEverything(p)
		}
		p.freshAt = max(p.freshAt, p.replay(b.core.opts.LocalBumpMaxAge))
	}
	return nil
}

// enterNew enters a new post into the timelines that a post written here would enter.
func (b *batch) enterNew(p *importPost) {
	at := p.entersAt()
	for _, place := range p.decisive {
		p.enter(place, at)
	}
	b.accounts[p.Author.ExternalID].enter(p, kinds.Wrote, at)
	for _, timeline := range b.named(p.marks) {
		p.enter(timeline, at)
	}
	b.enterEverything(p)
}

// enterEverything enters the post into the timeline of everything unless it is a message.
func (b *batch) enterEverything(p *importPost) {
	if p.open {
		b.enterAggregate(p, kinds.Everything, p.entersAt())
	}
}

// enter notes that the post enters a timeline. The earliest time counts.
func (p *importPost) enter(timeline, at int64) {
	if had, ok := p.entries[timeline]; !ok || at < had {
		p.entries[timeline] = at
	}
}

// enter notes that the post enters the account's timelines by this action.
func (a *importAccount) enter(p *importPost, did kinds.Action, at int64) {
	for _, kind := range kinds.By(did) {
		if timeline := a.timelines[kind]; timeline != 0 {
			p.enter(timeline, at)
		}
	}
}

// replay runs the rules of queueBump and entering over the post's activity at its own dates. It
// notes the entries and returns the freshness of the post.
func (p *importPost) replay(maxAge time.Duration) int64 {
	const day = 24 * time.Hour
	fresh := p.entersAt()
	var recent []time.Time // comments within the last day, oldest first
	for _, t := range p.activity {
		if t.comment {
			recent = append(recent, t.at)
			for len(recent) > 0 && t.at.Sub(recent[0]) >= day {
				recent = recent[1:]
			}
			if t.at.Sub(p.CreatedAt) < day || len(recent) > 2 {
				fresh = max(Micros(t.at), fresh+1)
			}
		}
		if t.known {
			continue
		}
		at := Micros(t.at)
		if maxAge > 0 && t.at.Sub(p.CreatedAt) > maxAge {
			at = fresh
		}
		did := kinds.Liked
		if t.comment {
			did = kinds.Commented
		}
		t.account.enter(p, did, at)
		for _, timeline := range t.named {
			p.enter(timeline, at)
		}
	}
	return fresh
}

// sortedComments returns all new comments of the batch in the order of time, so that their
// ids get the same order.
func (b *batch) sortedComments() []importComment {
	var all []importComment
	for _, p := range b.posts {
		all = append(all, p.comments...)
	}
	slices.SortStableFunc(all, func(x, y importComment) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.post.ID, y.post.ID))
	})
	return all
}

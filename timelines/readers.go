package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
)

// The explicit sets of the levels: the people who may read a private feed or sub-feed, and
// those who may not read a protected one (source: 000, 004). A set counts while the feed
// has its level, and is kept while it has another: a change of level removes nobody from
// either set.
//
// Nobody is in both sets, and the last action counts: excluding somebody ends their right
// to read at every level, and admitting them ends the exclusion. Otherwise a person who is
// excluded from a protected feed could read it once only its readers may. A follower is
// always a reader, so exclusion from the account's own feed ends the subscription, and an
// excluded person may neither follow nor ask to, whatever the level (ErrExcluded).
// Apart from that, an excluded account reads a public feed like any other.
//
// In all methods slug names one of the actor's sub-feeds, or, if it is empty, their own
// feed; for groups see Groups.Admit. The errors are InvalidError "to_unknown" if nobody has
// the name and "reader_self" for the actor, who reads everything, and ErrNotFound if the
// actor has no such sub-feed. Doing again what is done already changes nothing.

// Admit lets a person read the actor's private feed or sub-feed. It does not make
// them follow it.
func (s Feeds) Admit(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, func(ctx context.Context, tx pgx.Tx, feed, reader int64) ([]Replace, []Invalidation, error) {
		return nil, nil, setReaderTx(ctx, tx, feed, reader,
			`DELETE FROM excluded WHERE timeline_id = @feed AND account_id = @reader`,
			`INSERT INTO readers (timeline_id, account_id) VALUES (@feed, @reader) ON CONFLICT DO NOTHING`)
	})
}

// Remove ends that right: once it is answered, the person is shown no post that
// stands only there (R4). Removal from the actor's own feed also ends the subscription.
// Otherwise the person would read again after the next change of level, and would count as
// a follower of posts they cannot see.
func (s Feeds) Remove(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, func(ctx context.Context, tx pgx.Tx, feed, reader int64) ([]Replace, []Invalidation, error) {
		replaced, err := dismissTx(ctx, tx, actor, slug, feed, reader)
		return replaced, nil, err
	})
}

// Exclude closes the actor's feed or sub-feed to a person while its level is
// protected, and does what Feeds.Remove does, whatever the level: a narrowing. It drops
// their request to follow.
func (s Feeds) Exclude(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, func(ctx context.Context, tx pgx.Tx, feed, reader int64) ([]Replace, []Invalidation, error) {
		var dropped []Invalidation
		if slug == "" {
			// If the request is just being accepted, this waits, and the next statements end the
			// subscription.
			var err error
			if dropped, err = dropRequestTx(ctx, tx, reader, actor); err != nil {
				return nil, nil, err
			}
		}
		replaced, err := dismissTx(ctx, tx, actor, slug, feed, reader)
		if err != nil {
			return nil, nil, err
		}
		return replaced, dropped, setReaderTx(ctx, tx, feed, reader,
			`INSERT INTO excluded (timeline_id, account_id) VALUES (@feed, @reader) ON CONFLICT DO NOTHING`)
	})
}

// Unexclude undoes Feeds.Exclude; it restores no subscription, no right to read and
// no request.
func (s Feeds) Unexclude(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, func(ctx context.Context, tx pgx.Tx, feed, reader int64) ([]Replace, []Invalidation, error) {
		return nil, nil, setReaderTx(ctx, tx, feed, reader,
			`DELETE FROM excluded WHERE timeline_id = @feed AND account_id = @reader`)
	})
}

// setReaderTx runs statements that change one person's place in the sets of a feed.
func setReaderTx(ctx context.Context, tx pgx.Tx, feed, reader int64, statements ...string) error {
	var batch pgx.Batch
	for _, query := range statements {
		batch.Queue(query, pgx.StrictNamedArgs{"feed": feed, "reader": reader})
	}
	if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("change readers: %w", err)
	}
	return nil
}

// dismissTx removes a person from the readers of one of the actor's feeds, and from the
// followers if it is the own feed. It returns the rivers that the end of a subscription
// invalidates.
func dismissTx(ctx context.Context, tx pgx.Tx, actor int64, slug string, feed, reader int64) (replaced []Replace, err error) {
	if slug == "" {
		subscribed, lists, err := endSubscriptionTx(ctx, tx, reader, actor)
		if err != nil {
			return nil, err
		}
		if subscribed {
			replaced = unfollowed(reader, lists)
		}
	}
	return replaced, setReaderTx(ctx, tx, feed, reader, `DELETE FROM readers WHERE timeline_id = @feed AND account_id = @reader`)
}

// setReader changes one person's place in the sets of one of the actor's feeds, which is
// locked meanwhile. set returns the rivers that it invalidates in any case, and further
// invalidations for the nodes. If the person may read more or less from now on, all their
// rivers are invalidated: posts may enter or leave any of them.
func (s Feeds) setReader(ctx context.Context, actor int64, slug, name string,
	set func(ctx context.Context, tx pgx.Tx, feed, reader int64) (replaced []Replace, also []Invalidation, err error),
) (Change, error) {
	if slug != "" && !slugForm.MatchString(slug) {
		return Change{}, ErrNotFound
	}
	if !nameForm.MatchString(name) {
		return Change{}, &InvalidError{Field: "name", Code: "to_unknown", Value: strings.ToValidUTF8(name, "")}
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		// The feed's lock. Either this waits for a subscription that found its reader admitted
		// (lockTargetTx), and removes it, or the subscription waits, and finds no admission. The
		// level cannot change either; a later change of level sees the new set (invalidatedByLevelTx).
		const lock = `
			SELECT id FROM timelines
			WHERE their_id = @actor AND term = @slug AND kind = CASE @slug WHEN '' THEN 'feed' ELSE 'subfeed' END
			FOR NO KEY UPDATE`
		var feed, reader int64
		err := tx.QueryRow(ctx, lock, pgx.StrictNamedArgs{"actor": actor, "slug": slug}).Scan(&feed)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, ErrNotFound
		}
		if err != nil {
			return Change{}, fmt.Errorf("lock feed: %w", err)
		}
		err = tx.QueryRow(ctx, `SELECT id FROM accounts WHERE name = @name AND kind = 'user'`,
			pgx.StrictNamedArgs{"name": name}).Scan(&reader)
		if errors.Is(err, pgx.ErrNoRows) {
			return Change{}, &InvalidError{Field: "name", Code: "to_unknown", Value: name}
		}
		if err != nil {
			return Change{}, fmt.Errorf("read account: %w", err)
		}
		if reader == actor {
			return Change{}, &InvalidError{Field: "name", Code: "reader_self"}
		}
		was, err := readershipTx(ctx, tx, feed, reader)
		if err != nil {
			return Change{}, err
		}
		replaced, also, err := set(ctx, tx, feed, reader)
		if err != nil {
			return Change{}, err
		}
		now, err := readershipTx(ctx, tx, feed, reader)
		switch {
		case err != nil:
			return Change{}, err
		case was.open != now.open:
			replaced = []Replace{{ViewerID: reader}}
		case len(replaced) > 0: // a subscription ended
		case was == now:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		// The feed has more readers or fewer, and maybe a follower less.
		also = append(also, Invalidation{Kind: InvalidCounts, AccountID: actor})
		if len(replaced) == 0 {
			return forgetViewerTx(ctx, tx, actor, reader, also...)
		}
		return s.replaceAndForgetTx(ctx, tx, actor, replaced, also...)
	})
}

// readership says in which sets of a feed a person is, and whether they may read it.
type readership struct{ admitted, excluded, open bool }

func readershipTx(ctx context.Context, tx pgx.Tx, feed, reader int64) (r readership, err error) {
	query := `
		SELECT EXISTS (SELECT FROM readers r WHERE r.timeline_id = g.id AND r.account_id = @reader::bigint),
			EXISTS (SELECT FROM excluded x WHERE x.timeline_id = g.id AND x.account_id = @reader::bigint),
			` + rights.OpenTo("g", "@reader::bigint") + `
		FROM timelines g WHERE g.id = @feed`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"feed": feed, "reader": reader}).Scan(&r.admitted, &r.excluded, &r.open)
	if err != nil {
		return readership{}, fmt.Errorf("read readership: %w", err)
	}
	return r, nil
}

// OwnFeed is a feed or sub-feed as its owner sees it.
type OwnFeed struct {
	Subfeed // Slug is empty for the account's own feed
	Access  Level
	Empty   bool // no post stands in it
	// Readers and Excluded are the explicit sets, by name and without the owner, at most
	// ShownReaders of each; ReadersTotal and ExcludedTotal are their full sizes.
	Readers, Excluded           []Account
	ReadersTotal, ExcludedTotal int
}

// ShownReaders is how many people of a set an OwnFeed lists.
const ShownReaders = 200

// Own returns the actor's feed, private sub-feed and other sub-feeds, these
// by title.
func (s Feeds) Own(ctx context.Context, actor int64) ([]OwnFeed, error) {
	query := `
		SELECT t.id AS timeline_id, t.their_id AS account_id, t.term AS slug, coalesce(f.title, '') AS title, t.access,
			NOT EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id = t.id AND NOT e.withdrawn) AS empty,
			(SELECT count(*) FROM readers r WHERE r.timeline_id = t.id AND r.account_id <> @actor) AS readers_total,
			(SELECT count(*) FROM excluded x WHERE x.timeline_id = t.id) AS excluded_total,
			ARRAY(SELECT a.id FROM readers r JOIN accounts a ON a.id = r.account_id
				WHERE r.timeline_id = t.id AND r.account_id <> @actor AND ` + seen + ` ORDER BY a.name LIMIT @shown),
			ARRAY(SELECT a.id FROM excluded x JOIN accounts a ON a.id = x.account_id
				WHERE x.timeline_id = t.id AND ` + seen + ` ORDER BY a.name LIMIT @shown)
		FROM timelines t LEFT JOIN subfeeds f ON f.timeline_id = t.id
		WHERE t.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + ` AND t.their_id = @actor
		ORDER BY t.kind, f.timeline_id IS NOT NULL, f.title, t.term`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"actor": actor, "shown": ShownReaders})
	if err != nil {
		return nil, fmt.Errorf("read own feeds: %w", err)
	}
	type sets struct{ readers, excluded []int64 }
	var feeds []OwnFeed
	var all []sets
	var people []int64
	for rows.Next() {
		var f OwnFeed
		var in sets
		if err := rows.Scan(&f.TimelineID, &f.AccountID, &f.Slug, &f.Title, &f.Access, &f.Empty,
			&f.ReadersTotal, &f.ExcludedTotal, &in.readers, &in.excluded); err != nil {
			rows.Close()
			return nil, fmt.Errorf("read own feeds: %w", err)
		}
		feeds, all = append(feeds, f), append(all, in)
		people = append(append(people, in.readers...), in.excluded...)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read own feeds: %w", err)
	}
	accounts, err := Accounts(s).ByID(ctx, people)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]Account, len(accounts))
	for _, a := range accounts {
		byID[a.ID] = a
	}
	for i, in := range all {
		for _, id := range in.readers {
			feeds[i].Readers = append(feeds[i].Readers, byID[id])
		}
		for _, id := range in.excluded {
			feeds[i].Excluded = append(feeds[i].Excluded, byID[id])
		}
	}
	return feeds, nil
}

// Readers returns at most limit of the people a feed or sub-feed admits, without its
// owner, by name, after the name given; an empty name is the beginning. It is for the
// owner.
func (s Feeds) Readers(ctx context.Context, timeline int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `
		SELECT r.account_id FROM readers r JOIN timelines t ON t.id = r.timeline_id
		WHERE r.timeline_id = @of AND r.account_id <> t.their_id`, timeline, after, limit)
}

// Excluded is Feeds.Readers for the people the feed excludes.
func (s Feeds) Excluded(ctx context.Context, timeline int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT account_id FROM excluded WHERE timeline_id = @of`, timeline, after, limit)
}

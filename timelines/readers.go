package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The explicit sets of the levels: who may read a private feed or sub-feed, and
// who may not read a protected one. A set counts while its level stands and is
// kept while another does. In all of them slug names one of the actor's
// sub-feeds, and empty their own feed; for groups see AdmitToGroup.

// AdmitReader lets a person read the actor's private feed or sub-feed. It makes
// nobody subscribe. InvalidError "to_unknown" if nobody has the name, ErrNotFound
// if the actor has no such sub-feed. Admitting a reader changes nothing.
func (s *Store) AdmitReader(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, Private, byStatement(`
		INSERT INTO readers (timeline_id, account_id) VALUES (@feed, @reader) ON CONFLICT DO NOTHING`))
}

// RemoveReader takes that right away again: once it is answered, nothing of what
// stands only there is shown to them (R4). Who is removed from the actor's own
// feed loses the subscription too, since a subscriber is always a reader: else
// who was removed would come back with the next change of level, and would be
// counted as following what they cannot see. Removing who is no reader changes
// nothing; the actor stays one (ErrForbidden).
func (s *Store) RemoveReader(ctx context.Context, actor int64, slug, name string) (Change, error) {
	remove := byStatement(`DELETE FROM readers WHERE timeline_id = @feed AND account_id = @reader`)
	return s.setReader(ctx, actor, slug, name, Private,
		func(ctx context.Context, tx pgx.Tx, feed, reader int64) (changed bool, wrong []Replace, err error) {
			if slug == "" {
				subscribed, lists, err := endSubscriptionTx(ctx, tx, reader, actor)
				if err != nil {
					return false, nil, err
				}
				if subscribed {
					wrong = unfollowed(reader, lists)
				}
			}
			changed, _, err = remove(ctx, tx, feed, reader)
			return changed, wrong, err
		})
}

// ExcludeReader closes the actor's feed or sub-feed to a person while its level
// is protected: a narrowing, as RemoveReader. A subscription stays, and shows
// again once the level or the set lets it. The errors are those of RemoveReader.
func (s *Store) ExcludeReader(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, Protected, byStatement(`
		INSERT INTO excluded (timeline_id, account_id) VALUES (@feed, @reader) ON CONFLICT DO NOTHING`))
}

// UnexcludeReader undoes ExcludeReader.
func (s *Store) UnexcludeReader(ctx context.Context, actor int64, slug, name string) (Change, error) {
	return s.setReader(ctx, actor, slug, name, Protected, byStatement(`
		DELETE FROM excluded WHERE timeline_id = @feed AND account_id = @reader`))
}

// changeOfSet moves a person into or out of a set of a feed, which is locked. It
// reports whether that changed anything, and which rivers are wrong by it whatever
// they may read.
type changeOfSet func(ctx context.Context, tx pgx.Tx, feed, reader int64) (changed bool, wrong []Replace, err error)

// byStatement is a change of a set by one statement; its arguments are feed and reader.
func byStatement(query string) changeOfSet {
	return func(ctx context.Context, tx pgx.Tx, feed, reader int64) (bool, []Replace, error) {
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"feed": feed, "reader": reader})
		if err != nil {
			return false, nil, fmt.Errorf("change readers: %w", err)
		}
		return tag.RowsAffected() > 0, nil, nil
	}
}

// setReader changes one person's place in a set of one of the actor's feeds. The
// set counts at one level. While the feed has it the person reads more or less from
// now on, whatever other set they are in, and all their rivers are announced as
// wrong; while it has another they read what they did before.
func (s *Store) setReader(ctx context.Context, actor int64, slug, name string, counts Level, set changeOfSet) (Change, error) {
	if slug != "" && !slugForm.MatchString(slug) {
		return Change{}, ErrNotFound
	}
	if !nameForm.MatchString(name) {
		return Change{}, &InvalidError{Field: "name", Code: "to_unknown", Value: strings.ToValidUTF8(name, "")}
	}
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		// The feed's lock: a subscription that found its reader admitted (lockTargetTx)
		// is waited for and taken away with the rest, or waits and finds none. The level
		// stays as it is, too: who changes it sees the set as it is then (wrongByLevelTx).
		const lock = `
			SELECT id, access FROM timelines
			WHERE their_id = @actor AND term = @slug AND kind = CASE @slug WHEN '' THEN 'feed' ELSE 'subfeed' END
			FOR NO KEY UPDATE`
		var feed, reader int64
		var level Level
		err := tx.QueryRow(ctx, lock, pgx.StrictNamedArgs{"actor": actor, "slug": slug}).Scan(&feed, &level)
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
			return Change{}, ErrForbidden
		}
		changed, wrong, err := set(ctx, tx, feed, reader)
		switch {
		case err != nil:
			return Change{}, err
		case !changed:
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		case level == counts:
			wrong = []Replace{{ViewerID: reader}} // posts came into every river, or went out
		case len(wrong) == 0:
			return forgetViewerTx(ctx, tx, actor, reader)
		}
		return s.replaceTx(ctx, tx, actor, wrong...)
	})
}

// OwnFeed is a feed or sub-feed as its owner sees it.
type OwnFeed struct {
	Subfeed // Slug is empty for the account's own feed
	Access  Level
	Empty   bool // no post stands in it
	// Readers and Excluded are the explicit sets, by name and without the owner, as
	// far as ShownReaders; ReadersTotal and ExcludedTotal count them whole.
	Readers, Excluded           []Account
	ReadersTotal, ExcludedTotal int
}

// ShownReaders is how many of a set an OwnFeed lists.
const ShownReaders = 200

// OwnFeeds returns the actor's feed, private sub-feed and other sub-feeds, these
// by title.
func (s *Store) OwnFeeds(ctx context.Context, actor int64) ([]OwnFeed, error) {
	const query = `
		SELECT t.id AS timeline_id, t.their_id AS account_id, t.term AS slug, coalesce(f.title, '') AS title, t.access,
			NOT EXISTS (SELECT FROM timeline_entries e WHERE e.timeline_id = t.id AND NOT e.withdrawn) AS empty,
			(SELECT count(*) FROM readers r WHERE r.timeline_id = t.id AND r.account_id <> @actor) AS readers_total,
			(SELECT count(*) FROM excluded x WHERE x.timeline_id = t.id) AS excluded_total,
			ARRAY(SELECT a.id FROM readers r JOIN accounts a ON a.id = r.account_id
				WHERE r.timeline_id = t.id AND r.account_id <> @actor ORDER BY a.name LIMIT @shown),
			ARRAY(SELECT a.id FROM excluded x JOIN accounts a ON a.id = x.account_id
				WHERE x.timeline_id = t.id ORDER BY a.name LIMIT @shown)
		FROM timelines t LEFT JOIN subfeeds f ON f.timeline_id = t.id
		WHERE t.kind IN ('feed', 'subfeed') AND t.their_id = @actor
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
	accounts, err := s.AccountsByID(ctx, people)
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

// FeedReaders returns at most limit of those whom a feed or sub-feed admits besides
// its owner, for whom it is, by name, those after the name given; an empty name is
// the beginning.
func (s *Store) FeedReaders(ctx context.Context, timeline int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `
		SELECT r.account_id FROM readers r JOIN timelines t ON t.id = r.timeline_id
		WHERE r.timeline_id = @of AND r.account_id <> t.their_id`, timeline, after, limit)
}

// FeedExcluded is FeedReaders of those whom it excludes.
func (s *Store) FeedExcluded(ctx context.Context, timeline int64, after string, limit int) ([]Account, error) {
	return s.accountsOf(ctx, `SELECT account_id FROM excluded WHERE timeline_id = @of`, timeline, after, limit)
}

package drafts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Bounds of what is kept for people who are not signed in.
const (
	MaxVisitorRunes = 20_000 // characters of one draft
	MostOfVisitor   = 5      // drafts of one visitor
	MostOfVisitors  = 10_000 // drafts of all visitors
)

// ErrFull: the site keeps as many drafts of visitors as it can.
var ErrFull = errors.New("too many drafts of visitors")

// Owner is whose drafts visitor_drafts has: the hash of the random id in a visitor's cookie. The zero
// Owner is nobody.
type Owner [32]byte

// Nobody reports whether no cookie names an owner.
func (o Owner) Nobody() bool { return o == Owner{} }

// IsPostPlace reports whether a place has a form for a post, which may be begun without signing in. A
// listing may not.
func IsPostPlace(place string) bool {
	return IsPlace(place) && commentOn(place) == "" && !strings.HasPrefix(place, "/filter/") && !strings.HasSuffix(place, listingSuffix)
}

// DestinationsOf returns the names to which a post goes that is begun at a place for posts.
func DestinationsOf(place string) []string {
	if name := strings.TrimPrefix(place, "/"); name != "" && IsPostPlace(place) {
		return []string{name}
	}
	return []string{}
}

// SaveVisitors stores a draft of somebody who is not signed in, as Save does that of an account. Its
// files are left out.
//
// Errors: ErrInvalid, ErrMany, ErrFull, *NewerError, and an InvalidError "body_long".
func (s *Store) SaveVisitors(ctx context.Context, owner Owner, d Draft) (savedAt time.Time, err error) {
	d.Uploads = nil
	if !IsPostPlace(d.Place) {
		return time.Time{}, ErrInvalid
	}
	if err := d.check(MaxVisitorRunes); err != nil {
		return time.Time{}, err
	}
	if d.Empty() {
		return time.Time{}, s.DiscardVisitors(ctx, owner, d.Version())
	}
	// Those who come at once may exceed the bound of the site by as many as they are.
	const save = `
		INSERT INTO visitor_drafts (owner, saved_at, place, language, body, destinations)
		SELECT @owner, clock_timestamp(), @place, @language, @body, @destinations
		WHERE EXISTS (SELECT FROM visitor_drafts WHERE owner = @owner AND place = @place)
			OR @most > (SELECT count(*) FROM visitor_drafts WHERE owner = @owner) AND @all > (SELECT count(*) FROM visitor_drafts)
		ON CONFLICT (owner, place) DO UPDATE
		SET saved_at = greatest(excluded.saved_at, visitor_drafts.saved_at + interval '1 microsecond'), language = excluded.language,
			body = excluded.body, destinations = excluded.destinations
		WHERE visitor_drafts.saved_at = @was OR visitor_drafts.body = excluded.body
		RETURNING saved_at`
	var refused error
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Two tabs at once would both take the last place of their visitor.
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('visitor ' || encode(@owner, 'hex'), 0))`, pgx.StrictNamedArgs{"owner": owner[:]})
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, save, pgx.StrictNamedArgs{
			"owner": owner[:], "place": d.Place, "language": d.Language, "body": d.Body, "destinations": orEmpty(d.Destinations), "was": d.SavedAt,
			"most": MostOfVisitor, "all": MostOfVisitors,
		}).Scan(&savedAt)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		all, err := visitors(ctx, tx, owner)
		refused = ErrFull
		if len(all) >= MostOfVisitor {
			refused = ErrMany
		}
		for _, stands := range all {
			if stands.Place == d.Place {
				refused = &NewerError{stands}
			}
		}
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("save draft of a visitor: %w", err)
	}
	return savedAt, refused
}

// Visitors returns the drafts of somebody who is not signed in, the latest first: that is the one to
// go on with.
func (s *Store) Visitors(ctx context.Context, owner Owner) ([]Draft, error) {
	return visitors(ctx, s.pool, owner)
}

func visitors(ctx context.Context, db querier, owner Owner) ([]Draft, error) {
	const query = `
		SELECT place, body, language, destinations, '{}'::text[] AS uploads, NULL::jsonb AS listing, saved_at
		FROM visitor_drafts WHERE owner = @owner ORDER BY saved_at DESC, place`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"owner": owner[:]})
	if err != nil {
		return nil, fmt.Errorf("read drafts of a visitor: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[Draft])
	if err != nil {
		return nil, fmt.Errorf("read drafts of a visitor: %w", err)
	}
	return all, nil
}

// DiscardVisitors removes one draft of somebody who is not signed in, as Discard does. ErrNotFound if no
// form for a post has such a place.
func (s *Store) DiscardVisitors(ctx context.Context, owner Owner, v Version) error {
	if !IsPostPlace(v.Place) {
		return ErrNotFound
	}
	const query = `DELETE FROM visitor_drafts WHERE owner = @owner AND place = @place AND saved_at = @was`
	if _, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"owner": owner[:], "place": v.Place, "was": v.SavedAt}); err != nil {
		return fmt.Errorf("discard draft of a visitor: %w", err)
	}
	return nil
}

// ExpireVisitors removes at most limit drafts of visitors that were saved longer than age ago, and
// returns how many.
func (s *Store) ExpireVisitors(ctx context.Context, age time.Duration, limit int) (int64, error) {
	const query = `
		DELETE FROM visitor_drafts WHERE id = ANY(ARRAY(
			SELECT id FROM visitor_drafts WHERE saved_at < now() - @age::interval ORDER BY saved_at LIMIT @limit FOR UPDATE SKIP LOCKED))`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"age": age, "limit": limit})
	if err != nil {
		return 0, fmt.Errorf("expire drafts of visitors: %w", err)
	}
	return tag.RowsAffected(), nil
}

// VisitorKey returns the key that signs the cookies of visitors. The first call of all nodes makes it,
// and a node reads it once.
func (s *Store) VisitorKey(ctx context.Context) ([]byte, error) {
	if key := s.visitorKey.Load(); key != nil {
		return *key, nil
	}
	var made [32]byte
	_, _ = rand.Read(made[:]) // never fails
	const query = `
		INSERT INTO visitor_keys (secret) VALUES (@secret)
		ON CONFLICT (id) DO UPDATE SET id = true
		RETURNING secret`
	var key []byte
	if err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"secret": made[:]}).Scan(&key); err != nil {
		return nil, fmt.Errorf("read the key of visitors: %w", err)
	}
	s.visitorKey.Store(&key)
	return key, nil
}

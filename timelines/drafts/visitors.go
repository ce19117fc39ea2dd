package drafts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/rules"
)

// Bounds of what is kept for people who are not signed in, beside rules.VisitorLong.
const (
	MostOfVisitor  = 5      // drafts of one visitor
	MostOfVisitors = 10_000 // drafts of all visitors
	// SafeOfVisitors is how long a draft is kept after it was saved last although the site is full.
	SafeOfVisitors = 24 * time.Hour
)

// Errors of SaveVisitors.
var (
	// ErrFull: the site keeps as many drafts of visitors as it can, all of the last SafeOfVisitors.
	ErrFull = errors.New("too many drafts of visitors")
	// ErrGone: the draft that the form has is gone. It went to an account, was discarded, or made room.
	ErrGone = errors.New("the draft of the form is gone")
)

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
// files are left out. If the site is full, the draft that was saved longest ago makes room for a new one,
// but none of the last SafeOfVisitors.
//
// With ErrGone nothing is stored: the form must send its text again as that of no draft. If its visitor
// signed in meanwhile, that is the account's.
//
// Other errors: ErrInvalid, ErrMany, ErrFull, *NewerError, and an InvalidError "visitor_long".
func (s *Store) SaveVisitors(ctx context.Context, owner Owner, d Draft) (savedAt time.Time, err error) {
	d.Uploads, d.Listing = nil, nil
	if !IsPostPlace(d.Place) {
		return time.Time{}, ErrInvalid
	}
	if err := d.check(rules.VisitorLong); err != nil {
		return time.Time{}, err
	}
	if d.Empty() {
		return time.Time{}, s.DiscardVisitors(ctx, owner, d.Version())
	}
	// Those who come at once may exceed the bound of the site by as many as they are; the next one makes
	// room for them too.
	const save = `
		WITH aside AS (
			UPDATE visitor_drafts
			SET saved_at = greatest(clock_timestamp(), saved_at + interval '1 microsecond'), language = @language, body = @body, destinations = @destinations
			WHERE owner = @owner AND place = @place AND saved_at = @was AND parked
			RETURNING saved_at
		), has AS MATERIALIZED (
			SELECT count(*) AS n, coalesce(bool_or(place = @place AND NOT parked), false) AS stands FROM visitor_drafts WHERE owner = @owner
		), kept AS MATERIALIZED (
			SELECT count(*) AS n FROM visitor_drafts
		), gone AS (
			DELETE FROM visitor_drafts WHERE id = ANY(ARRAY(
				SELECT v.id FROM visitor_drafts v, has
				WHERE v.saved_at < now() - @safe::interval AND NOT has.stands AND has.n < @most AND @new
				ORDER BY v.saved_at LIMIT (SELECT greatest(0, n + 1 - @all) FROM kept) FOR UPDATE OF v SKIP LOCKED))
			RETURNING id
		), placed AS (
			INSERT INTO visitor_drafts (owner, saved_at, place, language, body, destinations)
			SELECT @owner, clock_timestamp(), @place, @language, @body, @destinations FROM has, kept
			WHERE NOT EXISTS (SELECT FROM aside) AND (has.stands OR @new AND has.n < @most AND kept.n - (SELECT count(*) FROM gone) < @all)
			ON CONFLICT (owner, place) WHERE NOT parked DO UPDATE
			SET saved_at = greatest(excluded.saved_at, visitor_drafts.saved_at + interval '1 microsecond'), language = excluded.language,
				body = excluded.body, destinations = excluded.destinations
			WHERE visitor_drafts.saved_at = @was OR visitor_drafts.body = excluded.body
			RETURNING saved_at
		)
		SELECT saved_at FROM aside UNION ALL SELECT saved_at FROM placed`
	var refused error
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := lockVisitorTx(ctx, tx, owner); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, save, pgx.StrictNamedArgs{
			"owner": owner[:], "place": d.Place, "language": d.Language, "body": d.Body, "destinations": orEmpty(d.Destinations), "was": d.SavedAt,
			"new": d.SavedAt.IsZero(), "most": MostOfVisitor, "all": MostOfVisitors, "safe": SafeOfVisitors,
		}).Scan(&savedAt)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		all, err := visitors(ctx, tx, owner)
		switch i := slices.IndexFunc(all, func(stands VisitorDraft) bool { return stands.Place == d.Place && !stands.Parked }); {
		case i >= 0:
			refused = &NewerError{all[i].Draft}
		case !d.SavedAt.IsZero():
			refused = ErrGone
		case len(all) >= MostOfVisitor:
			refused = ErrMany
		default:
			refused = ErrFull
		}
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("save draft of a visitor: %w", err)
	}
	return savedAt, refused
}

// lockVisitorTx makes those wait for each other who save drafts of one visitor, or move them to an account. So
// two tabs cannot both take the last place, and a save that comes while its visitor signs in knows of it.
func lockVisitorTx(ctx context.Context, tx pgx.Tx, owner Owner) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('visitor ' || encode(@owner, 'hex'), 0))`, pgx.StrictNamedArgs{"owner": owner[:]})
	if err != nil {
		return fmt.Errorf("lock drafts of a visitor: %w", err)
	}
	return nil
}

// VisitorDraft is a draft of somebody who is not signed in.
type VisitorDraft struct {
	Draft
	Parked bool // they put it aside
}

// Visitors returns the drafts of somebody who is not signed in, the latest first, and then the parked
// ones. The first is the one to go on with, unless it is parked.
func (s *Store) Visitors(ctx context.Context, owner Owner) ([]VisitorDraft, error) {
	return visitors(ctx, s.pool, owner)
}

func visitors(ctx context.Context, db querier, owner Owner) ([]VisitorDraft, error) {
	const query = `
		SELECT place, body, language, destinations, '{}'::text[] AS uploads, NULL::jsonb AS listing, saved_at, parked
		FROM visitor_drafts WHERE owner = @owner ORDER BY parked, saved_at DESC, place`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"owner": owner[:]})
	if err != nil {
		return nil, fmt.Errorf("read drafts of a visitor: %w", err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[VisitorDraft])
	if err != nil {
		return nil, fmt.Errorf("read drafts of a visitor: %w", err)
	}
	return all, nil
}

// ParkVisitors puts one draft of somebody who is not signed in aside, as Park does.
func (s *Store) ParkVisitors(ctx context.Context, owner Owner, v Version) error {
	const query = `UPDATE visitor_drafts SET parked = true WHERE owner = @owner AND place = @place AND saved_at = @was`
	if _, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"owner": owner[:], "place": v.Place, "was": v.SavedAt}); err != nil {
		return fmt.Errorf("park draft of a visitor: %w", err)
	}
	return nil
}

// ReopenVisitors makes a parked draft of somebody who is not signed in that of its place again, as Reopen
// does. ErrNotFound if there is none of that version.
func (s *Store) ReopenVisitors(ctx context.Context, owner Owner, v Version) error {
	const park = `UPDATE visitor_drafts SET parked = true WHERE owner = @owner AND place = @place AND saved_at <> @was AND NOT parked`
	const take = `
		UPDATE visitor_drafts SET parked = false, saved_at = greatest(clock_timestamp(), saved_at + interval '1 microsecond')
		WHERE owner = @owner AND place = @place AND saved_at = @was AND parked`
	if !IsPostPlace(v.Place) {
		return ErrNotFound
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := lockVisitorTx(ctx, tx, owner); err != nil {
			return err
		}
		args := pgx.StrictNamedArgs{"owner": owner[:], "place": v.Place, "was": v.SavedAt}
		if _, err := tx.Exec(ctx, park, args); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, take, args)
		if err == nil && tag.RowsAffected() == 0 {
			err = pgx.ErrNoRows
		}
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("open a parked draft of a visitor: %w", err)
	}
	return nil
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

package timelines

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// What AccessCache reads, each in one statement and so in one snapshot.

// AccessClock returns the last number drawn from the primary store's clock, and
// the name of that store: system identifier, recovery timeline and database. A
// store restored from a copy has another name.
func (s *Store) AccessClock(ctx context.Context) (n int64, primaryID string, err error) {
	const query = `
		SELECT c.n, concat_ws('/', s.system_identifier, p.timeline_id, d.oid)
		FROM access_clock c, pg_control_system() s, pg_control_checkpoint() p, pg_database d
		WHERE d.datname = current_database()`
	if err := s.pool.QueryRow(ctx, query).Scan(&n, &primaryID); err != nil {
		return 0, "", fmt.Errorf("read access clock: %w", err)
	}
	return n, primaryID, nil
}

type logRow struct {
	N          int64
	AccountID  int64
	TimelineID int64
	Kind       string
	TokenHash  []byte
}

func (s *Store) accessLog(ctx context.Context, after, upto int64) ([]logRow, error) {
	const query = `
		SELECT n, account_id, timeline_id, kind, token_hash
		FROM access_log WHERE n > @after AND n <= @upto ORDER BY n`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"after": after, "upto": upto})
	if err != nil {
		return nil, fmt.Errorf("read access log: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[logRow])
	if err != nil {
		return nil, fmt.Errorf("read access log: %w", err)
	}
	return found, nil
}

func (s *Store) session(ctx context.Context, session Session) (cachedSession, error) {
	const query = `SELECT account_id, expires_at FROM sessions WHERE token_hash = @hash AND expires_at > now()`
	var c cachedSession
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"hash": session[:]}).Scan(&c.accountID, &c.expiresAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, ErrSignedOut
	}
	if err != nil {
		return c, fmt.Errorf("read session: %w", err)
	}
	return c, nil
}

func (s *Store) loadSets(ctx context.Context, accountID int64) (*Sets, error) {
	// One statement, so one snapshot.
	const query = `
		SELECT
			ARRAY(SELECT account_id FROM subscriptions WHERE subscriber_id = @viewer),
			ARRAY(SELECT account_id FROM subscriptions WHERE subscriber_id = @viewer AND NOT in_home),
			(SELECT coalesce(jsonb_agg(jsonb_build_object('id', l.id, 'slug', l.slug, 'title', l.title,
					'members', ARRAY(SELECT m.account_id FROM list_members m WHERE m.list_id = l.id ORDER BY 1))
				ORDER BY l.title, l.id), '[]') FROM lists l WHERE l.account_id = @viewer),
			coalesce((SELECT friends_only FROM accounts WHERE id = @viewer), false),
			ARRAY(SELECT timeline_id FROM readers WHERE account_id = @viewer),
			ARRAY(SELECT timeline_id FROM excluded WHERE account_id = @viewer),
			ARRAY(SELECT group_id FROM group_admins WHERE account_id = @viewer)`
	var follows, apart, readable, excluded, administers []int64
	var lists []List
	var friendsOnly bool
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": accountID}).
		Scan(&follows, &apart, &lists, &friendsOnly, &readable, &excluded, &administers)
	if err != nil {
		return nil, fmt.Errorf("load access sets: %w", err)
	}
	return &Sets{
		AccountID:   accountID,
		Follows:     setOf(follows),
		Apart:       setOf(apart),
		Lists:       lists,
		FriendsOnly: friendsOnly,
		Readable:    setOf(readable),
		Excluded:    setOf(excluded),
		Administers: setOf(administers),
	}, nil
}

func setOf(ids []int64) map[int64]struct{} {
	m := make(map[int64]struct{}, len(ids))
	for _, id := range ids {
		m[id] = struct{}{}
	}
	return m
}

type gateRow struct {
	Timeline
	Access Level
}

func (s *Store) loadGates(ctx context.Context, ids []int64) ([]gateRow, error) {
	const query = `
		SELECT t.id, t.kind, t.their_id, t.term, coalesce(t.gate_id, 0) AS gate_id, coalesce(g.access, 0::smallint) AS access
		FROM timelines t LEFT JOIN timelines g ON g.id = t.gate_id
		WHERE t.id = ANY(@ids)`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"ids": ids})
	if err != nil {
		return nil, fmt.Errorf("load timelines: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[gateRow])
	if err != nil {
		return nil, fmt.Errorf("load timelines: %w", err)
	}
	return found, nil
}

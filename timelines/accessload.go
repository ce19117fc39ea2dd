package timelines

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
			ARRAY(SELECT group_id FROM group_admins WHERE account_id = @viewer),
			ARRAY(SELECT group_id FROM group_blocks WHERE account_id = @viewer),
			ARRAY(SELECT banned_id FROM bans WHERE account_id = @viewer),
			ARRAY(SELECT account_id FROM bans WHERE banned_id = @viewer),
			ARRAY(SELECT group_id FROM show_banned WHERE account_id = @viewer),
			ARRAY(SELECT post_id FROM hidden_posts WHERE account_id = @viewer),
			ARRAY(SELECT hidden_id FROM hidden_accounts WHERE account_id = @viewer),
			ARRAY(SELECT term FROM hidden_terms WHERE account_id = @viewer ORDER BY term)`
	var follows, outOfHome, readable, excluded, administers, blockedBy, bans, bannedBy, showBanned, posts, accounts []int64
	var lists []List
	var friendsOnly bool
	var terms []string
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": accountID}).Scan(
		&follows, &outOfHome, &lists, &friendsOnly, &readable, &excluded, &administers, &blockedBy,
		&bans, &bannedBy, &showBanned, &posts, &accounts, &terms)
	if err != nil {
		return nil, fmt.Errorf("load access sets: %w", err)
	}
	sets := &Sets{
		AccountID:   accountID,
		Follows:     setOf(follows),
		OutOfHome:   setOf(outOfHome),
		Lists:       lists,
		FriendsOnly: friendsOnly,
		Readable:    setOf(readable),
		Excluded:    setOf(excluded),
		Administers: setOf(administers),
		BlockedBy:   setOf(blockedBy),
		Bans:        setOf(bans),
		BannedBy:    setOf(bannedBy),
		ShowBanned:  setOf(showBanned),
		Hides:       Hides{Posts: setOf(posts), Accounts: setOf(accounts)},
	}
	for _, t := range terms {
		sets.Hides.Terms = append(sets.Hides.Terms, strings.Fields(t))
	}
	return sets.see(), nil
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

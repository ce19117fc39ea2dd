// Package signins says to people where they are signed in, and tells them of a sign-in, a new
// password or an app token that may not be their doing. App tokens are sessions too (package tokens), and
// are in none of its lists.
//
// An event stands in account_events until its person has seen it. Access sets have the newest one
// (access.Sets.Event), so that pages tell of it without a statement of their own.
package signins

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/mileusna/useragent"

	"riverrun/timelines"
)

// Store has the sessions of people. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the sessions of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Session is a browser that is signed in.
type Session struct {
	// ID names it. It is no secret: nobody can sign in with it.
	ID     string
	Here   bool // it is the viewer's own
	Device string
	Since  time.Time
	Used   time.Time // to within an hour
}

// Kinds of events.
const (
	SignIn       = "signin"
	Password     = "password"
	TokenMade    = "token"
	TokenRevoked = "token_revoked"
)

// maxDevice is the longest device, in bytes.
const maxDevice = 200

// Device returns browser and system as a browser names them in a User-Agent header, "" if it
// names none.
func Device(header string) string {
	a := useragent.Parse(strings.ToValidUTF8(header, ""))
	device := a.Name
	if a.OS != "" {
		device += ", " + a.OS
	}
	if a.Name == "" || len(device) > maxDevice {
		return ""
	}
	return device
}

// Begun notes the device of a session that has just begun, and tells the person's other sessions.
func (s *Store) Begun(ctx context.Context, v timelines.Viewer, device string) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: v.AccountID}
		// The first session of an account has nobody to tell. The first one after a new password is taken
		// for that of the person who chose it.
		const query = `
			WITH begun AS (
				UPDATE sessions SET device = @device WHERE token_hash = @session AND account_id = @account
			), own AS (
				UPDATE account_events SET token_hash = @session WHERE account_id = @account AND kind = 'password' AND token_hash IS NULL
			)
			INSERT INTO account_events (account_id, at, kind, device, token_hash)
			SELECT @account, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, 'signin', @device, @session
			WHERE EXISTS (SELECT FROM sessions s WHERE account_id = @account AND token_hash <> @session AND ` + ofBrowser + `)
			ON CONFLICT DO NOTHING`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": v.AccountID, "session": v.Session[:], "device": device})
		if err != nil {
			return c, nil, fmt.Errorf("note a sign-in: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return c, nil, nil
		}
		return c, []timelines.Invalidation{{Kind: timelines.InvalidSets, AccountID: v.AccountID}}, nil
	})
}

// ofBrowser is true for a row s of sessions that is no app token.
const ofBrowser = `NOT EXISTS (SELECT FROM app_tokens t WHERE t.token_hash = s.token_hash)`

// TellTx tells the viewer's other sessions that the viewer made or revoked an app token of that name. It
// returns what nodes must drop.
func TellTx(ctx context.Context, tx pgx.Tx, v timelines.Viewer, kind, name string) (timelines.Invalidation, error) {
	const query = `
		INSERT INTO account_events (account_id, at, kind, device, token_hash)
		VALUES (@account, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, @kind, @name, @session)
		ON CONFLICT DO NOTHING`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"account": v.AccountID, "kind": kind, "name": name, "session": v.Session[:]})
	if err != nil {
		return timelines.Invalidation{}, fmt.Errorf("tell of an app token: %w", err)
	}
	return timelines.Invalidation{Kind: timelines.InvalidSets, AccountID: v.AccountID}, nil
}

// List returns the viewer's sessions, those used last first.
func (s *Store) List(ctx context.Context, v timelines.Viewer) ([]Session, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT encode(token_hash, 'hex') AS id, token_hash = @session AS here, device, created_at AS since, used_at AS used
		FROM sessions s WHERE account_id = @account AND expires_at > now() AND `+ofBrowser+`
		ORDER BY token_hash = @session DESC, used_at DESC, token_hash`,
		pgx.StrictNamedArgs{"account": v.AccountID, "session": v.Session[:]})
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Session])
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	return list, nil
}

// End ends the viewer's session of that id, or all but the viewer's present one if the id is empty.
// timelines.ErrNotFound if no session has ever had such an id. A session that ended before stays
// so. App tokens end with all others.
func (s *Store) End(ctx context.Context, v timelines.Viewer, id string) (timelines.Change, error) {
	hash, err := hex.DecodeString(id)
	if err != nil || id != "" && len(hash) != len(v.Session) {
		return timelines.Change{}, timelines.ErrNotFound
	}
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: v.AccountID}
		rows, err := tx.Query(ctx, `
			DELETE FROM sessions
			WHERE account_id = @account AND CASE WHEN @all THEN token_hash <> @session ELSE token_hash = @hash END
			RETURNING token_hash`,
			pgx.StrictNamedArgs{"account": v.AccountID, "all": id == "", "session": v.Session[:], "hash": hash})
		if err != nil {
			return c, nil, fmt.Errorf("end sessions: %w", err)
		}
		drop, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (timelines.Invalidation, error) {
			ended := timelines.Invalidation{Kind: timelines.InvalidSession, AccountID: v.AccountID}
			return ended, row.Scan(&ended.TokenHash)
		})
		if err != nil {
			return c, nil, fmt.Errorf("end sessions: %w", err)
		}
		// Their beginning need not be told any more. An app token that such a session made is still there.
		tag, err := tx.Exec(ctx, `
			DELETE FROM account_events WHERE account_id = @account AND (@all OR token_hash = @hash AND kind = 'signin')`,
			pgx.StrictNamedArgs{"account": v.AccountID, "all": id == "", "hash": hash})
		if err != nil {
			return c, nil, fmt.Errorf("end sessions: %w", err)
		}
		if tag.RowsAffected() > 0 {
			drop = append(drop, timelines.Invalidation{Kind: timelines.InvalidSets, AccountID: v.AccountID})
		}
		return c, drop, nil
	})
}

// Seen notes that a person has seen what happened to the account up to now, but for what the session
// that says so did itself: the other sessions have to hear of that.
func (s *Store) Seen(ctx context.Context, v timelines.Viewer) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (timelines.Change, []timelines.Invalidation, error) {
		c := timelines.Change{Actor: v.AccountID}
		tag, err := tx.Exec(ctx, `
			DELETE FROM account_events WHERE account_id = @account AND token_hash IS DISTINCT FROM @session`,
			pgx.StrictNamedArgs{"account": v.AccountID, "session": v.Session[:]})
		if err != nil {
			return c, nil, fmt.Errorf("note what was seen: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return c, nil, nil
		}
		return c, []timelines.Invalidation{{Kind: timelines.InvalidSets, AccountID: v.AccountID}}, nil
	})
}

// Used notes when sessions were used, those of app tokens too. A session that ended is left out.
func (s *Store) Used(ctx context.Context, used map[timelines.Session]time.Time) error {
	hashes, at := make([][]byte, 0, len(used)), make([]time.Time, 0, len(used))
	for session, when := range used {
		hashes, at = append(hashes, session[:]), append(at, when)
	}
	// In the order of keys, or two nodes might wait for each other.
	const query = `
		WITH locked AS (
			SELECT s.token_hash, u.at FROM unnest(@hashes::bytea[], @at::timestamptz[]) u (hash, at)
			JOIN sessions s ON s.token_hash = u.hash
			ORDER BY s.token_hash FOR NO KEY UPDATE OF s
		), tokens AS (
			UPDATE app_tokens t SET used_at = greatest(t.used_at, l.at) FROM locked l WHERE t.token_hash = l.token_hash
		)
		UPDATE sessions s SET used_at = greatest(s.used_at, l.at) FROM locked l WHERE s.token_hash = l.token_hash`
	if _, err := s.timelines.Pool().Exec(ctx, query, pgx.StrictNamedArgs{"hashes": hashes, "at": at}); err != nil {
		return fmt.Errorf("note the use of sessions: %w", err)
	}
	return nil
}

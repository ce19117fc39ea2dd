package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/rules"
)

const (
	// Most is how many webhooks an account may have.
	Most = 10
	// MaxLines is how many changes one delivery covers, and AnswerIn how long an address has at least to answer it.
	MaxLines = 100
	AnswerIn = 8 * time.Second
	// maxURL is the longest address, in bytes.
	maxURL = 2048

	secretPrefix = "rrwh_"
	secretBytes  = 32
)

// The states.
const (
	Active  = "active"
	Stopped = "stopped"
)

// Store has the webhooks. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the webhooks of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Sign returns the signature of a body that is sent at that time, in seconds: HMAC-SHA256 over "time.body".
func Sign(secret string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strconv.FormatInt(at, 10) + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// New is a webhook to be made.
type New struct {
	URL string
	// WholeSite: it gets everything on the site. For administrators.
	WholeSite bool
}

// checkURL checks that an address can be one of the web. Whether this site may connect to it, which it may to public ones alone, is
// decided when it does (package fetch).
func checkURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, !rules.Storable(address), len(address) > maxURL, u.Hostname() == "", u.User != nil, u.Scheme != "http" && u.Scheme != "https":
		return &timelines.InvalidError{Field: "url", Code: "hook_url"}
	}
	return nil
}

// Create makes a webhook of the viewer, whose password the caller has checked, and returns its secret, which is shown once. It begins
// at the end of the log. timelines.ErrSignedOut if the viewer's session has ended, timelines.ErrForbidden if
// it is to get the whole site and the viewer is no administrator, an InvalidError "hooks_many" if the account has Most.
func (s *Store) Create(ctx context.Context, v timelines.Viewer, n New) (secret string, err error) {
	n.URL = strings.TrimSpace(n.URL)
	if err := checkURL(n.URL); err != nil {
		return "", err
	}
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	secret = secretPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	err = pgx.BeginFunc(ctx, s.timelines.Pool(), func(tx pgx.Tx) error {
		if n.WholeSite { // before the account, as all of package admin does
			if _, err := admin.RequireTx(ctx, tx, admin.By{AccountID: v.AccountID}, admin.Administrator); err != nil {
				return err
			}
		}
		if err := timelines.HoldSessionTx(ctx, tx, v); err != nil {
			return err
		}
		const query = `
			INSERT INTO webhooks (account_id, seq, password_at, whole_site, url, secret)
			SELECT @account, h.seq, c.updated_at, @whole_site, @url, @secret FROM changes_head h, credentials c
			WHERE c.account_id = @account AND (SELECT count(*) FROM webhooks WHERE account_id = @account) < @most`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
			"account": v.AccountID, "whole_site": n.WholeSite, "url": n.URL, "secret": secret, "most": Most,
		})
		if err != nil {
			return fmt.Errorf("make a webhook: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return &timelines.InvalidError{Code: "hooks_many", Most: Most}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Hook is a webhook as its owner sees it in the list.
type Hook struct {
	ID        int64
	URL       string
	WholeSite bool
	State     string
	// Failed is how many deliveries failed one after the other, Code and Status how the last of them did.
	Failed int
	Code   string
	Status int
	// Next is when it is tried again, if it failed.
	Next time.Time
	Made time.Time
	// Arrived is when a delivery arrived last; nil: none did yet.
	Arrived *time.Time
	// Behind is when the first change was made that it has not come to, and that is kept; nil: it has everything. The
	// owner may know nothing of that change.
	Behind *time.Time
}

// List returns the webhooks of an account, the newest first.
func (s *Store) List(ctx context.Context, account int64) ([]Hook, error) {
	// If nothing is kept of what is missing, it came after the last delivery.
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT w.id, w.url, w.whole_site, w.state, w.failed, w.last_error AS code, w.last_status AS status, w.next_at AS next,
			w.created_at AS made, w.arrived_at AS arrived, CASE WHEN w.seq <> h.seq THEN coalesce(
				(SELECT c.made_at FROM changes c WHERE c.seq > w.seq ORDER BY c.seq LIMIT 1), w.arrived_at, w.created_at) END AS behind
		FROM webhooks w, changes_head h WHERE w.account_id = @account ORDER BY w.id DESC`, pgx.StrictNamedArgs{"account": account})
	var list []Hook
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByName[Hook])
	}
	if err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	return list, nil
}

// Delete removes a webhook of an account. That of somebody else stays as it is.
func (s *Store) Delete(ctx context.Context, account, id int64) error {
	_, err := s.timelines.Pool().Exec(ctx, `DELETE FROM webhooks WHERE id = @id AND account_id = @account`,
		pgx.StrictNamedArgs{"id": id, "account": account})
	if err != nil {
		return fmt.Errorf("remove a webhook: %w", err)
	}
	return nil
}

// Again has a webhook of the viewer sent now, from where it stands. timelines.ErrSignedOut if the viewer's session has ended,
// timelines.ErrNotFound if the viewer has no such webhook.
func (s *Store) Again(ctx context.Context, v timelines.Viewer, id int64) error {
	return pgx.BeginFunc(ctx, s.timelines.Pool(), func(tx pgx.Tx) error {
		if err := timelines.HoldSessionTx(ctx, tx, v); err != nil {
			return err
		}
		// A turn that is under way settles nothing.
		const query = `
			UPDATE webhooks w SET state = 'active', failed = 0, next_at = now(), password_at = c.updated_at, claim = w.claim + 1
			FROM credentials c WHERE w.id = @id AND w.account_id = @account AND c.account_id = w.account_id`
		tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{"id": id, "account": v.AccountID})
		switch {
		case err != nil:
			return fmt.Errorf("have a webhook sent again: %w", err)
		case tag.RowsAffected() == 0:
			return timelines.ErrNotFound
		}
		return nil
	})
}

// Due is a webhook whose turn it is.
type Due struct {
	ID        int64
	AccountID int64
	Claim     int64
	Seq       int64
	WholeSite bool
	URL       string
	Secret    string
}

// Lease is how long a turn may take before another node takes the webhook.
const Lease = time.Minute

// take stops the webhooks of people who are not to read any more.
const take = `
	WITH due AS (
		SELECT w.id FROM webhooks w, changes_head h
		WHERE w.state = 'active' AND w.next_at <= now() AND w.seq <> h.seq
		ORDER BY w.next_at LIMIT @most FOR UPDATE OF w SKIP LOCKED
	), judged AS (
		SELECT d.id, CASE
			WHEN EXISTS (SELECT FROM suspensions x WHERE x.account_id = w.account_id AND coalesce(x.ends_at > now(), true))
				OR EXISTS (SELECT FROM leaving x WHERE x.account_id = w.account_id) THEN 'account'
			WHEN NOT EXISTS (SELECT FROM credentials c WHERE c.account_id = w.account_id AND c.updated_at = w.password_at) THEN 'password'
			ELSE '' END AS ends
		FROM due d JOIN webhooks w ON w.id = d.id
	), changed AS (
		UPDATE webhooks w SET claim = w.claim + 1, next_at = now() + make_interval(secs => @lease),
			state = CASE WHEN j.ends = '' THEN 'active' ELSE 'stopped' END,
			last_error = CASE WHEN j.ends = '' THEN w.last_error ELSE j.ends END,
			last_status = CASE WHEN j.ends = '' THEN w.last_status ELSE 0 END
		FROM judged j WHERE w.id = j.id RETURNING w.*
	)
	SELECT id, account_id, claim, seq, whole_site, url, secret FROM changed WHERE state = 'active' ORDER BY id`

// Take returns at most as many webhooks that are due, which no other node takes until they are settled, or for Lease.
func (s *Store) Take(ctx context.Context, most int) ([]Due, error) {
	rows, err := s.timelines.Pool().Query(ctx, take, pgx.StrictNamedArgs{"most": most, "lease": Lease.Seconds()})
	var due []Due
	if err == nil {
		due, err = pgx.CollectRows(rows, pgx.RowToStructByName[Due])
	}
	if err != nil {
		return nil, fmt.Errorf("take webhooks that are due: %w", err)
	}
	return due, nil
}

// ErrLost is returned for a turn that is not the webhook's present one: it was removed, sent again or taken by another node.
var ErrLost = errors.New("the turn of the webhook is over")

// Moved says that everything up to a number was sent. The turn goes on. arrived: there was something to send, and the address took it.
func (s *Store) Moved(ctx context.Context, d Due, seq int64, arrived bool) error {
	return s.settle(ctx, `
		UPDATE webhooks SET seq = @seq, failed = 0, last_error = '', last_status = 0,
			arrived_at = CASE WHEN @arrived THEN now() ELSE arrived_at END
		WHERE id = @id AND claim = @claim`,
		d, pgx.StrictNamedArgs{"seq": seq, "arrived": arrived})
}

// Pause is how long a webhook rests that has everything. Changes that come meanwhile are sent together.
const Pause = time.Second

// Done ends a turn in which nothing failed. more: there was no time to send everything.
func (s *Store) Done(ctx context.Context, d Due, more bool) error {
	rest := Pause
	if more {
		rest = 0
	}
	return s.settle(ctx, `
		UPDATE webhooks SET next_at = now() + make_interval(secs => @rest) WHERE id = @id AND claim = @claim`,
		d, pgx.StrictNamedArgs{"rest": rest.Seconds()})
}

// Waits are how long a webhook waits after the first failure in a row, the second and so on. After one more it is stopped.
var Waits = []time.Duration{
	10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
	24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
}

// Failure is how a delivery failed.
type Failure struct {
	Code   string // one of Codes
	Status int    // of the answer, if there was one
}

// Codes are how a delivery fails, and, as the last two, why a webhook is stopped besides.
var Codes = []string{"status", "address", "name", "connection", "secure", "late", "broken", "account", "password"}

// Failed ends a turn whose delivery failed. stopped: it was the last try.
func (s *Store) Failed(ctx context.Context, d Due, f Failure) (stopped bool, err error) {
	waits := make([]float64, len(Waits))
	for i, w := range Waits {
		waits[i] = w.Seconds()
	}
	const query = `
		UPDATE webhooks SET failed = failed + 1, last_error = @code, last_status = @status,
			state = CASE WHEN failed >= cardinality(@waits::float8[]) THEN 'stopped' ELSE 'active' END,
			next_at = now() + make_interval(secs => coalesce((@waits::float8[])[failed + 1], 0))
		WHERE id = @id AND claim = @claim
		RETURNING state = 'stopped'`
	err = s.timelines.Pool().QueryRow(ctx, query, pgx.StrictNamedArgs{
		"id": d.ID, "claim": d.Claim, "code": f.Code, "status": f.Status, "waits": waits,
	}).Scan(&stopped)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, ErrLost
	}
	if err != nil {
		return false, fmt.Errorf("note that webhook %d failed: %w", d.ID, err)
	}
	return stopped, nil
}

func (s *Store) settle(ctx context.Context, query string, d Due, args pgx.StrictNamedArgs) error {
	args["id"], args["claim"] = d.ID, d.Claim
	tag, err := s.timelines.Pool().Exec(ctx, query, args)
	if err != nil {
		return fmt.Errorf("settle webhook %d: %w", d.ID, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrLost
	}
	return nil
}

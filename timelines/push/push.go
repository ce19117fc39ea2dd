// Package push records the browsers that get a Web Push (RFC 8030) when something is new for the
// account that is signed in there. A push carries no text: the browser then asks the site what
// there is to show, as its own session may see it. So the text is decided when it is shown, and
// not when the push is sent.
package push

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/files"
)

// Most is how many browsers of one account get pushes. The browser that subscribed longest ago
// gives way.
const Most = 20

// Patience is how long pushes to a browser may fail until it is forgotten.
const Patience = 7 * 24 * time.Hour

// Lost is how long a job may wait until it is taken for lost, and another one is made. Two of them
// do no harm: the second finds nothing new.
const Lost = 10 * time.Minute

// ErrInvalid says that a subscription is not as browsers make them.
var ErrInvalid = errors.New("not a push subscription")

// Subscription is a browser that wants to be told.
type Subscription struct {
	ID int64
	// Endpoint is an address of the browser's maker. P256DH and Auth are the browser's keys, in
	// URL-safe base64.
	Endpoint, P256DH, Auth string
}

// check returns ErrInvalid for what no browser sends.
func (s Subscription) check() error {
	u, err := url.Parse(s.Endpoint)
	if err != nil || !utf8.ValidString(s.Endpoint) || strings.IndexByte(s.Endpoint, 0) >= 0 || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(s.Endpoint) > 2048 {
		return ErrInvalid
	}
	for _, key := range []struct {
		text string
		size int
	}{{s.P256DH, 65}, {s.Auth, 16}} {
		if b, err := base64.RawURLEncoding.DecodeString(key.text); err != nil || len(b) != key.size {
			return ErrInvalid
		}
	}
	return nil
}

// Keys are the site's key pair, in the form of webpush-go.
type Keys struct{ Public, Private string }

// SiteKeys returns the site's keys. If there are none yet, made are recorded, unless another node
// is quicker.
func SiteKeys(ctx context.Context, db files.DB, made func() (Keys, error)) (Keys, error) {
	var k Keys
	err := db.QueryRow(ctx, `SELECT public, private FROM push_keys`).Scan(&k.Public, &k.Private)
	if !errors.Is(err, pgx.ErrNoRows) {
		if err != nil {
			return Keys{}, fmt.Errorf("read push keys: %w", err)
		}
		return k, nil
	}
	if k, err = made(); err != nil {
		return Keys{}, fmt.Errorf("make push keys: %w", err)
	}
	const query = `
		INSERT INTO push_keys (public, private) VALUES (@public, @private)
		ON CONFLICT (id) DO UPDATE SET id = true
		RETURNING public, private`
	err = db.QueryRow(ctx, query, pgx.StrictNamedArgs{"public": k.Public, "private": k.Private}).Scan(&k.Public, &k.Private)
	if err != nil {
		return Keys{}, fmt.Errorf("record push keys: %w", err)
	}
	return k, nil
}

// Subscribe records a browser of an account's session. One that was subscribed for another
// account is now this one's.
func Subscribe(ctx context.Context, tx pgx.Tx, account int64, session []byte, s Subscription) error {
	if err := s.check(); err != nil {
		return err
	}
	const insert = `
		INSERT INTO push_subscriptions (account_id, session, endpoint, p256dh, auth)
		VALUES (@account, @session, @endpoint, @p256dh, @auth)
		ON CONFLICT (endpoint) DO UPDATE SET account_id = excluded.account_id, session = excluded.session,
			p256dh = excluded.p256dh, auth = excluded.auth, renewed_at = excluded.renewed_at, failed_at = NULL`
	const trim = `
		DELETE FROM push_subscriptions WHERE account_id = @account AND id NOT IN (
			SELECT id FROM push_subscriptions WHERE account_id = @account ORDER BY renewed_at DESC, id DESC LIMIT @most)`
	_, err := tx.Exec(ctx, insert, pgx.StrictNamedArgs{
		"account": account, "session": session, "endpoint": s.Endpoint, "p256dh": s.P256DH, "auth": s.Auth,
	})
	if err == nil {
		_, err = tx.Exec(ctx, trim, pgx.StrictNamedArgs{"account": account, "most": Most})
	}
	if err != nil {
		return fmt.Errorf("subscribe to pushes: %w", err)
	}
	return nil
}

// storable is a text that can be asked for; one that is changed is of no subscription.
func storable(endpoint string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(endpoint, "\x00", ""), "")
}

// Unsubscribe forgets a browser of an account.
func Unsubscribe(ctx context.Context, db files.DB, account int64, endpoint string) error {
	const query = `DELETE FROM push_subscriptions WHERE account_id = @account AND endpoint = @endpoint`
	if _, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"account": account, "endpoint": storable(endpoint)}); err != nil {
		return fmt.Errorf("unsubscribe from pushes: %w", err)
	}
	return nil
}

// Has reports whether the browser is told for this session of the account.
func Has(ctx context.Context, db files.DB, account int64, session []byte, endpoint string) (has bool, err error) {
	const query = `
		SELECT EXISTS (SELECT FROM push_subscriptions WHERE account_id = @account AND session = @session AND endpoint = @endpoint)`
	err = db.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "session": session, "endpoint": storable(endpoint)}).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("read push subscriptions: %w", err)
	}
	return has, nil
}

// Answers are the answers of the browsers' makers to one push: the ids of subscriptions.
type Answers struct {
	// Sent were taken, Failed were not, and Over are subscriptions that have ended.
	Sent, Failed, Over []int64
}

// Answered forgets subscriptions that have ended, and those that have failed for Patience without
// one success.
func Answered(ctx context.Context, db files.DB, a Answers) error {
	const query = `
		WITH gone AS (
			DELETE FROM push_subscriptions
			WHERE id = ANY(@over) OR id = ANY(@failed) AND failed_at < now() - @patience::interval
		)
		UPDATE push_subscriptions SET failed_at = CASE WHEN id = ANY(@failed) THEN now() END
		WHERE id = ANY(@failed) AND failed_at IS NULL OR id = ANY(@sent) AND failed_at IS NOT NULL`
	_, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"sent": a.Sent, "failed": a.Failed, "over": a.Over, "patience": Patience})
	if err != nil {
		return fmt.Errorf("note answers to pushes: %w", err)
	}
	return nil
}

// Any reports whether one of these accounts wants pushes.
func Any(ctx context.Context, db files.DB, accounts []int64) (is bool, err error) {
	const query = `SELECT EXISTS (SELECT FROM push_subscriptions WHERE account_id = ANY(@accounts))`
	if err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"accounts": accounts}).Scan(&is); err != nil {
		return false, fmt.Errorf("ask who wants pushes: %w", err)
	}
	return is, nil
}

// Want notes that something is new for these accounts, and returns those for which a job is to be
// made: they have browsers to tell, and none waits for them yet.
func Want(ctx context.Context, tx pgx.Tx, accounts []int64) ([]int64, error) {
	const query = `
		INSERT INTO push_due AS d (account_id, waits_since)
		SELECT DISTINCT account_id, now() FROM push_subscriptions WHERE account_id = ANY(@accounts) ORDER BY account_id
		ON CONFLICT (account_id) DO UPDATE SET waits_since = excluded.waits_since
		WHERE d.waits_since IS NULL OR d.waits_since < excluded.waits_since - @lost::interval
		RETURNING account_id`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"accounts": accounts, "lost": Lost})
	if err != nil {
		return nil, fmt.Errorf("want pushes: %w", err)
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("want pushes: %w", err)
	}
	return due, nil
}

// Take begins the push for an account. It returns its browsers whose sign-in has not expired, and
// the latest event that they were told of. Events from now on belong to another push.
func Take(ctx context.Context, db files.DB, account int64) (list []Subscription, told int64, err error) {
	const query = `
		WITH taken AS (UPDATE push_due SET waits_since = NULL WHERE account_id = @account RETURNING told)
		SELECT p.id, p.endpoint, p.p256dh, p.auth, coalesce((SELECT told FROM taken), 0)
		FROM push_subscriptions p JOIN sessions s ON s.token_hash = p.session
		WHERE p.account_id = @account AND s.expires_at > now() ORDER BY p.id`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return nil, 0, fmt.Errorf("take pushes: %w", err)
	}
	var s Subscription
	_, err = pgx.ForEachRow(rows, []any{&s.ID, &s.Endpoint, &s.P256DH, &s.Auth, &told}, func() error {
		list = append(list, s)
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("take pushes: %w", err)
	}
	return list, told, nil
}

// Told notes the latest event that browsers of the account were told of.
func Told(ctx context.Context, db files.DB, account, at int64) error {
	const query = `UPDATE push_due SET told = greatest(told, @at) WHERE account_id = @account`
	if _, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"account": account, "at": at}); err != nil {
		return fmt.Errorf("note a push: %w", err)
	}
	return nil
}

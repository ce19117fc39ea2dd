package sources

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/sources/formats"
)

// A hub (WebSub) tells this site that a feed has something new, so that the feed is fetched at once.
// The message is only a hint: the feed itself is fetched from its own address. So nobody need trust a
// hub. A hub that fails costs only time: the source is fetched as often as a source without a hub.

const (
	// AskedLease is how long a hub is asked to send hints. The hub is asked again when four fifths of
	// the time that it grants are over.
	AskedLease = 10 * 24 * time.Hour
	leastLease = time.Hour
	mostLease  = 30 * 24 * time.Hour
	// hintGap is how long a source is left alone after a fetch, whatever its hub says.
	hintGap = 30 * time.Second
)

// Subscription is what a hub is asked for.
type Subscription struct {
	// Code is the code of the source. Secret is part of the address that the hub calls, so that only
	// the hub knows the address.
	Code, Secret string
	Hub, Topic   string
}

// Hub stores which hub the file of a load names, if any. A new hub is asked soon. If the file names
// no hub any more, the messages of the former hub are ignored from now on. This holds for links only,
// and not for dry loads. It returns ErrStale as Apply does.
func (w *Work) Hub(ctx context.Context, l *Load, feed formats.Feed) error {
	if l.Dry || l.Way != Link {
		return nil
	}
	_, err := inTx(ctx, w.conn, func(tx pgx.Tx) (struct{}, error) {
		if _, _, err := w.locked(ctx, tx, l); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, w.hub(ctx, tx, l, feed)
	})
	return err
}

func (w *Work) hub(ctx context.Context, tx pgx.Tx, l *Load, feed formats.Feed) error {
	if feed.Hub == "" {
		if _, err := tx.Exec(ctx, `DELETE FROM source_hubs WHERE source_id = @source`, pgx.StrictNamedArgs{"source": w.source}); err != nil {
			return fmt.Errorf("forget a hub: %w", err)
		}
		return nil
	}
	topic := feed.Self
	if topic == "" {
		topic = l.Base
	}
	var random [24]byte
	if _, err := rand.Read(random[:]); err != nil {
		return fmt.Errorf("make a secret: %w", err)
	}
	// A new hub gets a new address to call: the former hub knows the old one.
	const query = `
		INSERT INTO source_hubs AS h (source_id, hub, topic, secret) VALUES (@source, @hub, @topic, @secret)
		ON CONFLICT (source_id) DO UPDATE SET hub = EXCLUDED.hub, topic = EXCLUDED.topic, secret = EXCLUDED.secret,
			next_at = now(), asked_at = NULL, until = NULL, failures = 0
		WHERE (h.hub, h.topic) <> (EXCLUDED.hub, EXCLUDED.topic)`
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"source": w.source, "hub": feed.Hub, "topic": topic, "secret": base64.RawURLEncoding.EncodeToString(random[:]),
	})
	if err != nil {
		return fmt.Errorf("note a hub: %w", err)
	}
	return nil
}

// ClaimHubs returns up to limit sources whose hubs are to be asked, and leaves each to the caller for
// some minutes.
func (s *Store) ClaimHubs(ctx context.Context, limit int) ([]int64, error) {
	const query = `
		WITH due AS MATERIALIZED (
			SELECT h.source_id FROM source_hubs h JOIN sources s ON s.id = h.source_id
			WHERE h.next_at <= now() AND s.status = 'active' ORDER BY h.next_at LIMIT @limit FOR NO KEY UPDATE OF h SKIP LOCKED
		)
		UPDATE source_hubs h SET next_at = now() + @claimed FROM due WHERE h.source_id = due.source_id RETURNING h.source_id`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"limit": limit, "claimed": claimedFor})
	if err == nil {
		var ids []int64
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("claim hubs: %w", err)
}

// AskHub stores that the hub of a source is being asked, and returns what to ask for. If the hub does
// not confirm, it is asked again, after longer and longer times. chance is a random number in [0, 1).
// AskHub returns ErrNotFound if there is no hub, or if the source is not active.
func (s *Store) AskHub(ctx context.Context, source int64, chance float64) (Subscription, error) {
	return inTx(ctx, s.pool, func(tx pgx.Tx) (Subscription, error) {
		var a Subscription
		var failures int
		const query = `
			UPDATE source_hubs h SET asked_at = now(), failures = h.failures + 1 FROM sources s
			WHERE s.id = h.source_id AND h.source_id = @source AND s.status = 'active'
			RETURNING s.code, h.secret, h.hub, h.topic, h.failures`
		err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": source}).Scan(&a.Code, &a.Secret, &a.Hub, &a.Topic, &failures)
		if errors.Is(err, pgx.ErrNoRows) {
			return a, ErrNotFound
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE source_hubs SET next_at = now() + @after WHERE source_id = @source`,
				pgx.StrictNamedArgs{"source": source, "after": Backoff(failures, chance)})
		}
		if err != nil {
			return a, fmt.Errorf("ask a hub: %w", err)
		}
		return a, nil
	})
}

// HubConfirms stores that a hub sends hints for the time of lease, 0 if it does not say, and reports
// whether that was asked for. Only the hub of a source knows the source's secret.
func (s *Store) HubConfirms(ctx context.Context, code, secret, topic string, lease time.Duration) (bool, error) {
	if lease <= 0 {
		lease = AskedLease
	}
	lease = min(max(lease, leastLease), mostLease)
	const query = `
		UPDATE source_hubs h SET until = now() + @lease, next_at = now() + @renew, failures = 0 FROM sources s
		WHERE s.id = h.source_id AND s.code = @code AND s.status = 'active' AND h.secret = @secret AND h.topic = @topic
			AND h.asked_at > now() - interval '1 day'`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{
		"code": code, "secret": secret, "topic": topic, "lease": lease, "renew": lease / 5 * 4,
	})
	if err != nil {
		return false, fmt.Errorf("confirm a hub: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// HubDenies stores that a hub refuses to send hints, and reports whether that hub was asked. It is
// asked again in a week.
func (s *Store) HubDenies(ctx context.Context, code, secret string) (bool, error) {
	const query = `
		UPDATE source_hubs h SET until = NULL, next_at = now() + @after FROM sources s
		WHERE s.id = h.source_id AND s.code = @code AND h.secret = @secret`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"code": code, "secret": secret, "after": latest})
	if err != nil {
		return false, fmt.Errorf("note that a hub denies: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

// HubTells makes a source due, because its hub says that something is new. It reports whether there
// is such a source. A source becomes due this way at most every half minute.
func (s *Store) HubTells(ctx context.Context, code, secret string) (bool, error) {
	const query = `
		WITH told AS MATERIALIZED (
			SELECT s.id FROM sources s JOIN source_hubs h ON h.source_id = s.id
			WHERE s.code = @code AND s.status <> 'removing' AND h.secret = @secret
		), due AS (
			UPDATE sources s SET next_at = least(next_at, greatest(now(), fetched_at + @gap)) FROM told
			WHERE s.id = told.id AND s.status = 'active' AND s.way = 'link'
		)
		SELECT EXISTS (SELECT FROM told)`
	var known bool
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "secret": secret, "gap": hintGap}).Scan(&known)
	if err != nil {
		return false, fmt.Errorf("hear a hub: %w", err)
	}
	return known, nil
}

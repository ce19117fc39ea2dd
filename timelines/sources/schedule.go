package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/markup"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/hosts"
)

// Problem is a stable code that says why a source cannot be fetched. A load that fails has the codes
// of package formats.
type Problem string

// The problems of links.
const (
	AddressInvalid   Problem = "address_invalid"   // not an address that can be fetched, or a redirect to one
	AddressForbidden Problem = "address_forbidden" // not a public address
	NameUnknown      Problem = "name_unknown"      // the name of the host cannot be looked up
	NotReached       Problem = "not_reached"       // nobody listens there
	ProxyFailed      Problem = "proxy_failed"      // the proxy of this site makes no connection
	NotSecure        Problem = "not_secure"        // TLS fails, or a redirect leads from https to http
	TimedOut         Problem = "timed_out"
	Redirects        Problem = "redirects"    // too many
	FileTooLarge     Problem = "too_large"    // as formats.TooLarge
	BadEncoding      Problem = "bad_encoding" // compressed in another way than by gzip
	BadAnswer        Problem = "bad_answer"   // no valid HTTP, or it broke off
	NoFeed           Problem = "page"         // a page, and it names no feed: as formats.Page
	URLTaken         Problem = "url_taken"    // the page names a feed that is another source of the same owner already
	Unauthorized     Problem = "unauthorized" // 401
	Denied           Problem = "denied"       // 403
	NotFound         Problem = "not_found"    // 404
	Gone             Problem = "gone"         // 410: the source is paused
	TooOften         Problem = "too_often"    // 429; of a preview: its host asked for a longer pause than it waits
	ServerFails      Problem = "server_fails" // 5xx
	BadStatus        Problem = "bad_status"   // any other that is no success
)

// Problems are all problems of links.
var Problems = []Problem{
	AddressInvalid, AddressForbidden, NameUnknown, NotReached, ProxyFailed, NotSecure, TimedOut, Redirects, FileTooLarge, BadEncoding,
	BadAnswer, NoFeed, URLTaken, Unauthorized, Denied, NotFound, Gone, TooOften, ServerFails, BadStatus,
}

// OfFetch reports whether a code is a problem of a link, and not of a load.
func (p Problem) OfFetch() bool { return slices.Contains(Problems, p) }

// The times at which sources are fetched.
const (
	usually  = 30 * time.Minute
	latest   = 7 * 24 * time.Hour
	firstTry = 15 * time.Minute
	// claimedFor is how long a claimed source is left to the node that claimed it. A node fetches all
	// that it claims in less time.
	claimedFor = 15 * time.Minute
	// HostGap is how long a host is left alone after a request whose outcome is unknown.
	HostGap = time.Second
	// ShortGap is how long a host is left alone that answers quickly. LongGap is the time for a host
	// that answers slowly, or wrong, or asks for a pause.
	ShortGap = 200 * time.Millisecond
	LongGap  = 5 * time.Second
	// HostLease is how long a host is left alone if a node dies while asking it. A request that takes
	// longer does not keep other requests from the host.
	HostLease = hosts.Lease
)

// Backoff returns how long to wait after this number of failures before a source is fetched again. It
// is a random time from 15 minutes to a bound that doubles each time, up to 7 days. A source is never
// given up (F10). chance is a random number in [0, 1).
func Backoff(failures int, chance float64) time.Duration {
	bound := firstTry
	for range failures {
		if bound *= 2; bound >= latest {
			bound = latest
			break
		}
	}
	return firstTry + time.Duration(chance*float64(bound-firstTry))
}

// Period returns how long to wait after a success before a source is fetched again: 30 minutes, or
// longer if the feed or its server asks for more, between Soonest and 7 days. Up to a tenth is added,
// so that sources that were fetched together once do not stay together for ever.
func (l Limits) Period(chance float64, asked ...time.Duration) time.Duration {
	after := slices.Max(append(asked, 0))
	if after == 0 {
		after = usually
	}
	return spread(min(max(after, l.Soonest), latest), chance)
}

// spread adds up to a tenth, but never goes beyond 7 days.
func spread(after time.Duration, chance float64) time.Duration {
	return min(after+time.Duration(chance*float64(after)/10), latest)
}

// GapAfter returns how long a host is left alone after an answer that took this long: just as long,
// between ShortGap and LongGap. A host is troubled if it failed or asked for a pause.
func GapAfter(took time.Duration, troubled bool) time.Duration {
	if troubled {
		return LongGap
	}
	return min(max(took, ShortGap), LongGap)
}

// Claim returns the ids of sources that are due, beginning with the source that has been due for
// longest. It leaves each to the caller for some minutes: another call, on whatever node, does not
// return it (F10). It returns one source of each host, and none of a host that is being asked. The node
// that asks the host goes on with the others (ClaimNext), or a later call finds them.
func (s *Store) Claim(ctx context.Context, limit int) ([]int64, error) {
	rows, err := s.pool.Query(ctx, claim, pgx.StrictNamedArgs{"limit": limit, "claimed": claimedFor, "lease": HostLease})
	if err == nil {
		var ids []int64
		if ids, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
			return ids, nil
		}
	}
	return nil, fmt.Errorf("claim sources: %w", err)
}

// The source that has been due for longest of its host is found by the index of hosts, and the node
// that cannot lock it leaves the whole host out.
const claim = `
	WITH due AS MATERIALIZED (
		SELECT id, next_at AS at FROM sources s WHERE status = 'active' AND next_at <= now() AND way = 'link'
			AND NOT EXISTS (SELECT FROM fetch_hosts h WHERE h.host = s.host AND h.next_at > now() AND h.next_at <= now() + @lease)
			AND (s.host = '' OR s.id = (
				SELECT o.id FROM sources o WHERE o.host = s.host AND o.status = 'active' AND o.way = 'link' AND o.next_at <= now()
				ORDER BY o.next_at LIMIT 1))
		ORDER BY next_at LIMIT @limit FOR NO KEY UPDATE OF s SKIP LOCKED
	), claimed AS (
		UPDATE sources s SET next_at = now() + @claimed, claimed_at = now() FROM due WHERE s.id = due.id
	)
	SELECT id FROM due ORDER BY at, id`

// ClaimNext claims one more source with the same host as a source that was fetched, and takes the
// source that has been due for longest. It also returns how long the host is still left alone. It
// returns 0 if no source is due, or if the host is left alone for longer than HostGap.
func (s *Store) ClaimNext(ctx context.Context, source int64) (next int64, wait time.Duration, err error) {
	const query = `
		WITH asked AS (
			SELECT h.host, h.next_at FROM sources s JOIN fetch_hosts h ON h.host = s.host
			WHERE s.id = @source AND h.next_at <= clock_timestamp() + @most
		), claimed AS (
			UPDATE sources SET next_at = now() + @claimed, claimed_at = now() WHERE id = (
				SELECT id FROM sources WHERE host = (SELECT host FROM asked) AND status = 'active' AND way = 'link' AND next_at <= now()
				ORDER BY next_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING id
		)
		SELECT claimed.id, greatest(0, (extract(epoch FROM asked.next_at - clock_timestamp()) * 1000000)::bigint) FROM claimed, asked`
	var left int64
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": source, "most": HostGap, "claimed": claimedFor}).Scan(&next, &left)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, fmt.Errorf("claim the next source of a host: %w", err)
	}
	return next, time.Duration(left) * time.Microsecond, nil
}

// Again makes a claimed source due after a time, because it could not be fetched now.
func (s *Store) Again(ctx context.Context, source int64, after time.Duration) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE sources SET next_at = least(next_at, now() + @after), claimed_at = NULL WHERE id = @source AND status = 'active' AND way = 'link'`,
		pgx.StrictNamedArgs{"source": source, "after": after})
	if err != nil {
		return fmt.Errorf("postpone a source: %w", err)
	}
	return nil
}

// ExpireHosts forgets hosts that nobody asked for a day, at most limit.
func (s *Store) ExpireHosts(ctx context.Context, limit int) (int64, error) {
	const query = `
		DELETE FROM fetch_hosts WHERE host = ANY(ARRAY(
			SELECT host FROM fetch_hosts WHERE next_at < now() - interval '1 day' ORDER BY next_at LIMIT @limit FOR UPDATE SKIP LOCKED))`
	tag, err := s.pool.Exec(ctx, query, pgx.StrictNamedArgs{"limit": limit})
	if err != nil {
		return 0, fmt.Errorf("forget hosts: %w", err)
	}
	return tag.RowsAffected(), nil
}

// Fetching is the right to fetch one source, which one process has at a time (F11). It is an advisory
// lock on a connection, and everything is written through that connection. It is not the lock of
// Work: a source is fetched while its loads are worked. It is not safe for concurrent use.
type Fetching struct {
	store *Store
	held
}

// Fetching takes the right, or returns ErrBusy. The caller closes it.
func (s *Store) Fetching(ctx context.Context, source int64) (*Fetching, error) {
	h, err := s.lock(ctx, fetchLocks, source)
	if err != nil {
		return nil, err
	}
	return &Fetching{store: s, held: h}, nil
}

// Close gives the right back, even if ctx has ended (F11: whatever happened).
func (f *Fetching) Close(ctx context.Context) error {
	return unlock(ctx, f.conn, fetchLocks, f.source)
}

// Target says what is to be fetched for a source.
type Target struct {
	Version int64
	URL     string
	Format  string
	// Read says that there was a feed at this address before.
	Read bool
	// Content is the SHA-256 of the file that need not be loaded again: the file of the last load, if
	// that load had no problems and the same version (F11), or has not ended. ETag and Modified came
	// with it, and are empty if the last load had problems.
	Content        []byte
	ETag, Modified string
	// TTL is how long the feed asked to be left alone when it was last read.
	TTL      time.Duration
	Failures int
	Problem  string
}

// Target returns what is to be fetched, or ErrNotFound if the source is not active, or not a link.
func (f *Fetching) Target(ctx context.Context) (Target, error) {
	const query = `
		SELECT s.version, s.url, s.format, EXISTS (SELECT FROM loads r WHERE r.source_id = s.id AND r.no > s.unread_until AND NOT r.dry), coalesce(s.content, l.file), CASE WHEN s.content IS NULL THEN '' ELSE s.etag END,
			CASE WHEN s.content IS NULL THEN '' ELSE s.modified END, s.ttl, s.failures, s.problem
		FROM sources s LEFT JOIN loads l ON l.source_id = s.id AND l.no = s.loads AND l.version = s.version AND NOT l.dry
			AND l.state IN ('waiting', 'reading', 'applying', 'finishing', 'sweeping', 'held')
		WHERE s.id = @source AND s.status = 'active' AND s.way = 'link'`
	var t Target
	var ttl int64
	err := f.conn.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": f.source}).Scan(
		&t.Version, &t.URL, &t.Format, &t.Read, &t.Content, &t.ETag, &t.Modified, &ttl, &t.Failures, &t.Problem)
	if errors.Is(err, pgx.ErrNoRows) {
		return t, ErrNotFound
	}
	if err != nil {
		return t, fmt.Errorf("read what to fetch of a source: %w", err)
	}
	t.TTL = time.Duration(ttl) * time.Second
	return t, nil
}

// Reserve lets the caller ask a host until it calls Release, and keeps all other nodes from it
// meanwhile. If the host may not be asked now, Reserve returns how long to wait: at most until the
// request that is under way has its answer.
func (f *Fetching) Reserve(ctx context.Context, host string) (wait time.Duration, err error) {
	return hosts.Reserve(ctx, f.conn, host, HostGap)
}

// Release lets others ask a host again after a gap, even if ctx has ended.
func (f *Fetching) Release(ctx context.Context, host string, gap time.Duration) error {
	return hosts.Release(ctx, f.conn, host, gap)
}

// Postpone has the source fetched after a time. It records nothing else.
func (f *Fetching) Postpone(ctx context.Context, version int64, after time.Duration) error {
	_, err := f.conn.Exec(ctx, `
		UPDATE sources SET next_at = now() + @after, claimed_at = NULL WHERE id = @source AND code = @code AND version = @version AND status = 'active'`,
		pgx.StrictNamedArgs{"source": f.source, "code": f.code, "version": version, "after": after})
	if err != nil {
		return fmt.Errorf("postpone a source: %w", err)
	}
	return nil
}

// Taken reports whether the owner has another source with that address.
func (f *Fetching) Taken(ctx context.Context, url string) (taken bool, err error) {
	const query = `
		SELECT EXISTS (SELECT FROM sources o WHERE o.owner_id = s.owner_id AND o.url = @url AND o.url <> '' AND o.id <> s.id)
		FROM sources s WHERE s.id = @source`
	err = f.conn.QueryRow(ctx, query, pgx.StrictNamedArgs{"source": f.source, "url": url}).Scan(&taken)
	if err != nil {
		return false, fmt.Errorf("look for another source of an address: %w", err)
	}
	return taken, nil
}

// Fetched says what happened in a fetch.
type Fetched struct {
	// Version is that of the Target.
	Version int64
	// Problem is why the fetch failed; empty: it did not. Gone pauses the source.
	Problem Problem
	// After is how long to wait until the next fetch.
	After time.Duration
	// URL is the address that the source moves to (301, 308, or the feed that a page names); empty: it
	// stays. It must not be Taken.
	URL string
	// Feeds are those that a page names, if it names several.
	Feeds []formats.Discovered
	// File is what came, if it is to be loaded.
	File *FetchedFile
	// Dry makes a load that shows what the file would change. It changes nothing of the source but the
	// number of its loads. It needs a File.
	Dry bool
}

// FetchedFile is a file that came.
type FetchedFile struct {
	Sum   [32]byte
	Bytes int64
	// MediaType, Charset and Base are those of a Load.
	MediaType, Charset, Base string
	ETag, Modified           string
	TTL                      time.Duration
}

// shownFeeds returns the feeds that a page names as they are stored, cut to the lengths that our pages show.
// It returns nil unless there are several.
func shownFeeds(found []formats.Discovered) (*string, error) {
	if len(found) < 2 {
		return nil, nil
	}
	list := make([]formats.Discovered, len(found))
	for i, d := range found {
		list[i] = formats.Discovered{URL: d.URL, Title: markup.ShortText(d.Title, maxTitleRunes), Type: cut(d.Type)}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("feeds of a page: %w", err)
	}
	text := string(data)
	return &text, nil
}

// Record records what happened in a fetch, with a load for a new file and its job, in one
// transaction. It returns the load's number, 0 if there is none. The blob of the file must be stored
// before. It returns ErrStale, and records nothing, if the source was changed or paused since it was
// fetched (F34), or if it is another one that has its id.
func (f *Fetching) Record(ctx context.Context, d Fetched) (load int64, err error) {
	// A fetch that succeeds ends the problem of the last fetch; a load ends that of the last load.
	const query = `
		WITH dry AS (
			UPDATE sources SET loads = loads + 1
			WHERE @dry AND id = @source AND code = @code AND version = @version AND status = 'active' AND way = 'link' RETURNING *
		), wet AS (
			UPDATE sources SET fetched_at = now(), claimed_at = NULL,
				next_at = CASE WHEN @gone THEN NULL ELSE now() + @after::interval END,
				status = CASE WHEN @gone THEN 'paused' ELSE status END,
				problem = CASE WHEN @problem <> '' THEN @problem WHEN problem = ANY(@problems) OR NOT @new THEN '' ELSE problem END,
				failures = CASE WHEN @problem <> '' THEN failures + 1 WHEN problem = ANY(@problems) OR NOT @new THEN 0 ELSE failures END,
				version = version + CASE WHEN @url = '' THEN 0 ELSE 1 END,
				url = CASE WHEN @url = '' THEN url ELSE @url END,
				feeds = coalesce(@feeds::jsonb, feeds),
				content = CASE WHEN @new OR @url <> '' THEN NULL ELSE content END,
				etag = CASE WHEN @new THEN @etag ELSE etag END,
				modified = CASE WHEN @new THEN @modified ELSE modified END,
				ttl = CASE WHEN @new THEN @ttl ELSE ttl END,
				loads = loads + CASE WHEN @new THEN 1 ELSE 0 END
			WHERE NOT @dry AND id = @source AND code = @code AND version = @version AND status = 'active' AND way = 'link' RETURNING *
		), fetched AS (
			SELECT * FROM dry UNION ALL SELECT * FROM wet
		), made AS (
			INSERT INTO loads (source_id, no, version, way, state, dry, format, settings, file, bytes, media_type, charset, base)
			SELECT id, loads, version, way, 'waiting', @dry, format, settings, @file, @bytes, @type, @charset, @base FROM fetched WHERE @new
			RETURNING no
		)
		SELECT coalesce((SELECT no FROM made), 0) FROM fetched`
	file := d.File
	if file == nil {
		file = &FetchedFile{}
	}
	feeds, err := shownFeeds(d.Feeds)
	if err != nil {
		return 0, err
	}
	args := pgx.StrictNamedArgs{
		"feeds": feeds, "source": f.source, "code": f.code, "version": d.Version, "dry": d.Dry, "new": d.File != nil, "gone": d.Problem == Gone, "after": d.After,
		"problem": string(d.Problem), "problems": Problems, "url": d.URL, "etag": file.ETag, "modified": file.Modified,
		"ttl": int64(file.TTL / time.Second), "file": file.Sum[:], "bytes": file.Bytes, "type": file.MediaType,
		"charset": file.Charset, "base": file.Base,
	}
	load, err = inTx(ctx, f.conn, func(tx pgx.Tx) (no int64, err error) {
		if err := tx.QueryRow(ctx, query, args).Scan(&no); err != nil || no == 0 {
			return 0, err
		}
		return no, f.store.posts.Items.Ready(ctx, tx, f.source)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrStale
	}
	if err != nil {
		return 0, fmt.Errorf("record what was fetched: %w", err)
	}
	return load, nil
}

package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/sources/formats"
	"riverrun/timelines/sources/photos"
)

// Errors of this package.
var (
	// ErrNotFound says that there is no such source or load, or that the actor may not know of it.
	ErrNotFound = errors.New("no such source")
	// ErrBusy says that somebody else works the source.
	ErrBusy = errors.New("the source is being worked")
	// ErrStale says that the load is no longer where the caller believes it to be, or that other things
	// have the ids of the load and its source, because the primary store was restored from a copy.
	ErrStale = errors.New("the load has gone on, or its source is being removed")
)

// Mode says what the absence of an item means.
type Mode string

const (
	// Append is for windows on the newest items: the absence of an item means nothing.
	Append Mode = "append"
	// Sync is for full lists: an absent item is gone.
	Sync Mode = "sync"
)

// Status says whether a source is loaded.
type Status string

const (
	Active   Status = "active"
	Paused   Status = "paused"
	Removing Status = "removing" // its posts are being dealt with
)

// The fates of posts whose items are gone, and of the posts of a source that is removed (F4).
const (
	// Delete deletes them all.
	Delete = "delete"
	// KeepDiscussed deletes the posts that nobody has liked, commented on or saved.
	KeepDiscussed = "discussed"
	// Keep leaves them to their author.
	Keep = "keep"
)

// Settings say how a source is loaded. A load keeps the settings with which it began (F34).
type Settings struct {
	// Gone says what happens to posts whose items are gone: Delete if empty.
	Gone string `json:"gone,omitempty"`
	// MostGone is the share of the items, in percent, that may go in one load. If more would go,
	// somebody is asked. 0 stands for DefaultMostGone.
	MostGone int `json:"most_gone,omitempty"`
	// WaitPictures lets news appear with its pictures: the load waits until these are there, or cannot
	// be had, for HoldTime at most. Pushed items do not wait.
	WaitPictures bool  `json:"wait_pictures,omitempty"`
	Rules        Rules `json:"rules,omitzero"`
}

// DefaultMostGone is the share of items, in percent, that may go in one load. fewGone is the number
// that may go in any case.
const (
	DefaultMostGone = 20
	fewGone         = 5
)

// Source is a feed from elsewhere.
type Source struct {
	ID      int64
	Code    string
	OwnerID int64
	AddedBy int64
	Version int64
	Way     Way
	Mode    Mode
	Status  Status
	Format  formats.Format // empty: not known yet
	Slug    string
	Title   string
	URL     string // of a Link
	SiteURL string
	// Feeds are those that the page at its address named, if there were several: it is one of them.
	Feeds    []formats.Discovered
	Settings Settings
	// Problem is a stable code that says why the source does not load; empty: it does.
	Problem string
	// NextAt is when the source is fetched next; nil: only if somebody asks.
	NextAt *time.Time
	// SucceededAt is when a load last succeeded, but for those of single items; nil: never.
	SucceededAt *time.Time
	// FetchedAt is when a link was last fetched, with or without success; nil: never.
	FetchedAt *time.Time
	// ClaimedAt is when a node began to fetch it; nil: no node does.
	ClaimedAt *time.Time
	CreatedAt time.Time
	// Failures is how many fetches or loads have failed since the last one that succeeded.
	Failures int
	// Preview is PreviewAsked while somebody waits for a preview. Otherwise it says why the last
	// preview could not be fetched; empty: it could.
	Preview string
	// Origin is the partner that the source came from. If ErrorsVisible is false, the partner shows
	// the errors of items itself (F26).
	Origin        string
	ErrorsVisible bool
	// HasToken says that programs can push to the source.
	HasToken bool
}

// Store keeps sources. It is safe for concurrent use.
type Store struct {
	pool   *pgxpool.Pool
	posts  *timelines.Store
	limits Limits
}

// Open returns the sources of a primary store, within the limits of DefaultLimits.
func Open(posts *timelines.Store) *Store {
	return &Store{pool: posts.Pool(), posts: posts, limits: DefaultLimits()}
}

// On returns the same sources over other connections. Work and Fetching hold a connection for as long
// as they take, and pages must not wait for it.
func (s *Store) On(pool *pgxpool.Pool) *Store {
	return &Store{pool: pool, posts: s.posts, limits: s.limits}
}

// Photos returns the store of the pictures of items.
func (s *Store) Photos() *photos.Store { return photos.New(s.posts, s.pool) }

const sourceColumns = `id, code, owner_id, added_by, version, way, mode, status, format, slug, title, url, site_url, settings, problem, next_at, succeeded_at,
	fetched_at, claimed_at, created_at, failures, preview, origin, errors_visible, token_hash IS NOT NULL, feeds`

func scanSource(row pgx.Row) (s Source, err error) {
	var settings, feeds []byte
	err = row.Scan(&s.ID, &s.Code, &s.OwnerID, &s.AddedBy, &s.Version, &s.Way, &s.Mode, &s.Status, &s.Format, &s.Slug, &s.Title, &s.URL,
		&s.SiteURL, &settings, &s.Problem, &s.NextAt, &s.SucceededAt,
		&s.FetchedAt, &s.ClaimedAt, &s.CreatedAt, &s.Failures, &s.Preview, &s.Origin, &s.ErrorsVisible, &s.HasToken, &feeds)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, ErrNotFound
	}
	if err == nil {
		err = errors.Join(json.Unmarshal(settings, &s.Settings), json.Unmarshal(feeds, &s.Feeds))
	}
	if err != nil {
		return s, fmt.Errorf("read source: %w", err)
	}
	return s, nil
}

// destination returns the name of the place that the source's posts go to, as in
// timelines.NewPost.To.
func (s *Source) destination(ctx context.Context, tx pgx.Tx) (string, error) {
	var name string
	err := tx.QueryRow(ctx, `SELECT name FROM accounts WHERE id = @id`, pgx.StrictNamedArgs{"id": s.OwnerID}).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("read the owner of a source: %w", err)
	}
	if s.Slug != "" {
		name += "/" + s.Slug
	}
	return name, nil
}

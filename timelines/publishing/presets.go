package publishing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/rights"
	"riverrun/timelines/snapshot"
)

// Preset is a set of an author's posts: a tab of "My posts".
type Preset string

// The presets of stored posts. Drafts and scheduled posts are no posts yet.
const (
	PresetAll       Preset = "all"
	PresetPublished Preset = "published"
	PresetImported  Preset = "imported"
	PresetWaiting   Preset = "waiting"
	PresetBlocked   Preset = "blocked"
	PresetExpired   Preset = "expired"
	PresetClosed    Preset = "closed"
)

// Presets are all presets, in the order of the tabs.
var Presets = []Preset{PresetAll, PresetPublished, PresetImported, PresetWaiting, PresetBlocked, PresetExpired, PresetClosed}

// statuses returns what a preset is made of.
func (p Preset) statuses() []Status {
	switch p {
	case PresetPublished:
		return []Status{Published}
	case PresetWaiting:
		return []Status{Waiting}
	case PresetBlocked:
		return []Status{Blocked}
	case PresetExpired:
		return []Status{Expired}
	case PresetClosed:
		return []Status{Closed}
	}
	return Statuses
}

func (p Preset) has(status Status, imported bool) bool {
	return slices.Contains(p.statuses(), status) && (imported || p != PresetImported)
}

// Known reports whether there is such a preset.
func (p Preset) Known() bool { return slices.Contains(Presets, p) }

// Store reads and repairs. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// Open returns the store behind pool.
func Open(pool *pgxpool.Pool) *Store { return &Store{pool} }

// Place is where a page goes on: the last post of the page before. The zero value is the top.
type Place struct {
	CreatedAt time.Time
	ID        int64
}

// Post is a post as a list of its author's has it.
type Post struct {
	ID        int64
	Code      string
	CreatedAt time.Time
	EditedAt  *time.Time
	Status    Status
	Imported  bool
	Via       string
	Markup    bool
	// Beginning has at most BeginningRunes characters, and one more if the text goes on.
	Beginning string
	// Stands are the places where it stands, or where it goes when it is not held any more.
	Stands []Stand `db:"-"`
	// Decisive are their timelines.
	Decisive []int64
	// Files is how many files are attached.
	Files int64
	// Listing is what it offers; nil: nothing.
	Listing *snapshot.Listing
}

// Stand is a place where a post stands: a timeline of a kind, of a person or a group.
type Stand struct {
	Kind, Term  string
	Name, Title string // of the person or group
}

// Place returns the place of the post.
func (p Post) Place() Place { return Place{p.CreatedAt, p.ID} }

// BeginningRunes is how much of a text a list has.
const BeginningRunes = 280

// chosen merges the newest posts of each range of the index. Each range gives at most as many as the page
// has, whatever it holds. OFFSET 0 takes each post by its index step: a plan that does not know how long the page is would
// read all posts of the site.
const chosen = `
	WITH chosen AS MATERIALIZED (
		SELECT f.id, f.created_at
		FROM unnest(@statuses::smallint[]) s (status), unnest(@origins::boolean[]) o (imported), LATERAL (
			SELECT id, created_at FROM posts
			WHERE author_id = @author AND status = s.status AND imported = o.imported
				AND (created_at, id) < (@before, @before_id)
			ORDER BY created_at DESC, id DESC LIMIT @limit) f
		ORDER BY f.created_at DESC, f.id DESC LIMIT @limit
	)`

const page = chosen + `
	SELECT p.id, p.code, p.created_at, p.edited_at, p.status, p.imported, p.via, p.markup, left(p.body, @longest) AS beginning,
		CASE WHEN p.status IN (1, 2) THEN coalesce((SELECT h.places FROM held_posts h WHERE h.post_id = p.id), p.decisive) ELSE p.decisive END AS decisive,
		(SELECT count(*) FROM files f WHERE f.post_id = p.id AND f.comment_id IS NULL) AS files,
		(SELECT jsonb_build_object('price', l.price, 'currency', l.currency, 'until', (extract(epoch FROM l.until_at) * 1000000)::bigint, 'state', l.state, 'how', l.how, 'paid', l.sold_price)
			FROM listings l WHERE l.post_id = p.id) AS listing
	FROM chosen c CROSS JOIN LATERAL (SELECT * FROM posts WHERE id = c.id OFFSET 0) p
	ORDER BY p.created_at DESC, p.id DESC`

const sells = chosen + `
	SELECT EXISTS (SELECT FROM chosen c JOIN listings l ON l.post_id = c.id WHERE l.state <> 'closed')`

// SellsAmong is how many posts Sells looks at, the newest of a preset.
const SellsAmong = 1000

// Sells reports whether a listing that is not closed is among the newest SellsAmong posts of an author's preset.
func (s *Store) Sells(ctx context.Context, author int64, preset Preset) (is bool, err error) {
	err = s.pool.QueryRow(ctx, sells, pgx.StrictNamedArgs{
		"author": author, "statuses": numbers(preset.statuses()), "origins": preset.origins(),
		"before": top.CreatedAt, "before_id": top.ID, "limit": SellsAmong,
	}).Scan(&is)
	if err != nil {
		return false, fmt.Errorf("find an author's listings: %w", err)
	}
	return is, nil
}

// top is above all posts.
var top = Place{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64}

// Page returns at most limit posts of an author's preset below a place, the newest first.
func (s *Store) Page(ctx context.Context, author int64, preset Preset, below Place, limit int) ([]Post, error) {
	if below == (Place{}) {
		below = top
	}
	rows, err := s.pool.Query(ctx, page, pgx.StrictNamedArgs{
		"author": author, "statuses": numbers(preset.statuses()), "origins": preset.origins(),
		"before": below.CreatedAt, "before_id": below.ID, "limit": limit, "longest": BeginningRunes + 1,
	})
	var posts []Post
	if err == nil {
		posts, err = pgx.CollectRows(rows, pgx.RowToStructByName[Post])
	}
	if err != nil {
		return nil, fmt.Errorf("page of an author's posts: %w", err)
	}
	return posts, s.stand(ctx, author, posts)
}

// stand reads where posts of an author stand. Places of accounts that the author may not know of are left out.
func (s *Store) stand(ctx context.Context, author int64, posts []Post) error {
	var timelines []int64
	for _, p := range posts {
		timelines = append(timelines, p.Decisive...)
	}
	query := `
		SELECT t.id, t.kind, t.term, a.name, a.title FROM timelines t JOIN accounts a ON a.id = t.their_id
		WHERE t.id = ANY(@timelines) AND ` + rights.SeenAs("a.id")
	found := map[int64]Stand{}
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"timelines": timelines, "viewer": author})
	if err == nil {
		var id int64
		var at Stand
		_, err = pgx.ForEachRow(rows, []any{&id, &at.Kind, &at.Term, &at.Name, &at.Title}, func() error {
			found[id] = at
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("where an author's posts stand: %w", err)
	}
	for i, p := range posts {
		for _, id := range p.Decisive {
			if at, ok := found[id]; ok {
				posts[i].Stands = append(posts[i].Stands, at)
			}
		}
	}
	return nil
}

// Newest returns the greatest id of an author's posts, deleted or not; 0 if there never was one.
func (s *Store) Newest(ctx context.Context, author int64) (id int64, err error) {
	const query = `SELECT coalesce(max(id), 0) FROM posts WHERE author_id = @author`
	if err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"author": author}).Scan(&id); err != nil {
		return 0, fmt.Errorf("newest post of an author: %w", err)
	}
	return id, nil
}

// CountUntil counts the posts of an author's preset with ids up to one. It reads the index of all of them: the counters do not
// know of ids.
func (s *Store) CountUntil(ctx context.Context, author int64, preset Preset, until int64) (n int64, err error) {
	const query = `
		SELECT count(*) FROM posts
		WHERE author_id = @author AND status = ANY(@statuses) AND imported = ANY(@origins) AND id <= @until`
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"author": author, "statuses": numbers(preset.statuses()), "origins": preset.origins(), "until": until,
	}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count an author's posts: %w", err)
	}
	return n, nil
}

// PlaceOf returns the place of an author's post by its code, deleted or not; ok is false if there never was one.
func (s *Store) PlaceOf(ctx context.Context, author int64, code string) (at Place, ok bool, err error) {
	const query = `SELECT created_at, id FROM posts WHERE code = @code AND author_id = @author`
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "author": author}).Scan(&at.CreatedAt, &at.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return Place{}, false, nil
	}
	if err != nil {
		return Place{}, false, fmt.Errorf("place of a post: %w", err)
	}
	return at, true, nil
}

func (p Preset) origins() []bool {
	if p == PresetImported {
		return []bool{true}
	}
	return []bool{false, true}
}

func numbers(statuses []Status) []int16 {
	n := make([]int16, len(statuses))
	for i, s := range statuses {
		n[i] = int16(s)
	}
	return n
}

// Numbers are an author's counters and totals.
type Numbers struct {
	// Posts is how many posts each preset has.
	Posts map[Preset]int64
	// PublishedEver and ClosedEver never go down. Earned has the sum of each currency, in its smallest unit.
	PublishedEver, ClosedEver int64
	Earned                    map[string]int64
}

// Numbers returns the numbers of an author, as they are counted.
func (s *Store) Numbers(ctx context.Context, author int64) (Numbers, error) {
	const query = `
		SELECT '' AS total, '' AS currency, status, imported, posts AS value FROM author_counters WHERE author_id = @author
		UNION ALL
		SELECT total, currency, 0, false, sum(value)::bigint FROM author_totals WHERE author_id = @author GROUP BY 1, 2`
	n := Numbers{Posts: map[Preset]int64{}, Earned: map[string]int64{}}
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"author": author})
	if err == nil {
		var name Total
		var currency string
		var status Status
		var imported bool
		var value int64
		_, err = pgx.ForEachRow(rows, []any{&name, &currency, &status, &imported, &value}, func() error {
			switch name {
			case PublishedEver:
				n.PublishedEver = value
			case ClosedEver:
				n.ClosedEver = value
			case Earned:
				n.Earned[currency] = value
			default:
				for _, p := range Presets {
					if p.has(status, imported) {
						n.Posts[p] += value
					}
				}
			}
			return nil
		})
	}
	if err != nil {
		return Numbers{}, fmt.Errorf("numbers of an author: %w", err)
	}
	return n, nil
}

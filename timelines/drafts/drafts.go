package drafts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/listings"
	"riverrun/timelines/markup"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// Bounds of a person's drafts and of each.
const (
	Most         = rules.MostDrafts // drafts of one person
	maxTextRunes = 100              // of a name and of a field of a listing
)

// Errors of this package.
var (
	// ErrMany: the account has as many drafts as it can have.
	ErrMany error = rules.DraftsMany.Broken("")
	// ErrInvalid: no form of ours has such a place or such fields.
	ErrInvalid = errors.New("malformed draft")
	// ErrNotFound: the account has no such draft.
	ErrNotFound = errors.New("no such draft")
	// ErrSent: the form was sent meanwhile, so there is nothing to keep.
	ErrSent = errors.New("the form was sent")
)

// NewerError says that the place has another draft than the form had. That draft stays.
type NewerError struct{ Draft Draft }

func (e *NewerError) Error() string { return "there is a newer draft" }

// Draft is a form as it was written so far.
type Draft struct {
	// Place is the address of the page with the form; for a comment it is that of the post.
	Place    string
	Body     string
	Language string
	// Destinations are names as the form has them. They are checked when the post is sent.
	Destinations []string
	// Uploads are the codes of the files that the form names.
	Uploads []string
	// Listing are the fields of a listing, which are checked when it is sent; nil: the form has none.
	Listing *listings.Fields
	// SavedAt tells this draft from others of its place. A form carries that of the draft it was
	// filled from, or was last saved as; the zero time is of none.
	SavedAt time.Time
}

// Version names one draft of those that a place has one after the other.
type Version struct {
	Place   string
	SavedAt time.Time
}

// Version names the draft.
func (d Draft) Version() Version { return Version{d.Place, d.SavedAt} }

// Empty reports whether there is nothing to keep. In a listing only the price and the place are typed: its
// form fills in the other fields by itself.
func (d Draft) Empty() bool {
	return strings.TrimSpace(d.Body) == "" && len(d.Uploads) == 0 && (d.Listing == nil || strings.TrimSpace(d.Listing.Price+d.Listing.Place) == "")
}

// CommentOn returns the code of the post that the draft comments on, or "".
func (d Draft) CommentOn() string { return commentOn(d.Place) }

func commentOn(place string) string {
	code, _ := strings.CutPrefix(place, postPrefix)
	if code == place {
		return ""
	}
	return code
}

const postPrefix = "/p/"

// listingSuffix ends the place of the form for a listing in a group, which has a draft beside that of a
// post there.
const listingSuffix = "?listing"

// ListingPlace is the place of the form for a listing in a group.
func ListingPlace(group string) string { return "/" + group + listingSuffix }

// ListingIn returns the group that the draft offers something in, or "".
func (d Draft) ListingIn() string {
	path, is := strings.CutSuffix(d.Place, listingSuffix)
	if !is {
		return ""
	}
	return strings.TrimPrefix(path, "/")
}

// PostedIn returns the name of the account whose page has the form, or "" if that is no page of an account.
func (d Draft) PostedIn() string {
	if to := DestinationsOf(d.Place); len(to) > 0 {
		return to[0]
	}
	return d.ListingIn()
}

// placeForm is the form of the addresses of pages that have a form for a post or a comment.
var placeForm = regexp.MustCompile(`^/(p/[0-9a-z]{10}|filter/messages(\?to=[a-z0-9-]{3,35})?|filter/only-me|[a-z0-9-]{3,35}(/[a-z0-9-]{1,35}|\?listing)?)?$`)

// IsPlace reports whether a place can have a draft.
func IsPlace(place string) bool { return placeForm.MatchString(place) }

var uploadForm = regexp.MustCompile(`^[0-9A-Za-z_-]{1,100}$`)

// check returns an error if no form of ours could have sent the draft, or if it breaks a rule of drafts.
// limit is the rule of how long its text may be.
func (d *Draft) check(limit rules.Rule) error {
	if !IsPlace(d.Place) {
		return ErrInvalid
	}
	texts := d.Destinations
	if l := d.Listing; l != nil {
		texts = slices.Concat(texts, []string{l.Price, l.Currency, l.Place, l.Condition, l.Until})
	}
	for _, text := range texts {
		if !rules.Storable(text) || utf8.RuneCountInString(text) > maxTextRunes {
			return ErrInvalid
		}
	}
	for _, code := range d.Uploads {
		if !uploadForm.MatchString(code) {
			return ErrInvalid
		}
	}
	var long, language error
	d.Body, long = rules.Unfinished(d.Body, limit)
	if d.Language != "" {
		language = rules.LanguageUnknown.OneOf(d.Language)
	}
	return cmp.Or(long, language, rules.ToMany.Count(len(d.Destinations)), rules.FilesLoose.Count(len(d.Uploads)))
}

// Store keeps drafts in the primary store. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	visitorKey atomic.Pointer[[]byte] // once it was read
}

// Open returns the drafts behind pool.
func Open(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Save stores a draft in place of the draft saved at d.SavedAt, and returns its own SavedAt. It is the
// current draft then. If that draft is parked, so is the one stored.
//
// An empty draft removes that draft, and has no SavedAt. If the place has another draft by
// now, with another text, a *NewerError has it, and nothing is stored. longest is how many
// characters the text may have. key is that of the form: if the form was sent with it, the
// draft came late, and ErrSent is returned; an empty key is not looked for.
//
// Other errors: ErrInvalid, and those of package rules: ErrMany, "body_long", "text_invalid",
// "language_unknown", "to_many", "files_loose".
func (s *Store) Save(ctx context.Context, account int64, d Draft, longest int, key string) (savedAt time.Time, err error) {
	if err := d.check(rules.PostLong.With(longest)); err != nil {
		return time.Time{}, err
	}
	if d.Empty() {
		return time.Time{}, s.Discard(ctx, account, d.Version())
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		savedAt, err = saveTx(ctx, tx, account, d, key)
		return err
	})
	newer := (*NewerError)(nil)
	if err != nil && !errors.Is(err, ErrMany) && !errors.Is(err, ErrSent) && !errors.As(err, &newer) {
		err = fmt.Errorf("save draft: %w", err)
	}
	return savedAt, err
}

func saveTx(ctx context.Context, tx pgx.Tx, account int64, d Draft, key string) (savedAt time.Time, err error) {
	// SavedAt grows even if the clock goes back. A form that has a parked draft writes into that one, and
	// leaves the one in its place alone.
	const save = `
		WITH parked AS (
			UPDATE drafts
			SET saved_at = greatest(clock_timestamp(), saved_at + interval '1 microsecond'), language = @language, body = @body,
				destinations = @destinations, uploads = @uploads, listing = @listing
			WHERE account_id = @account AND place = @place AND saved_at = @was AND parked
			RETURNING id, saved_at
		), placed AS (
			INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads, listing)
			SELECT @account, clock_timestamp(), @place, @language, @body, @destinations, @uploads, @listing::jsonb
			WHERE NOT EXISTS (SELECT FROM parked) AND (@most > (SELECT count(*) FROM drafts WHERE account_id = @account AND NOT ` + empty + `)
				OR EXISTS (SELECT FROM drafts WHERE account_id = @account AND place = @place AND NOT parked AND NOT ` + empty + `))
			ON CONFLICT (account_id, place) WHERE NOT parked DO UPDATE
			SET saved_at = greatest(excluded.saved_at, drafts.saved_at + interval '1 microsecond'), language = excluded.language,
				body = excluded.body, destinations = excluded.destinations, uploads = excluded.uploads, listing = excluded.listing
			WHERE drafts.saved_at = @was OR drafts.body = excluded.body OR ` + empty + `
			RETURNING id, saved_at
		), saved AS (
			SELECT * FROM parked UNION ALL SELECT * FROM placed
		), chosen AS (
			INSERT INTO current_drafts (account_id, draft_id) SELECT @account, id FROM saved
			ON CONFLICT (account_id) DO UPDATE SET draft_id = excluded.draft_id WHERE current_drafts.draft_id <> excluded.draft_id
		), emptied AS (
			DELETE FROM drafts WHERE account_id = @account AND place <> @place AND ` + empty + ` AND EXISTS (SELECT FROM saved)
		)
		SELECT saved_at FROM saved`
	const sent = `SELECT EXISTS (SELECT FROM keys WHERE account_id = @account AND key = @key)`
	if err := LockTx(ctx, tx, account); err != nil {
		return time.Time{}, err
	}
	var late bool
	if err := tx.QueryRow(ctx, sent, pgx.StrictNamedArgs{"account": account, "key": key}).Scan(&late); err != nil {
		return time.Time{}, err
	}
	if late {
		return time.Time{}, ErrSent
	}
	err = tx.QueryRow(ctx, save, pgx.StrictNamedArgs{
		"account": account, "place": d.Place, "language": d.Language, "body": d.Body, "most": Most, "was": d.SavedAt,
		"destinations": orEmpty(d.Destinations), "uploads": orEmpty(d.Uploads), "listing": d.Listing,
	}).Scan(&savedAt)
	if !errors.Is(err, pgx.ErrNoRows) {
		return savedAt, err
	}
	stands, found, err := find(ctx, tx, account, d.Place)
	switch {
	case err != nil:
		return time.Time{}, err
	case found:
		return time.Time{}, &NewerError{stands}
	}
	return time.Time{}, ErrMany
}

// LockTx makes those who save an account's drafts or scheduled posts, or remove drafts with what they
// became, wait for each other, until the transaction ends. So two saves cannot both take the last place,
// and a save that comes while its form is sent either is removed with it or knows of it. No
// row can do that: the draft may not stand yet.
func LockTx(ctx context.Context, tx pgx.Tx, account int64) error {
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('drafts', @account))`, pgx.StrictNamedArgs{"account": account})
	if err != nil {
		return fmt.Errorf("lock drafts: %w", err)
	}
	return nil
}

// KeepTx makes a draft of a text that was checked before, unless the account has as many as it can have. It is parked if its
// place has another one. The caller holds LockTx.
func KeepTx(ctx context.Context, tx pgx.Tx, account int64, d Draft) (kept bool, err error) {
	const query = `
		INSERT INTO drafts (account_id, saved_at, place, language, body, destinations, uploads, parked)
		SELECT @account, clock_timestamp(), @place, @language, @body, @destinations, @uploads,
			EXISTS (SELECT FROM drafts WHERE account_id = @account AND place = @place AND NOT parked)
		WHERE @most > (SELECT count(*) FROM drafts WHERE account_id = @account AND NOT ` + empty + `)`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"account": account, "place": d.Place, "language": d.Language, "body": d.Body, "most": Most,
		"destinations": orEmpty(d.Destinations), "uploads": orEmpty(d.Uploads),
	})
	if err != nil {
		return false, fmt.Errorf("keep a draft: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Find returns the account's draft of a place; found is false if there is none.
func (s *Store) Find(ctx context.Context, account int64, place string) (d Draft, found bool, err error) {
	return find(ctx, s.pool, account, place)
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func find(ctx context.Context, db querier, account int64, place string) (d Draft, found bool, err error) {
	const query = `
		SELECT place, body, language, destinations, uploads, listing, saved_at
		FROM drafts WHERE account_id = @account AND place = @place AND NOT parked`
	rows, err := db.Query(ctx, query, pgx.StrictNamedArgs{"account": account, "place": place})
	return oneDraft(rows, err)
}

// Current returns the draft that the account's person goes on with; found is false if there is none.
func (s *Store) Current(ctx context.Context, account int64) (d Draft, found bool, err error) {
	const query = `
		SELECT d.place, d.body, d.language, d.destinations, d.uploads, d.listing, d.saved_at
		FROM current_drafts c JOIN drafts d ON d.id = c.draft_id WHERE c.account_id = @account`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"account": account})
	return oneDraft(rows, err)
}

func oneDraft(rows pgx.Rows, err error) (d Draft, found bool, _ error) {
	if err == nil {
		d, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Draft])
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Draft{}, false, nil
	}
	if err != nil {
		return Draft{}, false, fmt.Errorf("find draft: %w", err)
	}
	return d, true, nil
}

// Listed is a draft with what its author may know of its post.
type Listed struct {
	Draft
	Code    string // names it, whichever others its place has
	Parked  bool   // another draft has its place
	Current bool   // its person goes on with it
	// PostAuthor and Beginning are of the post that it comments on, 0 and empty if it
	// comments on none, or on one that its author may not answer any more.
	PostAuthor int64
	Beginning  string
	Markup     bool // the beginning is of a text with markup
}

// Closed reports whether the draft comments on a post that its author may not answer any
// more, for whatever reason.
func (l Listed) Closed() bool { return l.CommentOn() != "" && l.PostAuthor == 0 }

// listedBody bounds how much of a draft, and of a post, a list needs, in characters.
const listedBody = 300

// All returns the account's drafts with the beginnings of their texts, the latest first. The
// rights to posts are those of the moment.
func (s *Store) All(ctx context.Context, account int64) ([]Listed, error) {
	const query = `
		SELECT drafts.place, left(drafts.body, @longest) AS body, drafts.language, destinations, uploads, listing, saved_at,
			drafts.code, parked, EXISTS (SELECT FROM current_drafts c WHERE c.draft_id = drafts.id) AS current,
			coalesce(p.author_id, 0) AS post_author, coalesce(left(p.body, @longest + 1), '') AS beginning, coalesce(p.markup, false) AS markup
		FROM drafts
		LEFT JOIN posts p ON drafts.place LIKE '/p/%' AND p.code = substr(drafts.place, 4) AND p.deleted_at IS NULL AND ` + rights.SeenPost + `
		WHERE drafts.account_id = @viewer AND NOT ` + empty + `
		ORDER BY saved_at DESC, drafts.place, drafts.id`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"viewer": account, "longest": listedBody})
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Listed])
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	for i, d := range found {
		if d.Markup {
			found[i].Beginning = markup.Cut(d.Beginning, listedBody)
		}
	}
	return found, nil
}

// Count returns how many drafts the account has.
func (s *Store) Count(ctx context.Context, account int64) (n int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM drafts WHERE account_id = @account AND NOT `+empty, pgx.StrictNamedArgs{"account": account}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count drafts: %w", err)
	}
	return n, nil
}

// Discard removes one of the account's drafts. If it is gone, or another took its place, nothing
// happens.
func (s *Store) Discard(ctx context.Context, account int64, v Version) error {
	_, err := s.pool.Exec(ctx, remove, pgx.StrictNamedArgs{"account": account, "place": v.Place, "was": v.SavedAt})
	if err != nil {
		return fmt.Errorf("discard draft: %w", err)
	}
	return nil
}

// RemoveTx removes the draft that a post or a comment was made of, within the transaction
// that makes it. Another draft of that place stays. Without a place it does nothing.
func RemoveTx(ctx context.Context, tx pgx.Tx, account int64, v Version) error {
	if v.Place == "" {
		return nil
	}
	if err := LockTx(ctx, tx, account); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, remove, pgx.StrictNamedArgs{"account": account, "place": v.Place, "was": v.SavedAt}); err != nil {
		return fmt.Errorf("remove draft: %w", err)
	}
	return nil
}

const remove = `
	DELETE FROM drafts WHERE account_id = @account AND place = @place AND (saved_at = @was OR ` + empty + `)`

// empty is true for a draft that says only where somebody was about to write (see Draft.Empty). It can be
// replaced.
const empty = `(drafts.body = '' AND drafts.uploads = '{}' AND btrim(concat(drafts.listing->>'price', drafts.listing->>'place')) = '')`

// Written is true for the rows of drafts that have something of their writer's.
const Written = `NOT ` + empty

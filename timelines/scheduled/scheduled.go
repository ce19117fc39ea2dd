package scheduled

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines/drafts"
	"riverrun/timelines/rules"
)

// Most is how many posts one person may schedule.
const Most = rules.MostTimed

// Errors of this package.
var (
	// ErrMany: the account has scheduled as many posts as it can.
	ErrMany = errors.New("too many scheduled posts")
	// ErrGone: the version is published, cancelled or replaced by another one.
	ErrGone = errors.New("no such version of a scheduled post")
)

// Version names one version of a scheduled post.
type Version struct {
	Code    string
	SavedAt time.Time
}

// Post is a scheduled post as its author wrote it.
type Post struct {
	Code     string
	Body     string
	Language string
	// Destinations are names as NewPost.To has them.
	Destinations []string
	// Uploads are the codes of the files to attach. Their descriptions stand with the files.
	Uploads []string
	DueAt   time.Time
	// Zone is the time zone in which the author chose the time.
	Zone string
	// Place is that of the draft which the text becomes if it is cancelled.
	Place   string
	SavedAt time.Time
	// FailedAt is since when it is known that it cannot be published; nil: it waits.
	FailedAt *time.Time
	Problem
}

// Problem says why a post could not be published: the fields of an InvalidError.
type Problem struct {
	Code  string `db:"problem"`
	Value string `db:"problem_value"`
	Most  int    `db:"problem_most"`
}

// Version names this version.
func (p Post) Version() Version { return Version{p.Code, p.SavedAt} }

// Failed reports whether it could not be published.
func (p Post) Failed() bool { return p.FailedAt != nil }

// Due is a post whose time has come, and whose it is.
type Due struct {
	Post
	AccountID int64
}

// Store keeps scheduled posts in the primary store. It is safe for concurrent use.
type Store struct{ pool *pgxpool.Pool }

// Open returns the scheduled posts behind pool.
func Open(pool *pgxpool.Pool) *Store { return &Store{pool} }

const columns = `code, body, language, destinations, uploads, due_at, zone, place, saved_at, failed_at, problem, problem_value, problem_most`

// row is a Post as it is stored: two fields of it have one name.
type row struct {
	Code, Body, Language  string
	Destinations, Uploads []string
	DueAt                 time.Time
	Zone, Place           string
	SavedAt               time.Time
	FailedAt              *time.Time
	Problem, ProblemValue string
	ProblemMost           int
	AccountID             int64
}

func (r row) post() Post {
	return Post{
		Code: r.Code, Body: r.Body, Language: r.Language, Destinations: r.Destinations, Uploads: r.Uploads, DueAt: r.DueAt, Zone: r.Zone,
		Place: r.Place, SavedAt: r.SavedAt, FailedAt: r.FailedAt, Problem: Problem{r.Problem, r.ProblemValue, r.ProblemMost},
	}
}

func collect(rows pgx.Rows, err error) ([]row, error) {
	var found []row
	if err == nil {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[row])
	}
	if err != nil {
		return nil, fmt.Errorf("read scheduled posts: %w", err)
	}
	return found, nil
}

// All returns the account's scheduled posts with the beginnings of their texts: first those that
// failed, then the next one to be published.
func (s *Store) All(ctx context.Context, account int64) ([]Post, error) {
	const query = `
		SELECT code, left(body, 300) AS body, language, destinations, uploads, due_at, zone, place, saved_at, failed_at, problem, problem_value,
			problem_most, account_id
		FROM scheduled_posts WHERE account_id = @account
		ORDER BY failed_at IS NULL, due_at, code`
	rows, err := collect(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"account": account}))
	all := make([]Post, len(rows))
	for i, r := range rows {
		all[i] = r.post()
	}
	return all, err
}

// Count returns how many scheduled posts the account has.
func (s *Store) Count(ctx context.Context, account int64) (n int64, err error) {
	err = s.pool.QueryRow(ctx, `SELECT count(*) FROM scheduled_posts WHERE account_id = @account`, pgx.StrictNamedArgs{"account": account}).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count scheduled posts: %w", err)
	}
	return n, nil
}

// Find returns one of the account's scheduled posts; found is false if there is none.
func (s *Store) Find(ctx context.Context, account int64, code string) (p Post, found bool, err error) {
	const query = `SELECT ` + columns + `, account_id FROM scheduled_posts WHERE code = @code AND account_id = @account`
	rows, err := collect(s.pool.Query(ctx, query, pgx.StrictNamedArgs{"account": account, "code": code}))
	if err != nil || len(rows) == 0 {
		return Post{}, false, err
	}
	return rows[0].post(), true, nil
}

// AnyDue reports whether the time of any has come.
func AnyDue(ctx context.Context, pool *pgxpool.Pool) (is bool, err error) {
	const query = `SELECT EXISTS (SELECT FROM scheduled_posts WHERE failed_at IS NULL AND due_at <= now())`
	if err := pool.QueryRow(ctx, query).Scan(&is); err != nil {
		return false, fmt.Errorf("look for scheduled posts that are due: %w", err)
	}
	return is, nil
}

// AllDue returns at most limit posts whose time has come and that come after one of them, the
// oldest first. The zero Due comes before all.
func AllDue(ctx context.Context, pool *pgxpool.Pool, after Due, limit int) ([]Due, error) {
	const query = `
		SELECT ` + columns + `, account_id FROM scheduled_posts
		WHERE failed_at IS NULL AND due_at <= now() AND (due_at, code) > (@due_at, @code)
		ORDER BY due_at, code LIMIT @limit`
	rows, err := collect(pool.Query(ctx, query, pgx.StrictNamedArgs{"due_at": after.DueAt, "code": after.Post.Code, "limit": limit}))
	due := make([]Due, len(rows))
	for i, r := range rows {
		due[i] = Due{r.post(), r.AccountID}
	}
	return due, err
}

// Put is a post to be stored.
type Put struct {
	Post
	Account int64
	// Replaces is the version that it takes the place of, if any. The place of that one's draft stays.
	Replaces Version
}

// PutTx stores a post, with a code from newCode if it replaces none. freed: the version that it
// replaced had failed.
//
// Errors: ErrMany, ErrGone.
func PutTx(ctx context.Context, tx pgx.Tx, p Put, newCode func() string) (freed bool, err error) {
	// So two forms cannot both take the last place, and a draft that is saved late knows of the form.
	if err := drafts.LockTx(ctx, tx, p.Account); err != nil {
		return false, err
	}
	if p.Replaces.Code == "" {
		return false, insertTx(ctx, tx, p, newCode)
	}
	if freed, err = holdTx(ctx, tx, p.Account, p.Replaces); err != nil {
		return false, err
	}
	// saved_at grows even if the clock goes back.
	const replace = `
		UPDATE scheduled_posts SET saved_at = greatest(clock_timestamp(), saved_at + interval '1 microsecond'), due_at = @due_at, zone = @zone,
			language = @language, body = @body, destinations = @destinations, uploads = @uploads,
			failed_at = NULL, problem = '', problem_value = '', problem_most = 0
		WHERE code = @code`
	args := p.args()
	args["code"] = p.Replaces.Code
	if _, err := tx.Exec(ctx, replace, args); err != nil {
		return false, fmt.Errorf("replace a scheduled post: %w", err)
	}
	return freed, nil
}

func (p Put) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{
		"due_at": p.DueAt, "zone": p.Zone, "language": p.Language, "body": p.Body,
		"destinations": orEmpty(p.Destinations), "uploads": orEmpty(p.Uploads),
	}
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// attempts is how many codes are tried. A second one is needed practically never.
const attempts = 5

func insertTx(ctx context.Context, tx pgx.Tx, p Put, newCode func() string) error {
	var n int
	const count = `SELECT count(*) FROM scheduled_posts WHERE account_id = @account`
	if err := tx.QueryRow(ctx, count, pgx.StrictNamedArgs{"account": p.Account}).Scan(&n); err != nil {
		return fmt.Errorf("count scheduled posts: %w", err)
	}
	if n >= Most {
		return ErrMany
	}
	const insert = `
		INSERT INTO scheduled_posts (account_id, code, saved_at, place, due_at, zone, language, body, destinations, uploads)
		VALUES (@account, @code, clock_timestamp(), @place, @due_at, @zone, @language, @body, @destinations, @uploads)
		ON CONFLICT (code) DO NOTHING`
	args := p.args()
	args["account"], args["place"] = p.Account, p.Place
	for range attempts {
		args["code"] = newCode()
		tag, err := tx.Exec(ctx, insert, args)
		if err != nil {
			return fmt.Errorf("schedule a post: %w", err)
		}
		if tag.RowsAffected() > 0 {
			return nil
		}
	}
	return errors.New("no unused code for a scheduled post")
}

// holdTx locks a version of the account's until the transaction ends, or returns ErrGone. failed: it
// could not be published.
func holdTx(ctx context.Context, tx pgx.Tx, account int64, v Version) (failed bool, err error) {
	const query = `
		SELECT failed_at IS NOT NULL FROM scheduled_posts
		WHERE code = @code AND account_id = @account AND saved_at = @saved_at FOR UPDATE`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": v.Code, "account": account, "saved_at": v.SavedAt}).Scan(&failed)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("lock a scheduled post: %w", err)
	}
	return failed, nil
}

// RemoveTx removes the version that a post is made of, within the transaction that makes it, or
// returns ErrGone. If two transactions make a post of it, the second waits here for the first, and
// then finds it gone. freed: it had failed before. Without a code it does nothing.
func RemoveTx(ctx context.Context, tx pgx.Tx, account int64, v Version) (freed bool, err error) {
	if v.Code == "" {
		return false, nil
	}
	const query = `
		DELETE FROM scheduled_posts WHERE code = @code AND account_id = @account AND saved_at = @saved_at
		RETURNING failed_at IS NOT NULL`
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": v.Code, "account": account, "saved_at": v.SavedAt}).Scan(&freed)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, ErrGone
	}
	if err != nil {
		return false, fmt.Errorf("remove a scheduled post: %w", err)
	}
	return freed, nil
}

// FailTx notes why a version cannot be published, and returns ErrGone if it does not wait any more.
func FailTx(ctx context.Context, tx pgx.Tx, account int64, v Version, p Problem) error {
	const query = `
		UPDATE scheduled_posts SET failed_at = clock_timestamp(), problem = @problem, problem_value = @value, problem_most = @most
		WHERE code = @code AND account_id = @account AND saved_at = @saved_at AND failed_at IS NULL`
	tag, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"code": v.Code, "account": account, "saved_at": v.SavedAt, "problem": p.Code, "value": p.Value, "most": p.Most,
	})
	if err != nil {
		return fmt.Errorf("note why a post was not published: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrGone
	}
	return nil
}

// CancelTx makes a draft of a version. If the account has as many as it can have, the version stays and kept is false, unless discard says that its text may go.
// ErrGone if it is no version any more. freed: it had failed.
func CancelTx(ctx context.Context, tx pgx.Tx, account int64, v Version, discard bool) (kept, freed bool, err error) {
	if err := drafts.LockTx(ctx, tx, account); err != nil {
		return false, false, err
	}
	if _, err := holdTx(ctx, tx, account, v); err != nil {
		return false, false, err
	}
	const query = `SELECT ` + columns + `, account_id FROM scheduled_posts WHERE code = @code`
	rows, err := collect(tx.Query(ctx, query, pgx.StrictNamedArgs{"code": v.Code}))
	if err != nil {
		return false, false, err
	}
	p := rows[0].post()
	kept, err = drafts.KeepTx(ctx, tx, account, drafts.Draft{
		Place: p.Place, Body: p.Body, Language: p.Language, Destinations: p.Destinations, Uploads: p.Uploads,
	})
	if err != nil || !kept && !discard {
		return false, false, err
	}
	freed, err = RemoveTx(ctx, tx, account, v)
	return kept, freed, err
}

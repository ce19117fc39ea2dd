// Package bulk does one thing to many posts of an author: it deletes them, moves them or closes them (G10
// of source document 002). Each post is changed by the same method as if its author did it on the post's
// own page, with the rights of that moment, so a post that cannot be changed is skipped and the others
// are not held up.
//
// A job does it block by block ([Store.Step]), until the author may not sign in any more. A crash repeats a block, which
// changes nothing twice and counts each post once. An author has one such work at a time.
package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/listings"
	"riverrun/timelines/publishing"
)

// Act is what is done.
type Act string

// The acts.
const (
	Delete Act = "delete"
	Move   Act = "move"
	// Close closes listings, as sold or given away, without a price.
	Close Act = "close"
)

// MostChosen is how many posts can be named one by one. All of a preset may be more.
const MostChosen = 100

// block is how many posts one step changes.
const block = 25

// ErrWorking: the author's last work is not done yet.
var ErrWorking = errors.New("several posts are being changed already")

// Wish is what an author wants done.
type Wish struct {
	Act Act
	// Codes are the chosen posts; nil: all of Preset that are there now, and have no greater id than Until, if that is not 0.
	Codes  []string
	Preset publishing.Preset
	Until  int64
	// To are the destinations of Move, as in timelines.NewPost.To; of Close it is listings.Sold or listings.Given alone.
	To []string
}

// State is how far a work is.
type State string

// The states. The zero State: there is none.
const (
	Working State = "working"
	Done    State = "done"
	Stopped State = "stopped"
)

// Work is a wish that is being carried out, or was.
type Work struct {
	ID      int64
	Act     Act
	State   State
	Total   int64
	Done    int64 // posts that were changed, or were that way already
	Skipped int64 // posts that could not be changed
	// Problem is a code of timelines.InvalidError, "not_found" or "forbidden": why the last of these was skipped.
	Problem string

	Codes        []string
	Preset       publishing.Preset
	Destinations []string
	UntilID      int64
	// After and AfterID say where the next block begins.
	After   *time.Time
	AfterID int64
	// Block are the posts that are being changed; nil: none are chosen yet.
	Block []string
}

// Working reports whether it goes on.
func (w Work) Working() bool { return w.State == Working }

// Store begins works and carries them out. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the works of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Begin begins a work in place of the author's last one. The InvalidErrors are "posts_none" (nothing is chosen, or there is
// nothing in the preset), "posts_many", "act_unknown", and those of Posts.CheckDestinations; ErrWorking.
func (s *Store) Begin(ctx context.Context, author int64, w Wish) error {
	switch {
	case w.Act != Delete && w.Act != Move && w.Act != Close:
		return &timelines.InvalidError{Field: "act", Code: "act_unknown"}
	case len(w.Codes) > MostChosen:
		return &timelines.InvalidError{Field: "post", Code: "posts_many"}
	case !w.Preset.Known():
		w.Preset = publishing.PresetAll
	}
	switch w.Act {
	case Move:
		if err := s.timelines.Posts.CheckDestinations(ctx, author, w.To); err != nil {
			return err
		}
	case Close:
		if len(w.To) != 1 || w.To[0] != listings.Given {
			w.To = []string{listings.Sold}
		}
	default:
		w.To = nil
	}
	var codes []string
	for _, given := range w.Codes {
		if code, ok := timelines.ParseCode(given); ok && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	total, until := int64(len(codes)), int64(0)
	if w.Codes == nil {
		var err error
		if until, err = s.timelines.Publishing.Newest(ctx, author); err != nil {
			return err
		}
		if w.Until != 0 {
			until = min(until, w.Until)
		}
		if total, err = s.timelines.Publishing.CountUntil(ctx, author, w.Preset, until); err != nil {
			return err
		}
	}
	if total <= 0 {
		return &timelines.InvalidError{Field: "post", Code: "posts_none"}
	}
	return s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		const begin = `
			INSERT INTO bulk_acts (account_id, act, preset, codes, destinations, total, until_id)
			VALUES (@account, @act, @preset, @codes, @to, @total, @until)
			ON CONFLICT (account_id) DO UPDATE SET id = DEFAULT, act = excluded.act, preset = excluded.preset, codes = excluded.codes,
				destinations = excluded.destinations, total = excluded.total, until_id = excluded.until_id, created_at = now(),
				done = 0, skipped = 0, problem = '', after = NULL, after_id = 0, block = NULL, state = 'working'
			WHERE bulk_acts.state <> 'working'
			RETURNING id`
		var id int64
		err := tx.QueryRow(ctx, begin, pgx.StrictNamedArgs{
			"account": author, "act": string(w.Act), "preset": string(w.Preset), "codes": codes, "to": orEmpty(w.To), "total": total, "until": until,
		}).Scan(&id)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrWorking
		}
		if err != nil {
			return fmt.Errorf("begin with several posts: %w", err)
		}
		return s.timelines.AnnounceTx(ctx, tx, timelines.ChangeSeveral{ID: id})
	})
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

const columns = `id, act, state, total, done, skipped, problem, codes, preset, destinations, until_id, after, after_id, block`

// Find returns the author's last work, the zero Work if there is none.
func (s *Store) Find(ctx context.Context, author int64) (Work, error) {
	rows, err := s.timelines.Pool().Query(ctx, `SELECT `+columns+` FROM bulk_acts WHERE account_id = @account`,
		pgx.StrictNamedArgs{"account": author})
	return one(rows, err)
}

func one(rows pgx.Rows, err error) (w Work, _ error) {
	if err == nil {
		w, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Work])
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return Work{}, nil
	}
	if err != nil {
		return Work{}, fmt.Errorf("read work on several posts: %w", err)
	}
	return w, nil
}

// Stop ends the author's work after the block that is under way.
func (s *Store) Stop(ctx context.Context, author int64) error {
	_, err := s.timelines.Pool().Exec(ctx, `UPDATE bulk_acts SET state = 'stopped' WHERE account_id = @account AND state = 'working'`,
		pgx.StrictNamedArgs{"account": author})
	if err != nil {
		return fmt.Errorf("stop work on several posts: %w", err)
	}
	return nil
}

// Seen forgets a work that is over.
func (s *Store) Seen(ctx context.Context, author int64) error {
	_, err := s.timelines.Pool().Exec(ctx, `DELETE FROM bulk_acts WHERE account_id = @account AND state <> 'working'`,
		pgx.StrictNamedArgs{"account": author})
	if err != nil {
		return fmt.Errorf("forget work on several posts: %w", err)
	}
	return nil
}

// Carrying takes what a change returned, and returns when the actor's pages show it (tiers.Tiers.Carry).
type Carrying func(context.Context, timelines.Change, error) (timelines.Change, error)

// Step changes the next block of posts. more says that there may be others. After an error it may be repeated.
func (s *Store) Step(ctx context.Context, id int64, carry Carrying) (more bool, err error) {
	rows, err := s.timelines.Pool().Query(ctx, `SELECT `+columns+` FROM bulk_acts WHERE id = @id AND state = 'working'`,
		pgx.StrictNamedArgs{"id": id})
	w, err := one(rows, err)
	if err != nil || w.State != Working {
		return false, err
	}
	var author int64
	err = s.timelines.Pool().QueryRow(ctx, `SELECT account_id FROM bulk_acts WHERE id = @id`, pgx.StrictNamedArgs{"id": id}).Scan(&author)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read work on several posts: %w", err)
	}
	if w.Block == nil {
		if w, err = s.take(ctx, author, w); err != nil || w.Block == nil {
			return false, err
		}
	}
	for _, code := range w.Block {
		problem, err := s.one(ctx, author, w, code, carry)
		switch {
		case timelines.IsSilenced(err):
			return false, s.Stop(ctx, author)
		case err != nil:
			return false, fmt.Errorf("%s post %s: %w", w.Act, code, err)
		case problem != "":
			w.Skipped, w.Problem = w.Skipped+1, problem
		default:
			w.Done++
		}
	}
	return s.keep(ctx, w)
}

// take writes down which posts are the next block before any is changed: a step that repeats it after a crash counts
// the same posts, though they may have left the preset. The Block stays nil if another process was faster.
func (s *Store) take(ctx context.Context, author int64, w Work) (Work, error) {
	codes, next, err := s.next(ctx, author, w)
	if err != nil {
		return w, err
	}
	codes = orEmpty(codes)
	const take = `
		UPDATE bulk_acts SET block = @block, after = @after, after_id = @after_id
		WHERE id = @id AND state = 'working' AND block IS NULL AND (after, after_id) IS NOT DISTINCT FROM (@was, @was_id)`
	tag, err := s.timelines.Pool().Exec(ctx, take, pgx.StrictNamedArgs{
		"id": w.ID, "block": codes, "after": next.CreatedAt, "after_id": next.ID, "was": w.After, "was_id": w.AfterID,
	})
	if err != nil {
		return w, fmt.Errorf("take several posts: %w", err)
	}
	if tag.RowsAffected() > 0 {
		w.Block, w.After, w.AfterID = codes, &next.CreatedAt, next.ID
	}
	return w, nil
}

// keep writes what became of the block, unless another process was faster with it.
func (s *Store) keep(ctx context.Context, w Work) (more bool, err error) {
	const keep = `
		UPDATE bulk_acts SET done = @done, skipped = @skipped, problem = @problem, block = NULL,
			state = CASE WHEN state = 'working' AND @last THEN 'done' ELSE state END
		WHERE id = @id AND block IS NOT NULL AND (after, after_id) = (@after, @after_id)
		RETURNING state = 'working'`
	err = s.timelines.Pool().QueryRow(ctx, keep, pgx.StrictNamedArgs{
		"id": w.ID, "done": w.Done, "skipped": w.Skipped, "problem": w.Problem,
		"last": w.After.IsZero(), "after": w.After, "after_id": w.AfterID,
	}).Scan(&more)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("keep work on several posts: %w", err)
	}
	return more, nil
}

// next returns the posts of the next block, and where the one after it begins; the zero Place: it is the last.
func (s *Store) next(ctx context.Context, author int64, w Work) (codes []string, next publishing.Place, err error) {
	if w.Codes != nil { // the place is a number of posts
		from := min(int(w.AfterID), len(w.Codes))
		to := min(from+block, len(w.Codes))
		if to < len(w.Codes) {
			next = publishing.Place{CreatedAt: time.Unix(0, 0), ID: int64(to)}
		}
		return w.Codes[from:to], next, nil
	}
	below := publishing.Place{}
	if w.After != nil {
		below = publishing.Place{CreatedAt: *w.After, ID: w.AfterID}
	}
	posts, err := s.timelines.Publishing.Page(ctx, author, w.Preset, below, block)
	if err != nil {
		return nil, next, err
	}
	for _, p := range posts {
		if p.ID <= w.UntilID {
			codes = append(codes, p.Code)
		}
	}
	if len(posts) == block {
		next = posts[len(posts)-1].Place()
	}
	return codes, next, nil
}

// one changes one post. problem says why it stays as it is.
func (s *Store) one(ctx context.Context, author int64, w Work, code string, carry Carrying) (problem string, err error) {
	ctx = timelines.Unattended(ctx, author)
	var c timelines.Change
	switch w.Act { // a change is carried in the next statement, as everywhere
	case Delete:
		c, err = s.timelines.Posts.Delete(ctx, author, code)
		_, err = carry(ctx, c, err)
	case Close:
		c, err = s.timelines.Posts.Close(ctx, author, code, listings.Sale{How: w.Destinations[0]})
		_, err = carry(ctx, c, err)
	default:
		c, err = s.timelines.Posts.Revise(ctx, author, code, timelines.Revision{To: w.Destinations})
		_, err = carry(ctx, c, err)
	}
	if invalid, is := errors.AsType[*timelines.InvalidError](err); is {
		return invalid.Code, nil
	}
	switch {
	case errors.Is(err, timelines.ErrNotFound):
		return "not_found", nil
	case errors.Is(err, timelines.ErrForbidden):
		return "forbidden", nil
	}
	return "", err
}

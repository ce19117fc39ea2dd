package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"riverrun/timelines"
)

// maxNotes is how many notes one follow takes at most; it bounds the length of its
// transaction. It does not bound how many rivers the notes concern. So after a follow
// that runs out of time, this node takes half as many, down to one; after one that
// leaves no note, twice as many again. Otherwise a batch too large for JobTimeout would
// be tried at the same size for ever, and nothing after it would be followed. Other
// failures say nothing about the size.
const maxNotes = 500

// notesAtOnce is how many notes this node takes now.
func (j *Jobs) notesAtOnce() int { return max(1, maxNotes>>j.halvings.Load()) }

// adapt changes the size after a follow of at most most notes: late says that it ran out
// of time, taken how many notes it took.
func (j *Jobs) adapt(most, taken int, late bool) {
	// If two workers are late at the same size, one of them halves it.
	halvings := j.halvings.Load()
	if most != max(1, maxNotes>>halvings) {
		return
	}
	switch {
	case late && most > 1:
		j.halvings.CompareAndSwap(halvings, halvings+1)
	case !late && taken < most && halvings > 0:
		j.halvings.CompareAndSwap(halvings, halvings-1)
	}
}

// followWorker is Tier 2: it takes notes from behind, oldest first, and brings
// all live rivers up to all of them in one call, a post that changed two hundred
// times once.
//
// The notes are deleted in a transaction that stays open during that call and is
// committed after it. So a failure or a crash puts them back by itself, and two
// workers never hold the same note (SKIP LOCKED). The price is a connection and an
// open transaction for as long as a call takes: milliseconds, at worst JobTimeout. While
// it is open, vacuum cannot remove row versions that died since; the busiest table can
// bear that for a minute. At most maxNotes are taken at a time to keep it short. The
// transaction reads nothing but the notes; the call reads the present state through
// connections of its own.
//
// Rejected: deleting first and writing back on failure (a crash in between
// loses the notes); marking notes as taken (another write for each, and a crash
// leaves marks that somebody must find); deleting afterwards by id without a
// lock (every node's workers would do the same work).
//
// A post that can never be written does not block the others here: it fails in
// its own distribute job first and never gets a note.
type followWorker struct {
	riverqueue.WorkerDefaults[followArgs]
	jobs *Jobs
}

// Work implements riverqueue.Worker. It goes on until all notes are followed or held by
// other workers. If it fails on the way, the job is tried again.
func (w *followWorker) Work(ctx context.Context, _ *riverqueue.Job[followArgs]) error {
	for {
		most := w.jobs.notesAtOnce()
		taken, err := w.jobs.follow(ctx, most)
		late := err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
		if err == nil || late {
			w.jobs.adapt(most, taken, late)
		}
		if err != nil {
			return fmt.Errorf("follow: %w", err)
		}
		if taken < most {
			return nil
		}
	}
}

// follow works up to that many notes and returns how many there were.
func (j *Jobs) follow(ctx context.Context, most int) (int, error) {
	var notes []note
	err := pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		if err := j.dropWaiting(ctx, tx); err != nil {
			return err
		}
		var err error
		if notes, err = takeNotes(ctx, tx, most); err != nil || len(notes) == 0 {
			return err
		}
		return j.cfg.Tiers.Follow(ctx, byPost(notes))
	})
	if err != nil {
		return 0, err
	}
	for _, n := range notes {
		j.metrics.applied(tier2, n.ChangedAt)
	}
	return len(notes), nil
}

// dropWaiting removes the follow jobs that wait: this one does their work. It
// must come before the notes are taken, in an earlier statement: a note is
// committed together with its job, so the note of a job that is seen here is
// seen there too, or is held by another worker whose own job brings it back if
// it fails. Jobs that are just being fetched are skipped.
func (j *Jobs) dropWaiting(ctx context.Context, tx pgx.Tx) error {
	const most = 1000 // the rest do nothing when their turn comes
	waiting := riverqueue.NewJobDeleteManyParams().
		Kinds(followArgs{}.Kind()).Queues(queueLater).States(rivertype.JobStateAvailable).First(most)
	if _, err := j.client.JobDeleteManyTx(ctx, tx, waiting); err != nil {
		return fmt.Errorf("drop waiting jobs: %w", err)
	}
	return nil
}

// note is a row of behind.
type note struct {
	PostID    int64
	ChangedAt int64
	Timelines []int64
}

func takeNotes(ctx context.Context, tx pgx.Tx, most int) ([]note, error) {
	const query = `
		WITH taken AS MATERIALIZED (
			SELECT id FROM behind ORDER BY id LIMIT @most FOR UPDATE SKIP LOCKED
		)
		DELETE FROM behind USING taken WHERE behind.id = taken.id
		RETURNING behind.post_id, behind.changed_at, behind.timelines`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"most": most})
	if err != nil {
		return nil, fmt.Errorf("take notes: %w", err)
	}
	notes, err := pgx.CollectRows(rows, pgx.RowToStructByName[note])
	if err != nil {
		return nil, fmt.Errorf("take notes: %w", err)
	}
	return notes, nil
}

// byPost returns one Touched per post, in order of posts, with the timelines of
// all its notes.
func byPost(notes []note) []timelines.Touched {
	touched := map[int64][]int64{}
	for _, n := range notes {
		touched[n.PostID] = append(touched[n.PostID], n.Timelines...)
	}
	all := make([]timelines.Touched, 0, len(touched))
	for post, of := range touched {
		all = append(all, timelines.Touched{PostID: post, Timelines: union(nil, of)})
	}
	slices.SortFunc(all, func(a, b timelines.Touched) int { return cmp.Compare(a.PostID, b.PostID) })
	return all
}

package jobs

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/blobs"
	"riverrun/timelines/exports"
)

// asked is a site where ann asked for an archive, and the store of its wishes.
func asked(t *testing.T, pool *pgxpool.Pool) (ann int64, wishes *exports.Store) {
	t.Helper()
	store := timelines.Open(pool, announcer(t), timelines.DefaultOptions())
	a, err := store.Accounts.SignUp(t.Context(), timelines.SignUp{Name: "ann", Password: "a long enough one"})
	if err == nil {
		_, err = store.Posts.Create(t.Context(), timelines.NewPost{Author: a.ID, Body: "Hello"})
	}
	wishes = exports.Open(store)
	if err == nil {
		err = wishes.Ask(t.Context(), a.ID, "en")
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.ID, wishes
}

func exportOf(t *testing.T, wishes *exports.Store, account int64) exports.Export {
	t.Helper()
	e, err := wishes.Find(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// An archive that a killed process began is made by the next one.
func TestAnArchiveOfADeadNode(t *testing.T) {
	pool := prepare(t)
	ann, wishes := asked(t, pool)
	// As kill -9 leaves it: begun, and its job running under the name of a node without a lock.
	if _, err := pool.Exec(t.Context(), `UPDATE exports SET state = 'making', done = 1, total = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `
		UPDATE queue.river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = '{a node that is dead}'
		WHERE kind = 'export'`); err != nil {
		t.Fatal(err)
	}
	start(t, config(t, pool, &calls{}))
	await(t, "the archive", func() bool { return exportOf(t, wishes, ann).State == exports.Ready })
}

// full is a store of blobs that takes nothing.
type full struct{ blobs.Store }

var errFull = errors.New("the disk is full")

func (full) Put(context.Context, io.Reader, int64) (blobs.Sum, int64, error) {
	return blobs.Sum{}, 0, errFull
}

// An archive that cannot be made is given up, and its owner is told.
func TestAnArchiveThatCannotBeMade(t *testing.T) {
	for name, tc := range map[string]struct {
		metadata string
		attempt  int
		blobs    func(blobs.Store) blobs.Store
	}{
		"the store fails":  {`{"snoozes": 10}`, 0, func(s blobs.Store) blobs.Store { return full{s} }},
		"the process ends": {`{}`, exportCrashes, func(s blobs.Store) blobs.Store { return s }},
	} {
		t.Run(name, func(t *testing.T) {
			pool := prepare(t)
			ann, wishes := asked(t, pool)
			if _, err := pool.Exec(t.Context(), `UPDATE queue.river_job SET metadata = $1, attempt = $2 WHERE kind = 'export'`, tc.metadata, tc.attempt); err != nil {
				t.Fatal(err)
			}
			cfg := config(t, pool, &calls{})
			cfg.Blobs, cfg.Log = tc.blobs(cfg.Blobs), quiet
			start(t, cfg)
			await(t, "the end", func() bool { return exportOf(t, wishes, ann).State == exports.Failed })
			if err := wishes.Ask(t.Context(), ann, "en"); err != nil {
				t.Errorf("asked again: %v", err)
			}
		})
	}
}

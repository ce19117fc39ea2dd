package hooks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/changes"
	"riverrun/timelines/hooks"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// silent announces nothing.
type silent struct{}

func (silent) AnnounceTx(context.Context, pgx.Tx, ...timelines.Event) error { return nil }

// One node at a time has the turn of a webhook. A node whose turn is over, because the webhook was sent again, removed, or taken
// when its lease had ended, settles nothing.
func TestTurns(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	o := timelines.DefaultOptions()
	o.HashCost.Memory, o.HashCost.Iterations = 64, 1
	store := timelines.Open(testdb.New(t).Primary, silent{}, o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	exec := func(query string, args ...any) {
		t.Helper()
		_, err := store.Pool().Exec(ctx, query, args...)
		must(err)
	}
	ann, err := store.Accounts.SignUp(ctx, timelines.SignUp{Name: "ann", Title: "ann", Password: "a long enough one"})
	must(err)
	v := timelines.Viewer{AccountID: ann.ID, Session: timelines.Session{1}}
	exec(`INSERT INTO sessions (token_hash, account_id, expires_at) VALUES ($1, $2, now() + interval '1 day')`, v.Session[:], ann.ID)
	all := hooks.Open(store)
	_, err = all.Create(ctx, v, hooks.New{URL: "https://a.example/"})
	must(err)
	_, err = store.Posts.Create(ctx, timelines.NewPost{Author: ann.ID, Body: "hello"})
	must(err)
	log := changes.Open(store, 0)
	_, err = log.RelayAll(ctx)
	must(err)
	end, err := log.Bounds(ctx)
	must(err)

	take := func(want int) (d hooks.Due) {
		t.Helper()
		due, err := all.Take(ctx, 8)
		must(err)
		if len(due) != want {
			t.Fatalf("%d webhooks are taken, want %d", len(due), want)
		}
		if want > 0 {
			d = due[0]
		}
		return d
	}
	stands := func() (h hooks.Hook) {
		t.Helper()
		list, err := all.List(ctx, ann.ID)
		must(err)
		if len(list) != 1 {
			t.Fatalf("%d webhooks", len(list))
		}
		return list[0]
	}
	lost := func(d hooks.Due) {
		t.Helper()
		before := stands()
		_, failed := all.Failed(ctx, d, hooks.Failure{Code: "late"})
		for what, err := range map[string]error{"moved": all.Moved(ctx, d, end.Last, true), "done": all.Done(ctx, d, true), "failed": failed} {
			if !errors.Is(err, hooks.ErrLost) {
				t.Errorf("%s after the turn: %v, want %v", what, err, hooks.ErrLost)
			}
		}
		if after := stands(); after.Failed != before.Failed || after.Behind == nil || !after.Next.Equal(before.Next) {
			t.Errorf("a turn that was over left %+v, which was %+v", after, before)
		}
	}
	first := take(1)
	take(0)
	exec(`UPDATE webhooks SET next_at = now()`) // the lease ends
	second := take(1)
	lost(first)
	must(all.Again(ctx, v, second.ID))
	lost(second)
	third := take(1)
	must(all.Moved(ctx, third, end.Last, true))
	must(all.Done(ctx, third, false))
	if h := stands(); h.Behind != nil || h.Arrived == nil || h.Failed != 0 {
		t.Errorf("when all was sent it stands %+v", h)
	}
	exec(`UPDATE webhooks SET next_at = now()`)
	take(0) // it has everything
	must(all.Delete(ctx, ann.ID+1, third.ID))
	stands()
	must(all.Delete(ctx, ann.ID, third.ID))
	if err := all.Done(ctx, third, false); !errors.Is(err, hooks.ErrLost) {
		t.Errorf("a webhook that was removed is settled: %v", err)
	}
}

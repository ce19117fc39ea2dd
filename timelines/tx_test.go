package timelines

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/outage"
)

// raise makes the server fail the transaction with a code.
func raise(ctx context.Context, tx pgx.Tx, code string) error {
	_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'so be it' USING ERRCODE = '`+code+`'; END $$`)
	return fmt.Errorf("in the middle: %w", err)
}

func TestInTxRetriesTheLoserOfARace(t *testing.T) {
	w := newTown(t)
	for _, tc := range []struct {
		name     string
		code     string
		failures int
		runs     int
		ok       bool
	}{
		{"serialization failure", "40001", 1, 2, true},
		{"deadlock", "40P01", 2, 3, true},
		{"for ever", "40P01", 1000, maxAttempts, false},
		{"another's fault", "23505", 1, 1, false},
	} {
		runs := 0
		got, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (string, error) {
			if runs++; runs <= tc.failures {
				return "of a failed run", raise(t.Context(), tx, tc.code)
			}
			return "done", nil
		})
		want := ""
		if tc.ok {
			want = "done"
		}
		if got != want || (err == nil) != tc.ok || runs != tc.runs {
			t.Errorf("%s: got %q, %v after %d runs; want %q after %d", tc.name, got, err, runs, want, tc.runs)
		}
	}
}

// That nothing was saved is said where the server rolled back, and not where the commit's
// answer did not come.
func TestInTxReportsUnsavedChanges(t *testing.T) {
	w := newTown(t)
	for code, want := range map[string]bool{"53100": true, "53200": true, "25006": true, "58030": true, "23505": false, "22012": false} {
		_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (int, error) { return 0, raise(t.Context(), tx, code) })
		if got := errors.Is(err, ErrNotSaved); err == nil || got != want {
			t.Errorf("%s: %v: ErrNotSaved %v, want %v", code, err, got, want)
		}
	}
	_, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (int, error) {
		w.exec(`SELECT pg_terminate_backend($1, 10000)`, tx.Conn().PgConn().PID())
		return 0, nil
	})
	if err == nil || errors.Is(err, ErrNotSaved) || !outage.Is(err) {
		t.Errorf("a commit on a broken connection: %v, want an outage that says nothing of saving", err)
	}
}

func TestInTxStopsWithItsContext(t *testing.T) {
	w := newTown(t)
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	_, err := inTx(ctx, w.core, func(tx pgx.Tx) (int, error) {
		runs++
		defer cancel()
		return 0, raise(ctx, tx, "40001")
	})
	if !errors.Is(err, context.Canceled) || runs != 1 {
		t.Errorf("got %v after %d runs, want %v after 1", err, runs, context.Canceled)
	}
}

func TestInTxIsReadCommitted(t *testing.T) {
	w := newTown(t)
	w.exec(`ALTER DATABASE ` + pgx.Identifier{value[string](w, `SELECT current_database()`)}.Sanitize() +
		` SET default_transaction_isolation = 'serializable'`)
	w.pool.Reset()
	got, err := inTx(t.Context(), w.core, func(tx pgx.Tx) (string, error) {
		return valueFrom[string](w, tx, `SHOW transaction_isolation`), nil
	})
	w.must(err)
	w.same("isolation", got, "read committed")
}

func TestChangeThatChangesNothingRollsBack(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	c, err := w.change(t.Context(), func(tx pgx.Tx) (Change, error) {
		if _, err := tx.Exec(t.Context(), `UPDATE accounts SET title = 'nobody'`); err != nil {
			return Change{}, err
		}
		return Change{}, &unchanged{Change{Actor: bob.ID}}
	})
	w.must(err)
	w.same("change", c, Change{Actor: bob.ID})
	w.same("title", value[string](w, `SELECT title FROM accounts WHERE id = $1`, bob.ID), "bob")
}

// A change that cannot be announced does not happen.
func TestAnnouncementFailsTheChange(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	full := errors.New("the queue is full")
	w.heard.inside(func(context.Context, pgx.Tx, []Event) error { return full })
	_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hello"})
	w.fails("CreatePost", err, full)
	w.same("posts", value[int](w, `SELECT count(*)::int FROM posts`), 0)
}

// The rivers that a change replaces before it is answered bear the number of its transaction, as
// those that are announced do.
func TestAChangeTellsItsTransaction(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	w.user("bob")
	var announced int64
	w.heard.inside(func(_ context.Context, _ pgx.Tx, events []Event) error {
		announced = events[0].(Replace).Tx
		return nil
	})
	for what, change := range map[string]func() (Change, error){
		"following": func() (Change, error) {
			c, _, err := w.Subscriptions.Subscribe(t.Context(), ann.ID, "bob")
			return c, err
		},
		"a level": func() (Change, error) { return w.Feeds.SetAccess(t.Context(), ann.ID, "", Private) },
	} {
		c, err := change()
		w.must(err)
		for _, r := range c.Replace {
			if r.Tx == 0 || r.Tx != announced {
				t.Errorf("%s: transaction %d, want %d as announced", what, r.Tx, announced)
			}
		}
		if len(c.Replace) == 0 {
			t.Errorf("%s replaces nothing", what)
		}
	}
}

// A change has the name that its events have, another one than each other change; a form that is sent again changes
// nothing and has none.
func TestAChangeHasTheNameOfItsEvents(t *testing.T) {
	w := newTown(t)
	ann, bob := w.user("ann"), w.user("bob")
	p := w.post(bob, "first", "bob")
	var told []uint64
	w.heard.inside(func(_ context.Context, _ pgx.Tx, events []Event) error {
		for _, e := range events {
			if touched, ok := e.(Touched); ok {
				told = append(told, touched.Change)
			}
		}
		return nil
	})
	comment := NewComment{Author: ann.ID, Code: p.Code, Body: "well said", Key: "once"}
	c, err := w.Comments.Create(t.Context(), comment)
	w.must(err)
	w.same("its events", told, []uint64{c.Name})
	like, err := w.Posts.Like(t.Context(), ann.ID, p.Code)
	w.must(err)
	w.same("both", told, []uint64{c.Name, like.Name})
	if c.Name == 0 || like.Name == 0 || c.Name == like.Name {
		t.Errorf("names: %d and %d, want two", c.Name, like.Name)
	}
	again, err := w.Comments.Create(t.Context(), comment)
	w.must(err)
	if again.Name != 0 || !again.Repeated || len(told) != 2 {
		t.Errorf("comment again: %+v, %d events, want no name, repeated, and none", again, len(told)-2)
	}
}

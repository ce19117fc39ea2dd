package rivers

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"riverrun/timelines"
)

// comesTo begins something and returns when it has come to a point. It returns what lets it
// go on and waits for its end.
func (w *town) comesTo(point string, fn func(context.Context) error) (end func()) {
	w.t.Helper()
	there, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- fn(pausedAt(w.ctx, point, func() {
			close(there)
			<-goOn
		}))
	}()
	select {
	case <-there:
	case err := <-done:
		w.t.Fatalf("ended before %s: %v", point, err)
	}
	return func() {
		w.t.Helper()
		close(goOn)
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// stands says how a post stands in a river: "", "here" or "gone".
func (w *town) stands(river, post int64) string {
	w.t.Helper()
	var how string
	err := w.db.Secondary.QueryRow(w.ctx, `
		SELECT coalesce((SELECT CASE WHEN deleted THEN 'gone' ELSE 'here' END
			FROM entries WHERE river_id = $1 AND post_id = $2), '')`, river, post).Scan(&how)
	return must(w, how, err)
}

// A writer that updates or extends a search may have found a post in an older snapshot. It
// may write after a writer with a newer snapshot, or between that writer's look and its
// write. It sets nothing back, though nobody looks at that change again. Where no entry
// stands, only what the river has seen stops it.
func TestASearchIsNotSetBack(t *testing.T) {
	changes := []struct {
		name, before string
		do           func(w *town, ann timelines.Viewer, p timelines.Change)
		after        string // how it stands; "" also if an entry became a tombstone
	}{
		{"loses the word", "deep post", func(w *town, ann timelines.Viewer, p timelines.Change) {
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Edit(ctx, ann.AccountID, p.Code, "deep")
			})
		}, ""},
		{"gets the word", "deep", func(w *town, ann timelines.Viewer, p timelines.Change) {
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Edit(ctx, ann.AccountID, p.Code, "deep post")
			})
		}, "here"},
		{"is deleted", "deep post", func(w *town, ann timelines.Viewer, p timelines.Change) {
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Delete(ctx, ann.AccountID, p.Code)
			})
		}, ""},
		{"is liked", "deep post", func(w *town, ann timelines.Viewer, p timelines.Change) {
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Like(ctx, ann.AccountID, p.Code)
			})
		}, "here"},
	}
	for _, older := range []string{"bringing it up", "extending it"} {
		t.Run(older, func(t *testing.T) {
			t.Parallel()
			w := newTown(t)
			ann, bob := w.person("ann"), w.person("bob")
			other := w.node()
			deep := map[string]timelines.Change{}
			orders := []string{"after", "between"}
			for _, c := range changes {
				for _, order := range orders {
					deep[c.name+order] = w.says(ann, c.before)
				}
			}
			for i := range chunk + 10 {
				w.says(ann, numbered(i))
			}
			for _, c := range changes {
				for _, order := range orders {
					when := c.name + ", written " + order
					p := deep[c.name+order]
					w.exec(`UPDATE rivers SET state = 'retired', retired_at = now()`)
					page := w.visit(ann, Search, "post")
					names := []Name{page.Name}
					// It begins here, and looks at the post.
					var end func()
					if older == "extending it" {
						floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, page.River))
						end = w.comesTo(afterSnapshot, func(ctx context.Context) error {
							return other.extend(ctx, page.Name, page.River, floor, chunk)
						})
					} else {
						w.change(bob, func(ctx context.Context) (timelines.Change, error) {
							return w.store.Posts.Like(ctx, bob.AccountID, p.Code)
						})
						end = w.comesTo(afterSnapshot, func(ctx context.Context) error { _, err := other.BringUp(ctx, names); return err })
					}
					c.do(w, ann, p)
					ctx := w.ctx
					if order == "between" {
						ctx = pausedAt(ctx, afterSnapshot, end)
					}
					if _, err := w.rivers.BringUp(ctx, names); err != nil {
						t.Fatal(err)
					}
					seen := w.seen(page.River)
					if order == "after" {
						end()
					}
					if now := w.seen(page.River); now != seen {
						t.Errorf("%s: has seen %s, had seen %s", when, now, seen)
					}
					got := w.stands(page.River, p.PostID)
					want := c.after
					if order == "between" && want == "" {
						want = "gone"
					}
					if got != want {
						t.Errorf("%s: stands %q, want %q", when, got, want)
					}
					w.soundAt(when)
				}
			}
		})
	}
}

func (w *town) seen(river int64) string {
	w.t.Helper()
	var seen string
	err := w.db.Secondary.QueryRow(w.ctx, `SELECT seen::text FROM rivers WHERE id = $1`, river).Scan(&seen)
	return must(w, seen, err)
}

// waiting returns when n sessions wait for a lock of the secondary store.
func (w *town) waiting(n int, done <-chan error) {
	w.t.Helper()
	for w.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) < n {
		select {
		case err := <-done:
			w.t.Fatalf("not %d wait: %v", n, err)
		default:
		}
	}
}

// An entry that is written but not yet committed is not set back either: the writer with
// the newer snapshot waits for it before it looks.
func TestASearchWaitsForAnotherWriter(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	first := w.says(ann, "first cat")
	p := w.visit(ann, Search, "cat")
	other := w.node()
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Like(ctx, ann.AccountID, first.Code)
	})
	post := w.says(ann, "a cat")
	// The older writer pauses in the middle of its write.
	tx, err := w.db.Secondary.Begin(w.ctx)
	must(w, tx, err)
	defer func() { _ = tx.Rollback(w.ctx) }()
	if _, err := tx.Exec(w.ctx, `SELECT FROM entries WHERE post_id = $1 FOR UPDATE`, first.PostID); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	go func() { done <- other.catchUpSearch(w.ctx, p.Name) }()
	w.waiting(1, done)
	w.change(ann, func(ctx context.Context) (timelines.Change, error) {
		return w.store.Posts.Edit(ctx, ann.AccountID, post.Code, "a dog")
	})
	go func() { done <- w.rivers.catchUpSearch(w.ctx, p.Name) }()
	w.waiting(2, done)
	if err := tx.Rollback(w.ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if got := w.stands(p.River, post.PostID); got != "gone" {
		t.Errorf("what is no cat any more stands %q, want gone", got)
	}
	w.sound()
	w.shows(w.visit(ann, Search, "cat"), "first cat")
}

// A writer that finds the search made anew meanwhile, or thrown away, writes nothing. The
// live generation has what it should.
func TestASearchMadeAnewMeanwhile(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	for i := range chunk + 10 {
		w.says(ann, numbered(i))
	}
	other := w.node()
	for _, older := range []string{"bringing it up", "extending it"} {
		for _, point := range []string{afterRegister, afterSnapshot, afterEntries, ""} {
			when := older + ", " + point
			p := w.visit(ann, Search, "post")
			late := w.says(ann, "late post")
			var end func()
			if older == "extending it" {
				floor := int64(w.count(`SELECT floor FROM rivers WHERE id = $1`, p.River))
				end = w.comesTo(afterSnapshot, func(ctx context.Context) error {
					return other.extend(ctx, p.Name, p.River, floor, chunk)
				})
			} else {
				end = w.comesTo(afterSnapshot, func(ctx context.Context) error { return other.catchUpSearch(ctx, p.Name) })
			}
			before := w.count(`SELECT count(*) FROM entries WHERE river_id = $1`, p.River)
			// It writes at that point of the build, or after it.
			ctx := w.ctx
			if point != "" {
				ctx = pausedAt(ctx, point, func() { end() })
			}
			floor := int64(0)
			if err := w.rivers.build(ctx, p.Name, ForSearch, &floor); err != nil {
				t.Fatal(err)
			}
			if point == "" {
				end()
				if n := w.count(`SELECT count(*) FROM entries WHERE river_id = $1`, p.River); n != before {
					t.Errorf("%s: %d entries written into a generation that does not stand", when, n-before)
				}
			}
			w.soundAt(when)
			again := w.visit(ann, Search, "post")
			if again.River == p.River || !slices.Contains(bodies(again), "late post") {
				t.Errorf("%s: river %d, was %d: %q", when, again.River, p.River, bodies(again))
			}
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Delete(ctx, ann.AccountID, late.Code)
			})
		}
	}
}

// A post that changes while a search is updated for a page is on the page: no writer leaves
// it to another that has not looked at it yet.
func TestASearchHasNoHoleForAChangedPost(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	n := w.visit(ann, Search, "cat").Name
	for _, point := range []string{afterLookup, afterSnapshot} {
		body := fmt.Sprint("a cat, ", point)
		p := w.says(ann, body)
		ctx := pausedAt(w.ctx, point, func() {
			w.change(ann, func(ctx context.Context) (timelines.Change, error) {
				return w.store.Posts.Like(ctx, ann.AccountID, p.Code)
			})
		})
		page, err := w.rivers.Visit(ctx, ann, n, Cursor{})
		must(w, page, err)
		if len(page.Items) == 0 || page.Items[0].Fold.Text.Body != body || !page.Items[0].Liked {
			t.Errorf("%s: got %+v, want the post liked on top", point, page.Items)
		}
	}
	w.sound()
}

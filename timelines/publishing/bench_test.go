package publishing_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/publishing"
)

// many is how many posts an author of a benchmark has: a million, or a few with -short, to see that it runs.
func many() int {
	if testing.Short() {
		return 10_000
	}
	return 1_000_000
}

// prolific makes an author with n posts, one for each minute back from now on: of twenty 14 are published, one waits, one is
// blocked, one is expired, two are closed and one is deleted. A source brought one in three.
func (w *town) prolific(name string, n int) (author timelines.Account, now time.Time) {
	w.Helper()
	author, now = w.person(name), time.Now()
	w.inTx(func(tx pgx.Tx) error {
		for _, sql := range []string{
			// No words are made for searches.
			`SET LOCAL session_replication_role = replica`,
			`INSERT INTO posts (author_id, fresh_at, created_at, is_public, code, body, decisive, status, imported, deleted_at)
			SELECT @author::bigint, @n - i, @now::timestamptz - i * interval '1 minute', true, lpad(to_hex(@author::bigint * 100000000 + i), 10, '0'),
				'hello', ARRAY[@feed::bigint], s.status, i % 3 = 0, CASE WHEN s.status = 5 THEN @now::timestamptz END
			FROM generate_series(1, @n::bigint) i, LATERAL (SELECT (ARRAY[1, 2, 3, 4, 4, 5])[i % 20 + 1] AS status) m,
				LATERAL (SELECT coalesce(m.status, 0)::smallint AS status) s`,
			`INSERT INTO author_counters (author_id, status, imported, posts)
			SELECT author_id, status, imported, count(*) FROM posts WHERE author_id = @author AND status < 5 GROUP BY 1, 2, 3`,
		} {
			args := pgx.NamedArgs{"author": author.ID, "feed": author.FeedID, "now": now, "n": int64(n)}
			if _, err := tx.Exec(w.Context(), sql, args); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := w.Pool().Exec(w.Context(), `VACUUM ANALYZE posts, author_counters`); err != nil {
		w.Fatal(err)
	}
	w.Pool().Reset()
	return author, now
}

// places are where pages of n posts begin, one post a minute: the top, the middle, and near the end.
func places(now time.Time, n int) map[string]publishing.Place {
	ago := func(posts int) publishing.Place {
		return publishing.Place{CreatedAt: now.Add(-time.Duration(posts) * time.Minute)}
	}
	return map[string]publishing.Place{"top": {}, "middle": ago(n / 2), "end": ago(n - n/10)}
}

// G10: a page costs the same at the top and at the end, whatever the preset, of an author with a million posts. The yardstick
// is a statement that reads nothing: on a machine with other work its 99th percentile grows too.
func BenchmarkPageOfAMillion(b *testing.B) {
	w := newTown(b)
	author, now := w.prolific("ann", many())
	b.Run("yardstick", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if _, err := w.Pool().Exec(b.Context(), `SELECT 1`); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		report(b, "", took)
	})
	for _, preset := range publishing.Presets {
		for _, where := range []string{"top", "middle", "end"} {
			below := places(now, many())[where]
			b.Run(string(preset)+"/"+where, func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					began := time.Now()
					posts, err := w.Publishing.Page(b.Context(), author.ID, preset, below, 26)
					took = append(took, time.Since(began))
					if err != nil || len(posts) != 26 {
						b.Fatalf("%d posts (%v)", len(posts), err)
					}
				}
				report(b, "", took)
			})
		}
	}
}

// G11: a save changes the counters and totals by one statement more.
func BenchmarkSave(b *testing.B) {
	w := newTown(b)
	ann := w.person("ann")
	var heard statements
	w.Store = w.tracedBy(&heard)
	n := 0
	for b.Loop() {
		w.post(ann, fmt.Sprint("hello ", n))
		n++
	}
	all, counting := heard.numbers()
	b.ReportMetric(float64(all)/float64(n), "statements/op")
	b.ReportMetric(float64(all-counting)/float64(n), "statements-without/op")
}

// G11: writers of an author with a million posts hardly wait while their counters are repaired.
func BenchmarkRepairBesideWriters(b *testing.B) {
	w := newTown(b)
	author, _ := w.prolific("ann", many())
	write := func() error {
		_, err := w.Posts.Create(b.Context(), timelines.NewPost{Author: author.ID, Body: "hello"})
		return err
	}
	writers := []func() error{write, write, write, write}
	repair := func() time.Duration {
		const spoil = `UPDATE author_counters SET posts = posts + 5 WHERE author_id = $1 AND status = 1`
		if _, err := w.Pool().Exec(b.Context(), spoil, author.ID); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if wrong, err := w.Publishing.Repair(b.Context(), author.ID); err != nil || len(wrong) != 2 {
			b.Fatalf("repaired %+v (%v), want two counters", wrong, err)
		}
		return time.Since(began)
	}
	var alone, beside, repairs []time.Duration
	for b.Loop() {
		ctx, stop := context.WithTimeout(b.Context(), period())
		alone = slices.Concat(alone, slices.Concat(w.busy(ctx, 0, writers...)()...))
		stop()
		ctx, stop = context.WithCancel(b.Context())
		wait := w.busy(ctx, 0, writers...)
		for began := time.Now(); time.Since(began) < period(); {
			repairs = append(repairs, repair())
		}
		stop()
		beside = slices.Concat(beside, slices.Concat(wait()...))
	}
	report(b, "repair-", repairs)
	report(b, "alone-", alone)
	report(b, "beside-", beside)
	b.ReportMetric(milliseconds(slices.Max(alone)), "alone-longest-ms")
	b.ReportMetric(milliseconds(slices.Max(beside)), "beside-longest-ms")
}

// G24: four people like one post and take it back, beside two writers of something else about it: a column of
// the post, a row of its own whose change draws a version as all do that pages show, and a row of its own alone. The two
// write as fast as they can, or up to a hundred times a second each, which leaves the processor to the likes.
func BenchmarkParts(b *testing.B) {
	w := newTown(b)
	post := w.post(w.person("ann"), "hello")
	for _, sql := range []string{
		fmt.Sprintf(`CREATE TABLE parts AS SELECT %d::bigint AS post_id, 0 AS n`, post.PostID),
		`ALTER TABLE parts ADD PRIMARY KEY (post_id)`,
	} {
		if _, err := w.Pool().Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	var likers []func() error
	for i := range 4 {
		id, n := w.person(fmt.Sprint("reader", i)).ID, 0
		likers = append(likers, func() error {
			set := w.Posts.Like
			if n++; n%2 == 0 {
				set = w.Posts.Unlike
			}
			_, err := set(b.Context(), id, post.Code)
			return err
		})
	}
	const (
		drawn = `UPDATE posts SET version = version + 1 WHERE id = $1`
		own   = `UPDATE parts SET n = 1 - n WHERE post_id = $1`
	)
	run := func(name string, pause time.Duration, statements ...string) {
		b.Run(name, func(b *testing.B) {
			change := func() error {
				return pgx.BeginFunc(b.Context(), w.Pool(), func(tx pgx.Tx) error {
					for _, sql := range statements {
						if _, err := tx.Exec(b.Context(), sql, post.PostID); err != nil {
							return err
						}
					}
					return nil
				})
			}
			var likes, changes []time.Duration
			began := time.Now()
			for b.Loop() {
				ctx, stop := context.WithTimeout(b.Context(), period())
				var wait func() [][]time.Duration
				if len(statements) > 0 {
					wait = w.busy(ctx, pause, change, change)
				}
				likes = slices.Concat(likes, slices.Concat(w.busy(ctx, 0, likers...)()...))
				if wait != nil {
					changes = slices.Concat(changes, slices.Concat(wait()...))
				}
				stop()
			}
			seconds := time.Since(began).Seconds()
			b.ReportMetric(float64(len(likes))/seconds, "likes/s")
			report(b, "like-", likes)
			if len(changes) > 0 {
				b.ReportMetric(float64(len(changes))/seconds, "changes/s")
				report(b, "change-", changes)
			}
		})
	}
	run("likes-alone", 0)
	for name, pause := range map[string]time.Duration{"": 0, "-paced": 10 * time.Millisecond} {
		run("column"+name, pause, `UPDATE posts SET version = version + 1, status = 1 - status WHERE id = $1`)
		run("row-shown"+name, pause, drawn, own)
		run("row-alone"+name, pause, own)
	}
}

// period is how long writers are watched.
func period() time.Duration {
	if testing.Short() {
		return 100 * time.Millisecond
	}
	return 5 * time.Second
}

// busy has each writer write again and again until ctx ends, with a pause between two writes. wait returns how long each
// of their writes took.
func (w *town) busy(ctx context.Context, pause time.Duration, writers ...func() error) (wait func() [][]time.Duration) {
	took := make([][]time.Duration, len(writers))
	var all sync.WaitGroup
	for i, write := range writers {
		all.Go(func() {
			for len(took[i]) == 0 || ctx.Err() == nil {
				began := time.Now()
				if err := write(); err != nil {
					w.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(began))
				if pause > 0 {
					select {
					case <-ctx.Done():
					case <-time.After(pause):
					}
				}
			}
		})
	}
	return func() [][]time.Duration {
		all.Wait()
		return took
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// report prints the median and the 99th percentile.
func report(b *testing.B, name string, took []time.Duration) {
	b.Helper()
	if len(took) == 0 {
		b.Fatalf("%s: nothing was done", name)
	}
	slices.Sort(took)
	b.ReportMetric(milliseconds(took[len(took)/2]), name+"p50-ms")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), name+"p99-ms")
}

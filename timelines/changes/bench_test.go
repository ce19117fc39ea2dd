package changes_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"riverrun/timelines"
	"riverrun/timelines/changes"
)

// BenchmarkWrites makes posts and likes with the outbox and without it, in turn, so that both meet the same machine.
func BenchmarkWrites(b *testing.B) {
	w := newTown(b)
	ann, bob := w.person("ann"), w.person("bob")
	post := w.post(ann)
	does := map[string]func() error{
		"post": func() error {
			_, err := w.Posts.Create(b.Context(), timelines.NewPost{Author: ann.ID, Body: "hello"})
			return err
		},
		"like": func() error {
			_, err := w.Posts.Like(b.Context(), bob.ID, post.Code)
			if err == nil {
				_, err = w.Posts.Unlike(b.Context(), bob.ID, post.Code)
			}
			return err
		},
	}
	for _, what := range []string{"post", "like"} {
		for _, outbox := range []string{"without", "with"} {
			b.Run(what+"/"+outbox, func(b *testing.B) {
				w.outbox(outbox)
				for b.Loop() {
					if err := does[what](); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWritesAtOnce likes from sixteen connections, with the outbox and without it. At a server that waits for the disk
// (RIVERRUN_TEST_DATABASE_URL) it does so with and without that wait. So it says which of them bounds a machine.
func BenchmarkWritesAtOnce(b *testing.B) {
	const writers = 16
	w := newTown(b)
	author := w.person("author")
	var people [writers]timelines.Account
	var posts [writers]timelines.Change
	for i := range people {
		people[i], posts[i] = w.person(fmt.Sprint("person-", i)), w.post(author)
	}
	disks := []string{"off"}
	var fsync string
	w.must(w.Pool().QueryRow(b.Context(), `SHOW fsync`).Scan(&fsync))
	if fsync == "on" {
		disks = []string{"on", "off"}
	}
	for _, disk := range disks {
		for _, outbox := range []string{"without", "with"} {
			b.Run("disk="+disk+"/"+outbox, func(b *testing.B) {
				cfg := w.Pool().Config()
				cfg.MaxConns, cfg.ConnConfig.RuntimeParams["synchronous_commit"] = writers, disk
				pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
				if err != nil {
					b.Fatal(err)
				}
				defer pool.Close()
				w.outbox(outbox)
				store := timelines.Open(pool, nil, timelines.DefaultOptions())
				var did atomic.Int64
				b.ResetTimer()
				var all sync.WaitGroup
				for i := range writers {
					all.Go(func() {
						for did.Add(2) <= int64(2*b.N) {
							_, err := store.Posts.Like(b.Context(), people[i].ID, posts[i].Code)
							if err == nil {
								_, err = store.Posts.Unlike(b.Context(), people[i].ID, posts[i].Code)
							}
							if err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "writes/s")
			})
		}
	}
}

// outbox has changes of posts written to the outbox, or not.
func (w *town) outbox(with string) {
	w.Helper()
	set := map[string]string{"with": "ENABLE", "without": "DISABLE"}[with]
	for _, trigger := range []string{"posts_made", "posts_changed"} {
		_, err := w.Pool().Exec(w.Context(), `ALTER TABLE posts `+set+` TRIGGER `+trigger)
		w.must(err)
	}
}

// BenchmarkRelay drains an outbox of 100,000 rows of 20,000 posts, all of one shard or spread over all.
func BenchmarkRelay(b *testing.B) {
	w := newTown(b)
	rows := 100_000
	if testing.Short() {
		rows = 2000
	}
	for _, shards := range []int{1, changes.Shards} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			moved := int64(0)
			for b.Loop() {
				b.StopTimer()
				const fill = `
					INSERT INTO outbox (shard, kind, post_id, version, places)
					SELECT i % $2, 'post', i % ($1::bigint / 5) + 1, 1, '{7,8}' FROM generate_series(1, $1::bigint) i`
				if _, err := w.Pool().Exec(b.Context(), fill, rows, shards); err != nil {
					b.Fatal(err)
				}
				if _, err := w.Pool().Exec(b.Context(), `ANALYZE outbox`); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				n, err := w.log.RelayAll(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				moved += n
			}
			b.ReportMetric(float64(moved)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

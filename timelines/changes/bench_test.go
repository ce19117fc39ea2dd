package changes_test

import (
	"fmt"
	"testing"

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
				set := map[string]string{"with": "ENABLE", "without": "DISABLE"}[outbox]
				for _, trigger := range []string{"posts_made", "posts_changed"} {
					if _, err := w.Pool().Exec(b.Context(), `ALTER TABLE posts `+set+` TRIGGER `+trigger); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					if err := does[what](); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
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

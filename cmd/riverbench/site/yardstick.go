package site

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/cmd/riverbench/load"
)

// Yardsticks are how long the simplest statements of the same shape as the site's take: the medians of
// reading a page's rows, and of a small durable transaction.
type Yardsticks struct{ Read, Write time.Duration }

// Yardsticks measures them, each for that time, in a table of its own.
func (s *Site) Yardsticks(ctx context.Context, during time.Duration) (y Yardsticks, err error) {
	conn, err := s.admin.Acquire(ctx)
	if err != nil {
		return y, err
	}
	defer conn.Release()
	for _, query := range []string{
		`DROP TABLE IF EXISTS yardstick`,
		`CREATE TABLE yardstick (id bigint PRIMARY KEY, body text)`,
		`ALTER TABLE yardstick ALTER body SET STORAGE EXTERNAL`, // never compressed
		`INSERT INTO yardstick SELECT i, repeat(md5(i::text), 116) FROM generate_series(1, 1000) i`,
	} {
		if _, err := conn.Exec(ctx, query); err != nil {
			return y, err
		}
	}
	n := 0
	y.Read, err = median(ctx, during, func(ctx context.Context) error {
		n++
		rows, err := conn.Query(ctx, `SELECT body FROM yardstick WHERE id > $1 ORDER BY id LIMIT 25`, n%900)
		if err != nil {
			return err
		}
		_, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return y, err
	}
	y.Write, err = median(ctx, during, func(ctx context.Context) error {
		n++
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			for i := range 5 {
				if _, err := tx.Exec(ctx, `UPDATE yardstick SET body = md5(body) WHERE id = $1`, (5*n+i)%1000); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return y, err
}

func median(ctx context.Context, during time.Duration, do func(context.Context) error) (time.Duration, error) {
	ran, err := load.Closed(ctx, 1, during, func(ctx context.Context, _ int) error { return do(ctx) })
	return ran.Times.Quantile(0.5), err
}

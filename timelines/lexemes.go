package timelines

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lexedApart is how many new texts are worth a connection of their own for their lexemes.
const lexedApart = 50

// lexing computes what search finds an author's new texts by, on a connection of its own, while the transaction
// that makes the posts writes other rows. To compute them takes PostgreSQL as long as all the rest.
type lexing struct {
	author int64
	bodies []string
	cancel context.CancelFunc
	// began is closed when there is a connection, and done at the end.
	began, done chan struct{}
	list        []pgtype.TSVector
	err         error
}

// lex begins to compute the lexemes of an author's texts on a connection of a pool. The caller ends it.
func lex(ctx context.Context, pool *pgxpool.Pool, author int64, bodies []string) *lexing {
	ctx, cancel := context.WithCancel(ctx)
	l := &lexing{author: author, bodies: bodies, cancel: cancel, began: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		conn, err := pool.Acquire(ctx)
		if err != nil {
			l.err = fmt.Errorf("lexemes of texts: %w", err)
			return
		}
		defer conn.Release()
		close(l.began)
		l.list, l.err = lexemesOf(ctx, conn, author, bodies)
	}()
	return l
}

// end gives the connection back.
func (l *lexing) end() {
	l.cancel()
	<-l.done
}

// wait returns the lexemes. If all connections are taken, perhaps by others that wait here, it computes them
// on the transaction's.
func (l *lexing) wait(ctx context.Context, tx pgx.Tx) ([]pgtype.TSVector, error) {
	select {
	case <-l.began:
		<-l.done
		return l.list, l.err
	case <-l.done:
		return l.list, l.err
	default:
		l.end()
		return lexemesOf(ctx, tx, l.author, l.bodies)
	}
}

// lexemesOf returns the lexemes of texts, in their order.
func lexemesOf(ctx context.Context, db interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}, author int64, bodies []string,
) ([]pgtype.TSVector, error) {
	rows, err := db.Query(ctx, `
		SELECT n, search_lexemes(@author, body) FROM unnest(@bodies::text[]) WITH ORDINALITY AS t (body, n)`,
		pgx.StrictNamedArgs{"author": author, "bodies": bodies})
	if err != nil {
		return nil, fmt.Errorf("lexemes of texts: %w", err)
	}
	list := make([]pgtype.TSVector, len(bodies))
	var n int
	var lexemes pgtype.TSVector
	_, err = pgx.ForEachRow(rows, []any{&n, &lexemes}, func() error {
		list[n-1] = lexemes
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lexemes of texts: %w", err)
	}
	return list, nil
}

// leaveTexts has the trigger of new posts leave their texts to writeTexts, or no longer.
func (b *batch) leaveTexts(ctx context.Context, leave bool) error {
	if b.lexing == nil {
		return nil
	}
	to := ""
	if leave {
		to = "apart"
	}
	if _, err := b.tx.Exec(ctx, `SELECT set_config('riverrun.texts', @to, true)`, pgx.StrictNamedArgs{"to": to}); err != nil {
		return fmt.Errorf("leave out texts: %w", err)
	}
	return nil
}

// writeTexts writes what search finds the new posts by, unless the trigger did.
func (b *batch) writeTexts(ctx context.Context) error {
	if b.lexing == nil {
		return nil
	}
	lexemes, err := b.lexing.wait(ctx, b.tx)
	if err != nil {
		return err
	}
	return b.copyRows(ctx, "texts", []string{"post_id", "comment_id", "author_id", "lexemes"}, len(b.posts), func(i int, row []any) {
		row[0], row[1], row[2], row[3] = b.posts[i].ID, int64(ownText), b.lexing.author, lexemes[i]
	})
}

package timelines

import (
	"context"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/files"
	"riverrun/timelines/links"
)

// ReadPage says that the page of a link is to be read (Links.Record).
type ReadPage struct{ LinkID int64 }

func (ReadPage) event() {}

// touchedLinks is how many posts may link to a page whose card changes: all of them follow in one
// transaction.
const touchedLinks = 200

// Address returns the address of a link, or links.ErrNotFound.
func (s Links) Address(ctx context.Context, id int64) (string, error) {
	return links.Address(ctx, s.pool, id)
}

// Record records what the page of a link says of itself. The posts that link to it change. If
// they are more than can follow, the card stays as it is, which is none before the first time.
func (s Links) Record(ctx context.Context, id int64, p links.Page) error {
	_, err := inTx(ctx, s.core, func(tx pgx.Tx) (struct{}, error) {
		posts, err := links.Record(ctx, tx, id, p, touchedLinks)
		if err != nil {
			return struct{}{}, err
		}
		events := make([]Event, len(posts))
		for i, post := range posts {
			events[i] = Touched{PostID: post}
		}
		return struct{}{}, s.announceTx(ctx, tx, events...)
	})
	return err
}

// Picture returns the picture of the card of a post as far as the viewer may read the post now,
// or links.ErrNotFound.
func (s Links) Picture(ctx context.Context, viewer int64, code string) (files.Content, error) {
	return links.Picture(ctx, s.pool, viewer, code)
}

// ExpireLinks removes links that no post has any more, at most limit.
func (s Maintenance) ExpireLinks(ctx context.Context, limit int) (int64, error) {
	return links.Expire(ctx, s.pool, limit)
}

// linkTx notes the first link of a post's text, and has its page read. A text without markup is
// from before there were previews, or from elsewhere: its links are often dead.
func (s *core) linkTx(ctx context.Context, tx pgx.Tx, post int64, written writing, edited bool) error {
	address := ""
	if written.markup && s.opts.Previews {
		address = links.First(written.body)
	}
	if address == "" && !edited {
		return nil
	}
	ask, err := links.Set(ctx, tx, post, address)
	if err != nil || ask == 0 {
		return err
	}
	return s.announceTx(ctx, tx, ReadPage{LinkID: ask})
}

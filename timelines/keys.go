package timelines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/drafts"
	"riverrun/timelines/rules"
)

// checkKey returns an InvalidError for a malformed key of a form. An empty key is none:
// the form may be sent any number of times.
func checkKey(key string) error {
	if !storable(key) {
		return rules.KeyLong.Broken("")
	}
	return rules.KeyLong.Text(key)
}

// form is a form as it was sent: its key, and a hash of its content. A form with the same
// key and another content is another form.
type form struct {
	key   string // or empty
	asked [sha256.Size]byte
	// due is when what it made is to be published; zero: at once.
	due time.Time
	// ofVisit: the key is that of a page (VisitKey).
	ofVisit bool
}

// form returns the form of n, which is to be published at a time, or at once if that is the zero When;
// body and to are n's own as they are stored, files as askedTx has them. The order of destinations does
// not matter.
func (n NewPost) form(body string, to, files []string, at When) form {
	parts := slices.Concat([]string{"post", body, n.Language}, slices.Sorted(slices.Values(to)), files)
	if l := n.Listing; l != nil {
		parts = append(parts, "listing", l.Price, l.Currency, l.Place, l.Condition, l.Until)
	}
	if at.At.IsZero() {
		return formOf(n.Key, parts...)
	}
	f := formOf(n.Key, append(parts, "scheduled", at.At.UTC().Format(time.RFC3339Nano), at.Zone)...)
	f.due = at.At
	return f
}

// form returns the form of n; code and body are n's own as they are stored.
func (n NewComment) form(code, body string, files []string) form {
	return formOf(n.Key, slices.Concat([]string{"comment", code, body}, files)...)
}

// VisitKey begins the keys of forms that a page has again while it does not change. A page may be as
// before although its form was sent: the post stands elsewhere, or is deleted. So each text is a form of
// its own, and counts anew when the post that it made is gone.
const VisitKey = "~"

// formOf hashes each part with its length before it, so that different lists of parts
// have different hashes.
func formOf(key string, parts ...string) form {
	h := sha256.New()
	for _, part := range parts {
		_, _ = io.WriteString(h, strconv.Itoa(len(part))+":"+part) // a hash never fails
	}
	f := form{key: key}
	h.Sum(f.asked[:0])
	// Those of pages are short, and a key has at most 100 characters.
	if f.ofVisit = strings.HasPrefix(key, VisitKey) && len(key) <= 80; f.ofVisit {
		f.key += hex.EncodeToString(f.asked[:8])
	}
	return f
}

// recordKeyTx remembers that the account's form made the post, or the comment in it, or a scheduled
// post if post is 0. If the form was sent before, it returns *unchanged with the post or comment made the
// first time; with other content, an InvalidError "key_used". A browser that goes back
// restores a form with its key, and people may write another text into it.
//
// The key of a scheduled post names no row, so that it stays whatever becomes of that post. It expires
// as long after the post's time as other keys after they came.
func recordKeyTx(ctx context.Context, tx pgx.Tx, account int64, f form, post, comment int64) error {
	if f.key == "" {
		return nil
	}
	// If two transactions have one key, the second waits in the unique index for the first.
	// An update that changes nothing returns the row that won; DO NOTHING and a query
	// afterwards could miss a row that was removed in between. A row that is inserted has no xmax; one
	// that is updated has this transaction there.
	const query = `
		INSERT INTO keys (account_id, key, asked, post_id, comment_id, created_at)
		VALUES (@account, @key, @asked, nullif(@post::bigint, 0), nullif(@comment::bigint, 0), coalesce(@due, now()))
		ON CONFLICT (account_id, key) DO UPDATE SET key = EXCLUDED.key
		RETURNING xmax = 0, coalesce(post_id, 0), coalesce(comment_id, 0), asked = @asked`
	var madePost, madeComment int64
	var fresh, same bool
	var due *time.Time
	if !f.due.IsZero() {
		due = &f.due
	}
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"account": account, "key": f.key, "asked": f.asked[:], "post": post, "comment": comment, "due": due,
	}).Scan(&fresh, &madePost, &madeComment, &same)
	if err != nil {
		return fmt.Errorf("record key: %w", err)
	}
	if fresh {
		return nil
	}
	if !same {
		return rules.KeyUsed.Broken("")
	}
	first := Change{Actor: account, PostID: madePost, CommentID: madeComment, Repeated: true}
	if madePost == 0 {
		return &unchanged{first}
	}
	// This is a statement of its own, because the insert's snapshot lacks what the first
	// transaction committed while the insert waited.
	var gone bool
	err = tx.QueryRow(ctx, `SELECT code, status = 1, deleted_at IS NOT NULL FROM posts WHERE id = @post`,
		pgx.StrictNamedArgs{"post": madePost}).Scan(&first.Code, &first.Waits, &gone)
	if err != nil {
		return fmt.Errorf("read what the key made: %w", err)
	}
	if !gone || !f.ofVisit {
		return &unchanged{first}
	}
	const again = `
		UPDATE keys SET post_id = nullif(@post::bigint, 0), comment_id = nullif(@comment::bigint, 0), created_at = coalesce(@due, now())
		WHERE account_id = @account AND key = @key`
	if _, err := tx.Exec(ctx, again, pgx.StrictNamedArgs{"account": account, "key": f.key, "post": post, "comment": comment, "due": due}); err != nil {
		return fmt.Errorf("record key again: %w", err)
	}
	return nil
}

// ExpireKeys removes keys older than olderThan and returns how many. A form that is sent
// again after that makes a second post or comment, or schedules a second post.
func (s Maintenance) ExpireKeys(ctx context.Context, olderThan time.Duration) (int64, error) {
	tag, err := s.pool.Exec(ctx, `DELETE FROM keys WHERE created_at < now() - @age::interval`,
		pgx.StrictNamedArgs{"age": olderThan})
	if err != nil {
		return 0, fmt.Errorf("expire keys: %w", err)
	}
	return tag.RowsAffected(), nil
}

// ExpireVisitorDrafts removes drafts of people who are not signed in: see drafts.Store.ExpireVisitors.
func (s Maintenance) ExpireVisitorDrafts(ctx context.Context, age time.Duration, limit int) (int64, error) {
	return drafts.Open(s.pool).ExpireVisitors(ctx, age, limit)
}

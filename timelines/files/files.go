// Package files records the pictures and files that people upload: whose they are, which post,
// comment or account each belongs to, and which blobs it consists of. The content stands in the
// store of blobs (timelines/blobs).
//
// A file is uploaded before the post or comment that it belongs to is written, and is then
// attached to it, in the transaction that writes it. Until then only its owner can open it, and
// one that is never attached is removed after a while (Expire).
//
// A file is reached by its code, never by the name of its blob: the same picture may stand in an
// open and in a closed post. Find checks, in the statement that finds it, whether the viewer may
// read the post.
package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/timelines/blobs"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// State says what a file is ready for.
type State string

// The states of a file.
const (
	// Waiting: a job will make a picture of it.
	Waiting State = "waiting"
	// Picture: it is shown, in its sizes.
	Picture State = "picture"
	// Download: a file of another kind.
	Download State = "download"
	// Failed: it begins like a picture and cannot be read as one. It is not kept.
	Failed State = "failed"
)

// Upload is the size of a file as it came.
const Upload = "upload"

// ErrNotFound says that there is no such file, or the viewer may not know of it.
var ErrNotFound = errors.New("no such file")

// Loose is how many files that are not attached an account may have.
const Loose = rules.MostLoose

// ErrTooMany says that the owner has too many files that are not attached.
var ErrTooMany = errors.New("too many files that are not attached")

// DB is a pool or a transaction.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// New is an upload whose blob is stored.
type New struct {
	Owner int64
	// Account, if not 0, is the account whose picture it will be.
	Account int64
	Name    string
	Sum     blobs.Sum
	Bytes   int64
	// Picture: it begins like a picture, and a job will make one of it.
	Picture bool
}

// File is an upload as its owner's forms show it.
type File struct {
	ID            int64
	Code          string
	Name          string
	Alt           string
	State         State
	Bytes         int64
	Width, Height int
	// Sum is that of the upload.
	Sum blobs.Sum
}

const fileColumns = `id, code, name, alt, state, bytes, width, height, sum`

func scanFile(row pgx.CollectableRow) (File, error) {
	var f File
	var sum []byte
	err := row.Scan(&f.ID, &f.Code, &f.Name, &f.Alt, &f.State, &f.Bytes, &f.Width, &f.Height, &sum)
	copy(f.Sum[:], sum)
	return f, err
}

// MostWaiting bounds the number of Added.Waiting.
const MostWaiting = 20

// Added is an upload that Add recorded.
type Added struct {
	ID int64
	// Waiting is how many other uploads of its owner wait to be made pictures, and MostWaiting if
	// there are more.
	Waiting int
}

// Add records an upload under a code; taken reports that the code is in use. ErrTooMany if the
// owner has Loose files that are not attached. Those of scheduled posts are not counted, nor those for an
// account, since a new one replaces the last.
func Add(ctx context.Context, tx pgx.Tx, code string, n New) (a Added, taken bool, err error) {
	state := Download
	if n.Picture {
		state = Waiting
	}
	const query = `
		WITH loose AS (` + countLoose + `), made AS (
			INSERT INTO files (owner_id, account_id, code, name, state, bytes, sum)
			SELECT @owner, nullif(@account::bigint, 0), @code, @name, @state, @bytes, @sum
			FROM loose WHERE loose.n < @most OR @account::bigint <> 0
			ON CONFLICT (code) DO NOTHING
			RETURNING id
		), referred AS (
			INSERT INTO file_blobs (file_id, size, type, bytes, sum)
			SELECT id, 'upload', 'application/octet-stream', @bytes, @sum FROM made
		)
		SELECT coalesce((SELECT id FROM made), 0), loose.n,
			(SELECT count(*) FROM (SELECT FROM files WHERE owner_id = @owner AND state = 'waiting' LIMIT @waiting) w)
		FROM loose`
	var loose int
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"owner": n.Owner, "account": n.Account, "code": code, "name": cleanName(n.Name), "state": string(state),
		"bytes": n.Bytes, "sum": n.Sum[:], "most": Loose, "waiting": MostWaiting,
	}).Scan(&a.ID, &loose, &a.Waiting)
	switch {
	case err != nil:
		return Added{}, false, fmt.Errorf("record an upload: %w", err)
	case a.ID != 0:
		return a, false, nil
	case loose >= Loose && n.Account == 0:
		return Added{}, false, ErrTooMany
	}
	return Added{}, true, nil
}

// cleanName returns the name of an uploaded file as it is stored: one line without a path, and
// without characters that turn the direction of writing.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	for utf8.RuneCountInString(name) > 200 { // keep the extension
		runes, ext := []rune(strings.TrimSuffix(name, path.Ext(name))), []rune(path.Ext(name))
		if len(ext) > 20 {
			runes, ext = []rune(name), nil
		}
		name = string(runes[:200-len(ext)]) + string(ext)
	}
	if name == "" || name == "." || name == "/" {
		return "file"
	}
	return name
}

// Attachment names a file for a post or a comment.
type Attachment struct {
	Code string
	// Alt describes a picture to people who do not see it; at most 1,000 characters.
	Alt string
}

// Of returns the files attached to a post, or to its comment if that is not 0, in their order.
func Of(ctx context.Context, db DB, post, comment int64) ([]File, error) {
	const query = `SELECT ` + fileColumns + ` FROM files
		WHERE post_id = @post AND coalesce(comment_id, 0) = @comment ORDER BY position, id`
	return collect(db.Query(ctx, query, pgx.StrictNamedArgs{"post": post, "comment": comment}))
}

// Loosely returns the owner's files of these codes that are not attached, in the order of the
// codes. Others are left out.
func Loosely(ctx context.Context, db DB, owner int64, codes []string) ([]File, error) {
	if len(codes) == 0 {
		return nil, nil
	}
	const query = `SELECT ` + fileColumns + ` FROM files
		WHERE code = ANY(@codes) AND owner_id = @owner AND post_id IS NULL AND account_id IS NULL
		ORDER BY array_position(@codes::text[], code)`
	return collect(db.Query(ctx, query, pgx.StrictNamedArgs{"owner": owner, "codes": codes}))
}

// Owned returns the owner's files of these codes, attached or not, in the order of the codes.
func Owned(ctx context.Context, db DB, owner int64, codes []string) ([]File, error) {
	if len(codes) == 0 {
		return nil, nil
	}
	const query = `SELECT ` + fileColumns + ` FROM files
		WHERE code = ANY(@codes) AND owner_id = @owner AND account_id IS NULL
		ORDER BY array_position(@codes::text[], code)`
	return collect(db.Query(ctx, query, pgx.StrictNamedArgs{"owner": owner, "codes": codes}))
}

func collect(rows pgx.Rows, err error) ([]File, error) {
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	found, err := pgx.CollectRows(rows, scanFile)
	if err != nil {
		return nil, fmt.Errorf("read files: %w", err)
	}
	return found, nil
}

// Set makes these the files of a post, or of its comment if that is not 0, in this order. Each
// is attached already, or is a file of the owner's that is not attached. An attached file that
// is not in the list is removed. Set reports whether anything changed; ErrNotFound if a file is
// none of these. The post must be locked.
func Set(ctx context.Context, tx pgx.Tx, owner, post, comment int64, list []Attachment) (changed bool, err error) {
	codes, alts := make([]string, len(list)), make([]string, len(list))
	for i, a := range list {
		codes[i], alts[i] = a.Code, a.Alt
	}
	// The first statement locks files that another form might attach at the same time.
	const query = `
		WITH wanted AS (
			SELECT code, alt, n FROM unnest(@codes::text[], @alts::text[]) WITH ORDINALITY w (code, alt, n)
		), held AS (
			SELECT f.id, f.post_id, f.position, f.alt, w.n, w.alt AS wanted_alt FROM files f JOIN wanted w ON w.code = f.code
			WHERE f.post_id = @post AND coalesce(f.comment_id, 0) = @comment
				OR f.owner_id = @owner AND f.post_id IS NULL AND f.account_id IS NULL
			ORDER BY f.id FOR UPDATE OF f
		), moved AS (
			UPDATE files f SET post_id = @post, comment_id = nullif(@comment::bigint, 0), position = h.n, alt = h.wanted_alt
			FROM held h WHERE f.id = h.id AND (h.post_id IS NULL OR h.position <> h.n OR h.alt <> h.wanted_alt)
			RETURNING f.id
		), gone AS (
			DELETE FROM files f WHERE f.post_id = @post AND coalesce(f.comment_id, 0) = @comment
				AND f.code <> ALL(@codes)
			RETURNING f.id
		)
		SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM moved) + (SELECT count(*) FROM gone)`
	var held, changes int
	err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"owner": owner, "post": post, "comment": comment, "codes": codes, "alts": alts,
	}).Scan(&held, &changes)
	if err != nil {
		return false, fmt.Errorf("attach files: %w", err)
	}
	if held != len(list) {
		return false, ErrNotFound
	}
	return changes > 0, nil
}

// countLoose counts files of @owner that stand in nothing. Scheduled posts hold theirs, as many as posts may have.
const countLoose = `
	SELECT count(*) AS n FROM files WHERE owner_id = @owner AND post_id IS NULL AND account_id IS NULL
		AND code NOT IN (SELECT unnest(uploads) FROM scheduled_posts WHERE account_id = @owner)`

// CountLoose returns how many files of an owner are not attached and in no scheduled post, without
// pictures of accounts.
func CountLoose(ctx context.Context, db DB, owner int64) (n int, err error) {
	if err := db.QueryRow(ctx, countLoose, pgx.StrictNamedArgs{"owner": owner}).Scan(&n); err != nil {
		return 0, fmt.Errorf("count files: %w", err)
	}
	return n, nil
}

// Describe keeps the descriptions of the owner's files that are not attached.
func Describe(ctx context.Context, db DB, owner int64, list []Attachment) error {
	codes, alts := make([]string, len(list)), make([]string, len(list))
	for i, a := range list {
		codes[i], alts[i] = a.Code, a.Alt
	}
	const query = `
		UPDATE files f SET alt = w.alt FROM unnest(@codes::text[], @alts::text[]) w (code, alt)
		WHERE f.code = w.code AND f.owner_id = @owner AND f.post_id IS NULL AND f.account_id IS NULL AND f.alt <> w.alt`
	if _, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"owner": owner, "codes": codes, "alts": alts}); err != nil {
		return fmt.Errorf("describe files: %w", err)
	}
	return nil
}

// Discard removes the owner's file if it is not attached. ErrNotFound if there is none.
func Discard(ctx context.Context, db DB, owner int64, code string) error {
	const query = `DELETE FROM files WHERE code = @code AND owner_id = @owner AND post_id IS NULL AND account_id IS NULL`
	tag, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"code": code, "owner": owner})
	if err != nil {
		return fmt.Errorf("discard a file: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	return nil
}

// Expire removes files that have been unattached for this long, and that no draft and no scheduled post names.
func Expire(ctx context.Context, db DB, age time.Duration) (int64, error) {
	const query = `
		DELETE FROM files f WHERE f.post_id IS NULL AND f.created_at < now() - @age::interval
			AND NOT EXISTS (SELECT FROM accounts a WHERE a.id = f.account_id AND a.picture = f.code)
			AND NOT EXISTS (SELECT FROM drafts d WHERE d.account_id = f.owner_id AND f.code = ANY(d.uploads))
			AND NOT EXISTS (SELECT FROM scheduled_posts s WHERE s.account_id = f.owner_id AND f.code = ANY(s.uploads))`
	tag, err := db.Exec(ctx, query, pgx.StrictNamedArgs{"age": age})
	if err != nil {
		return 0, fmt.Errorf("expire files: %w", err)
	}
	return tag.RowsAffected(), nil
}

// Content is one size of a file, for reading its blob.
type Content struct {
	Name  string
	State State
	// Type is the media type of the blob.
	Type  string
	Sum   blobs.Sum
	Bytes int64
	// Public: it is an account's picture, which everybody may see.
	Public bool
}

// visible is true for a file f that @viewer may open; p is its post and c its comment, if it
// has them. A group is unseen only because it is deleted, so its picture is nobody's. Administrators of a group may open files
// of posts that wait for it.
var visible = `(NOT EXISTS (SELECT FROM unseen_accounts u JOIN accounts a ON a.id = u.account_id WHERE u.account_id = f.account_id AND a.kind = 'group')
	AND (f.account_id IS NOT NULL AND EXISTS (SELECT FROM accounts a WHERE a.id = f.account_id AND a.picture = f.code)
		AND ` + rights.SeenAs("f.account_id") + `
	OR f.post_id IS NULL AND f.owner_id = @viewer
	OR p.deleted_at IS NULL AND ` + rights.SeenPost + `
		AND (f.comment_id IS NULL OR c.deleted_at IS NULL AND ` + rights.UnbannedAs("c.author_id") + `)
	OR p.status = 1 AND f.comment_id IS NULL AND EXISTS (
		SELECT FROM approvals w JOIN group_admins g ON g.group_id = w.group_id AND g.account_id = @viewer
		WHERE w.post_id = f.post_id AND w.refused_at IS NULL) AND ` + rights.Seen + `))`

// Find returns a size of a file as far as the viewer may read it now, else ErrNotFound. No size
// means the full picture, or the file as it came.
func Find(ctx context.Context, db DB, viewer int64, code, size string) (Content, error) {
	query := `
		SELECT f.name, f.state, b.type, b.sum, b.bytes,
			EXISTS (SELECT FROM accounts a WHERE a.id = f.account_id AND a.picture = f.code)
		FROM files f JOIN file_blobs b ON b.file_id = f.id
			LEFT JOIN posts p ON p.id = f.post_id LEFT JOIN comments c ON c.id = f.comment_id
		WHERE f.code = @code AND f.state <> 'waiting' AND ` + visible + `
			AND b.size = CASE WHEN @size <> '' THEN @size WHEN f.state = 'picture' THEN 'full' ELSE 'upload' END`
	var c Content
	var sum []byte
	err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"viewer": viewer, "code": code, "size": size}).
		Scan(&c.Name, &c.State, &c.Type, &sum, &c.Bytes, &c.Public)
	if errors.Is(err, pgx.ErrNoRows) {
		return Content{}, ErrNotFound
	}
	if err != nil {
		return Content{}, fmt.Errorf("find a file: %w", err)
	}
	copy(c.Sum[:], sum)
	return c, nil
}

// Pending is a file that waits to be made a picture.
type Pending struct {
	ID, PostID, AccountID int64
	// PostCode is the code of the post, empty if it is not attached.
	PostCode string
	Sum      blobs.Sum
	Bytes    int64
}

// FindPending returns a file that waits; ErrNotFound if there is none of that id, or it does not
// wait any more.
func FindPending(ctx context.Context, db DB, id int64) (Pending, error) {
	const query = `
		SELECT f.id, coalesce(f.post_id, 0), coalesce(f.account_id, 0), coalesce(p.code, ''), b.sum, b.bytes
		FROM files f JOIN file_blobs b ON b.file_id = f.id AND b.size = 'upload' LEFT JOIN posts p ON p.id = f.post_id
		WHERE f.id = @id AND f.state = 'waiting'`
	var p Pending
	var sum []byte
	err := db.QueryRow(ctx, query, pgx.StrictNamedArgs{"id": id}).Scan(&p.ID, &p.PostID, &p.AccountID, &p.PostCode, &sum, &p.Bytes)
	if errors.Is(err, pgx.ErrNoRows) {
		return Pending{}, ErrNotFound
	}
	if err != nil {
		return Pending{}, fmt.Errorf("find an upload: %w", err)
	}
	copy(p.Sum[:], sum)
	return p, nil
}

// Made is what a job made of an upload.
type Made struct {
	// Failed: nothing could be made of it.
	Failed        bool
	Width, Height int
	Blurhash      string
	Blobs         []MadeBlob
}

// MadeBlob is a size of a picture whose blob is stored.
type MadeBlob struct {
	Size, Type string
	Sum        blobs.Sum
	Bytes      int64
}

// Finish records what was made of an upload in place of the upload. It does nothing, and reports
// false, if the file is gone, does not wait any more, or has come to another post than the one
// given (0: none).
func Finish(ctx context.Context, tx pgx.Tx, id, post int64, m Made) (bool, error) {
	state := Picture
	if m.Failed {
		state = Failed
	}
	sizes, types, sums, bytes := []string{}, []string{}, [][]byte{}, []int64{}
	for _, b := range m.Blobs {
		sizes, types, sums, bytes = append(sizes, b.Size), append(types, b.Type), append(sums, b.Sum[:]), append(bytes, b.Bytes)
	}
	const query = `
		WITH done AS (
			UPDATE files SET state = @state, width = @width, height = @height, blurhash = @blurhash
			WHERE id = @id AND state = 'waiting' AND coalesce(post_id, 0) = @post
			RETURNING id
		), upload AS (
			DELETE FROM file_blobs b USING done WHERE b.file_id = done.id AND b.size = 'upload'
		), made AS (
			INSERT INTO file_blobs (file_id, size, type, sum, bytes)
			SELECT done.id, m.* FROM done, unnest(@sizes::text[], @types::text[], @sums::bytea[], @bytes::bigint[]) m
		)
		SELECT EXISTS (SELECT FROM done)`
	var done bool
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
		"id": id, "post": post, "state": string(state), "width": m.Width, "height": m.Height, "blurhash": m.Blurhash,
		"sizes": sizes, "types": types, "sums": sums, "bytes": bytes,
	}).Scan(&done)
	if err != nil {
		return false, fmt.Errorf("record a picture: %w", err)
	}
	return done, nil
}

// Codes returns the codes of a list, each once.
func Codes(list []Attachment) []string {
	codes := make([]string, 0, len(list))
	for _, a := range list {
		if !slices.Contains(codes, a.Code) {
			codes = append(codes, a.Code)
		}
	}
	return codes
}

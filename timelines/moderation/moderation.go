package moderation

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/rights"
)

// Decision is what an opinion says of a post.
type Decision string

// The decisions.
const (
	Block Decision = "block"
	Allow Decision = "allow"
	Note  Decision = "note" // it changes nothing
)

// Decisions are all of them.
var Decisions = []Decision{Block, Allow, Note}

const (
	// Staff is the origin of what people decide on pages. No program can have it.
	Staff = "staff"
	// OriginForm is the form of an origin.
	OriginForm = "^[a-z0-9._-]{1,50}$"
	// MaxID is the longest id of an opinion, in bytes.
	MaxID = 200
)

var originForm = regexp.MustCompile(OriginForm)

// Opinion is an opinion on a post.
type Opinion struct {
	Origin   string
	ID       string // the origin's own
	No       int64  // above 0
	Decision Decision
	// Reason is for the author. A block has one.
	Reason string
}

// check returns the opinion as it is stored.
func (o Opinion) check() (Opinion, error) {
	var err error
	switch {
	case !originForm.MatchString(o.Origin) || o.Origin == Staff:
		return o, &timelines.InvalidError{Field: "origin", Code: "opinion_origin"}
	case o.ID == "" || len(o.ID) > MaxID || !printable(o.ID):
		return o, &timelines.InvalidError{Field: "opinion_id", Code: "opinion_id"}
	case o.No <= 0:
		return o, &timelines.InvalidError{Field: "no", Code: "opinion_no"}
	}
	o.Decision, o.Reason, err = checkDecision(o.Decision, o.Reason)
	return o, err
}

func checkDecision(d Decision, reason string) (Decision, string, error) {
	if !slices.Contains(Decisions, d) {
		return d, reason, &timelines.InvalidError{Field: "decision", Code: "opinion_decision"}
	}
	reason, err := timelines.CheckReason(reason, d != Allow)
	return d, reason, err
}

func printable(s string) bool {
	for _, c := range s {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}

// Codes are the codes of the InvalidErrors of this package.
var Codes = []string{"opinion_origin", "opinion_id", "opinion_no", "opinion_decision", "opinion_used"}

// Store has the opinions. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the opinions of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Given is what came of an opinion.
type Given struct {
	// Counts: it is the one of its origin that counts, or a note.
	Counts bool
	// Blocked: the post is blocked now.
	Blocked bool
}

// Give takes the opinion of a program on a post; its owner is a moderator. One that was given before with the same content changes
// nothing. Errors: timelines.ErrForbidden, also if the post is by is one of the staff and by is no administrator (admin.ErrStaff), and
// admin.ErrSelf if by wrote it; timelines.ErrNotFound if there is no such post, or it is deleted; an InvalidError "opinion_used" if the origin gave another opinion with that
// id, and those about what is wrong with a field.
func (s *Store) Give(ctx context.Context, by admin.By, code string, o Opinion) (c timelines.Change, g Given, err error) {
	if o, err = o.check(); err != nil {
		return c, g, err
	}
	return s.give(ctx, by, code, o)
}

// Decide is Give for one of the staff on a page.
func (s *Store) Decide(ctx context.Context, by admin.By, code string, d Decision, reason string) (timelines.Change, error) {
	d, reason, err := checkDecision(d, reason)
	if err != nil {
		return timelines.Change{}, err
	}
	c, _, err := s.give(ctx, by, code, Opinion{Origin: Staff, ID: timelines.NewCode(), Decision: d, Reason: reason})
	return c, err
}

func (s *Store) give(ctx context.Context, by admin.By, code string, o Opinion) (c timelines.Change, g Given, err error) {
	c, err = s.timelines.Posts.Moderate(ctx, by.AccountID, code, func(ctx context.Context, tx pgx.Tx, post, author int64) (timelines.Ruling, error) {
		by, err := admin.RequireTx(ctx, tx, by, admin.Moderator)
		if err != nil {
			return timelines.Ruling{}, err
		}
		if author == by.AccountID { // nobody judges their own posts
			return timelines.Ruling{}, admin.ErrSelf
		}
		if err := admin.AboutTx(ctx, tx, by, author); err != nil {
			return timelines.Ruling{}, err
		}
		return writeTx(ctx, tx, by, post, author, o, code, &g)
	})
	return c, g, err
}

// writeTx writes an opinion on a locked post, and says what is to become of the post.
func writeTx(ctx context.Context, tx pgx.Tx, by admin.By, post, author int64, o Opinion, code string, g *Given) (timelines.Ruling, error) {
	if o.Origin == Staff {
		const next = `SELECT coalesce(max(no), 0) + 1 FROM opinions WHERE post_id = @post AND origin = @origin`
		if err := tx.QueryRow(ctx, next, pgx.StrictNamedArgs{"post": post, "origin": Staff}).Scan(&o.No); err != nil {
			return timelines.Ruling{}, fmt.Errorf("number an opinion: %w", err)
		}
	}
	const insert = `
		INSERT INTO opinions (post_id, no, by_id, origin, opinion_id, decision, reason)
		VALUES (@post, @no, nullif(@by::bigint, 0), @origin, @id, @decision, @reason)
		ON CONFLICT (origin, opinion_id) DO NOTHING`
	args := pgx.StrictNamedArgs{
		"post": post, "no": o.No, "by": by.AccountID, "origin": o.Origin, "id": o.ID, "decision": o.Decision, "reason": o.Reason,
	}
	tag, err := tx.Exec(ctx, insert, args)
	if err != nil {
		return timelines.Ruling{}, fmt.Errorf("write an opinion: %w", err)
	}
	var r timelines.Ruling
	if r.Repeated = tag.RowsAffected() == 0; r.Repeated {
		const same = `
			SELECT EXISTS (SELECT FROM opinions WHERE origin = @origin AND opinion_id = @id
				AND (post_id, no, decision, reason) = (@post::bigint, @no::bigint, @decision::text, @reason::text))`
		delete(args, "by")
		var is bool
		if err := tx.QueryRow(ctx, same, args).Scan(&is); err != nil {
			return r, fmt.Errorf("read an opinion: %w", err)
		}
		if !is {
			return r, &timelines.InvalidError{Field: "opinion_id", Code: "opinion_used"}
		}
	}
	if err := standingTx(ctx, tx, post, o, &r, g); err != nil || r.Repeated {
		return r, err
	}
	return r, recordTx(ctx, tx, by, author, o, code)
}

// recordTx writes an opinion into the audit log. Notes of programs stand beside the post alone.
func recordTx(ctx context.Context, tx pgx.Tx, by admin.By, author int64, o Opinion, code string) error {
	kind := map[Decision]string{Block: admin.BlockPost, Allow: admin.AllowPost, Note: admin.NotePost}[o.Decision]
	detail := o.Reason
	if o.Origin != Staff {
		if o.Decision == Note {
			return nil
		}
		detail = o.Origin + ": " + o.Reason
	}
	return admin.RecordTx(ctx, tx, by, admin.Act{Kind: kind, Account: author, Subject: code, Detail: detail})
}

// latest are the opinions on @post that count, one of each origin.
const latest = `
	WITH latest AS (
		SELECT DISTINCT ON (origin) id, origin, opinion_id, decision, reason FROM opinions
		WHERE post_id = @post AND decision <> 'note' ORDER BY origin, no DESC, id DESC
	), counting AS (
		SELECT * FROM latest WHERE id >= coalesce((SELECT id FROM latest WHERE origin = 'staff' AND decision = 'allow'), 0))`

// standingTx says what the opinions on a post come to, the one just written or repeated among them.
func standingTx(ctx context.Context, tx pgx.Tx, post int64, o Opinion, r *timelines.Ruling, g *Given) error {
	const query = latest + `
		SELECT count(*) FILTER (WHERE decision = 'block') > 0,
			coalesce((SELECT reason FROM counting WHERE decision = 'block' ORDER BY id DESC LIMIT 1), ''),
			count(*) FILTER (WHERE origin = @origin AND opinion_id = @id) > 0
		FROM counting`
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"post": post, "origin": o.Origin, "id": o.ID}).Scan(&r.Blocked, &r.Reason, &g.Counts)
	if err != nil {
		return fmt.Errorf("read opinions: %w", err)
	}
	g.Counts, g.Blocked = g.Counts || o.Decision == Note, r.Blocked
	return nil
}

// Row is an opinion as the staff see it.
type Row struct {
	Origin, ID string
	No         int64
	By         string // the name; empty: deleted, or the command line
	At         time.Time
	Decision   Decision
	Reason     string
	Counts     bool
}

// mostShown is how many opinions on a post pages show, the latest.
const mostShown = 50

// Post is what the staff see of a post and the opinions on it.
type Post struct {
	Author     int64
	AuthorName string
	Blocked    bool
	// Body is empty unless the viewer may read the post, or might where it stood before it was blocked.
	Body   string
	Markup bool
	Rows   []Row // the latest first
}

// Find returns a post with the opinions on it, as one of the staff sees it, or timelines.ErrNotFound.
func (s *Store) Find(ctx context.Context, viewer int64, code string) (p Post, err error) {
	code, ok := timelines.ParseCode(code)
	if !ok {
		return p, timelines.ErrNotFound
	}
	var id int64
	find := `
		SELECT p.id, p.author_id, a.name, p.status = 2, p.markup,
			CASE WHEN ` + rights.SeenPost + ` OR p.status = 2 AND EXISTS (
				SELECT FROM held_posts h JOIN timelines t ON t.id = ANY(h.places) WHERE h.post_id = p.id AND ` + rights.OpenTo("t", "@viewer::bigint") + `)
			THEN p.body ELSE '' END
		FROM posts p JOIN accounts a ON a.id = p.author_id WHERE p.code = @code AND p.deleted_at IS NULL`
	err = s.timelines.Pool().QueryRow(ctx, find, pgx.StrictNamedArgs{"code": code, "viewer": viewer}).
		Scan(&id, &p.Author, &p.AuthorName, &p.Blocked, &p.Markup, &p.Body)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, timelines.ErrNotFound
	}
	if err != nil {
		return p, fmt.Errorf("find post: %w", err)
	}
	const query = latest + `
		SELECT o.origin, o.opinion_id AS id, o.no, coalesce(a.name, '') AS by, o.created_at AS at, o.decision, o.reason,
			EXISTS (SELECT FROM counting c WHERE c.id = o.id) AS counts
		FROM opinions o LEFT JOIN accounts a ON a.id = o.by_id
		WHERE o.post_id = @post ORDER BY o.id DESC LIMIT @most`
	rows, err := s.timelines.Pool().Query(ctx, query, pgx.StrictNamedArgs{"post": id, "most": mostShown})
	if err != nil {
		return p, fmt.Errorf("read opinions: %w", err)
	}
	if p.Rows, err = pgx.CollectRows(rows, pgx.RowToStructByName[Row]); err != nil {
		return p, fmt.Errorf("read opinions: %w", err)
	}
	return p, nil
}

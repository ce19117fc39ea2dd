package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/notices"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
)

// A post is held while moderators block it, or while a group has not let it in yet (source: 002, G12; its
// status is publishing.Blocked or publishing.Waiting). It stands in the timeline for its author's eyes then,
// so that every decision about who may read it keeps it from everybody else, and rivers leave it out even for
// its author. The table held_posts has the places where it goes when it is let out.
//
// A post in several places waits as a whole until each of its groups has answered.

// Ruling is what a moderator decided about a post.
type Ruling struct {
	// Blocked: from now on the post is blocked, or else not.
	Blocked bool
	// Reason of the block, for the author.
	Reason string
	// Repeated: the decision was made before, so that nothing changes.
	Repeated bool
}

// Moderate blocks or allows a post, whoever wrote it and whether or not the actor may read it. rule decides in the
// transaction, which has locked the post; its error ends it. The author is told. ErrNotFound if there is no such post.
func (s Posts) Moderate(ctx context.Context, actor int64, code string,
	rule func(ctx context.Context, tx pgx.Tx, post, author int64) (Ruling, error),
) (Change, error) {
	return s.changeHeld(ctx, actor, code, nil, func(tx pgx.Tx, p lockedPost, h *hold) (told []int64, err error) {
		r, err := rule(ctx, tx, p.ID, p.AuthorID)
		if err != nil {
			return nil, err
		}
		if r.Repeated {
			return nil, &unchanged{p.change(actor)}
		}
		if h.Blocked == r.Blocked && h.Reason == r.Reason {
			return nil, nil
		}
		h.Blocked, h.Reason = r.Blocked, r.Reason
		waits, err := alertedTx(ctx, tx, []int64{p.ID})
		return append(waits, p.AuthorID), err
	})
}

// alertedTx returns whose alerts these posts are among: groups that they wait for, and authors of those that are blocked or
// were refused.
func alertedTx(ctx context.Context, tx pgx.Tx, posts []int64) ([]int64, error) {
	const query = `
		SELECT CASE WHEN refused_at IS NULL THEN group_id ELSE author_id END FROM approvals WHERE post_id = ANY(@posts)
		UNION
		SELECT author_id FROM held_posts WHERE post_id = ANY(@posts) AND blocked_at IS NOT NULL`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"posts": posts})
	return collectIDs(rows, err, "whose alerts posts are among")
}

// hold is why a locked post is held, if it is, and where it goes afterwards.
type hold struct {
	Status    publishing.Status
	Imported  bool
	Decisive  []int64
	Held      bool // there is a row
	Blocked   bool
	Published bool
	Reason    string
	Places    []int64
	Waits     bool
}

// changeHeld runs a change of a post that is held, or will be. Posts go back to their places, whose levels it locks
// before the post, together with those of the groups named. change says whose alerts it changed.
func (s Posts) changeHeld(ctx context.Context, actor int64, code string, groups []int64,
	change func(pgx.Tx, lockedPost, *hold) (told []int64, err error),
) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		c, told, err := s.changeHeldTx(ctx, tx, actor, code, groups, change)
		if err != nil || len(told) == 0 {
			return c, err
		}
		c.Clock, err = tickTx(ctx, tx, recount(told)...)
		return c, err
	})
}

func (s *core) changeHeldTx(ctx context.Context, tx pgx.Tx, actor int64, code string, groups []int64,
	change func(pgx.Tx, lockedPost, *hold) (told []int64, err error),
) (c Change, told []int64, err error) {
	locked, open, err := holdPlacesTx(ctx, tx, code, groups)
	if err != nil {
		return c, nil, err
	}
	p, err := lockPostIfTx(ctx, tx, actor, code, `true`)
	if err != nil {
		return c, nil, err
	}
	h, err := holdTx(ctx, tx, p.ID)
	if err != nil {
		return c, nil, err
	}
	if h.Held && len(without(h.Places, locked)) > 0 {
		return c, nil, errPlacesChanged
	}
	if told, err = change(tx, p, &h); err != nil {
		return c, nil, err
	}
	var counts publishing.Counts
	touched, err := s.settleTx(ctx, tx, p, h, open, &counts)
	if err != nil {
		return c, nil, err
	}
	if err := counts.ApplyTx(ctx, tx); err != nil {
		return c, nil, err
	}
	c, err = s.touchTx(ctx, tx, p.change(actor), touched)
	return c, told, err
}

// errPlacesChanged: the post was held by another transaction after this one had locked its places, and so the change
// is run again.
var errPlacesChanged = errors.New("a post was held meanwhile")

// recount has nodes read the alerts of these accounts anew.
func recount(accounts []int64) []Invalidation {
	var drop []Invalidation
	for _, id := range union(accounts, nil) {
		drop = append(drop, Invalidation{Kind: InvalidCounts, AccountID: id})
	}
	return drop
}

// holdPlacesTx locks the levels of the places where a post goes when it is let out, and of groups. It returns these places,
// and those of all that are not of a group that is being deleted. Places that come later are not locked (errPlacesChanged).
func holdPlacesTx(ctx context.Context, tx pgx.Tx, code string, groups []int64) (places, open []int64, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return nil, nil, ErrNotFound
	}
	const of = `SELECT coalesce((SELECT h.places FROM posts p JOIN held_posts h ON h.post_id = p.id WHERE p.code = @code), '{}')`
	if err := tx.QueryRow(ctx, of, pgx.StrictNamedArgs{"code": code}).Scan(&places); err != nil {
		return nil, nil, fmt.Errorf("read places of a held post: %w", err)
	}
	const lock = `
		SELECT t.id, t.access FROM timelines t
		WHERE t.id = ANY(@places) OR t.kind = 'group' AND t.their_id = ANY(@groups) AND t.term = ''
		ORDER BY t.id FOR SHARE`
	rows, err := tx.Query(ctx, lock, pgx.StrictNamedArgs{"places": places, "groups": groups})
	if err != nil {
		return nil, nil, fmt.Errorf("lock places of a held post: %w", err)
	}
	var id int64
	var level Level
	_, err = pgx.ForEachRow(rows, []any{&id, &level}, func() error {
		if level != Ended {
			open = append(open, id)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("lock places of a held post: %w", err)
	}
	return places, open, nil
}

// holdTx reads why a locked post is held.
func holdTx(ctx context.Context, tx pgx.Tx, post int64) (hold, error) {
	const query = `
		SELECT p.status, p.imported, p.decisive, h.post_id IS NOT NULL AS held, h.blocked_at IS NOT NULL AS blocked,
			coalesce(h.published, true) AS published, coalesce(h.reason, '') AS reason, coalesce(h.places, p.decisive) AS places,
			EXISTS (SELECT FROM approvals a WHERE a.post_id = p.id AND a.refused_at IS NULL) AS waits
		FROM posts p LEFT JOIN held_posts h ON h.post_id = p.id WHERE p.id = @post`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"post": post})
	if err != nil {
		return hold{}, fmt.Errorf("read why a post is held: %w", err)
	}
	h, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[hold])
	if err != nil {
		return hold{}, fmt.Errorf("read why a post is held: %w", err)
	}
	return h, nil
}

// settleTx holds a locked post or lets it out, as h says, and returns the timelines to tell. The caller applies what it
// counts.
func (s *core) settleTx(ctx context.Context, tx pgx.Tx, p lockedPost, h hold, open []int64, counts *publishing.Counts) ([]int64, error) {
	switch {
	case h.Blocked || h.Waits:
		if err := keepTx(ctx, tx, p, h); err != nil {
			return nil, err
		}
		to := publishing.Waiting
		if h.Blocked {
			to = publishing.Blocked
		}
		if err := counts.HoldTx(ctx, tx, p.ID, to); err != nil || h.Held {
			return nil, err
		}
		eyes, err := eyesTx(ctx, tx, p.AuthorID)
		if err != nil {
			return nil, err
		}
		touched, _, err := s.moveTx(ctx, tx, p, union(h.Decisive, nil), []int64{eyes})
		return touched, err
	case h.Held:
		return s.letOutTx(ctx, tx, p, h, open, counts)
	}
	return nil, nil
}

// keepTx writes why a post is held.
func keepTx(ctx context.Context, tx pgx.Tx, p lockedPost, h hold) error {
	const query = `
		INSERT INTO held_posts AS h (post_id, author_id, blocked_at, published, reason, places)
		VALUES (@post, @author, CASE WHEN @blocked::boolean THEN clock_timestamp() END, @published, @reason, @places)
		ON CONFLICT (post_id) DO UPDATE SET reason = EXCLUDED.reason, places = EXCLUDED.places,
			blocked_at = CASE WHEN @blocked AND h.reason = EXCLUDED.reason THEN coalesce(h.blocked_at, EXCLUDED.blocked_at) ELSE EXCLUDED.blocked_at END`
	if !h.Blocked {
		h.Reason = ""
	}
	_, err := tx.Exec(ctx, query, pgx.StrictNamedArgs{
		"post": p.ID, "author": p.AuthorID, "blocked": h.Blocked, "published": h.Published, "reason": h.Reason, "places": union(h.Places, nil),
	})
	if err != nil {
		return fmt.Errorf("hold post: %w", err)
	}
	return nil
}

// eyesTx finds the timeline for somebody's eyes only.
func eyesTx(ctx context.Context, tx pgx.Tx, author int64) (id int64, err error) {
	const eyes = `SELECT id FROM timelines WHERE kind = 'eyes' AND their_id = @author AND term = ''`
	if err := tx.QueryRow(ctx, eyes, pgx.StrictNamedArgs{"author": author}).Scan(&id); err != nil {
		return 0, fmt.Errorf("find the author's eyes: %w", err)
	}
	return id, nil
}

// letOutTx puts a held post into those of its places that are left. If there are none it stays for its author's eyes.
// A post that nobody could read before is as new as if it were written now.
func (s *core) letOutTx(ctx context.Context, tx pgx.Tx, p lockedPost, h hold, open []int64, counts *publishing.Counts) ([]int64, error) {
	if err := counts.LetOutTx(ctx, tx, p.ID); err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `DELETE FROM held_posts WHERE post_id = @post`, pgx.StrictNamedArgs{"post": p.ID}); err != nil {
		return nil, fmt.Errorf("let a post out: %w", err)
	}
	places := slices.DeleteFunc(union(h.Places, nil), func(id int64) bool { return !slices.Contains(open, id) })
	if !h.Published {
		counts.Grow(p.AuthorID, publishing.PublishedEver, "", 1)
	}
	if len(places) == 0 { // it stays where it is, and as fresh as it is
		return nil, nil
	}
	if !h.Published {
		if err := freshenTx(ctx, tx, p); err != nil {
			return nil, err
		}
	}
	touched, _, err := s.moveTx(ctx, tx, p, union(h.Decisive, nil), places)
	if err != nil || h.Published {
		return touched, err
	}
	told, err := notices.TellPost(ctx, tx, p.doing(p.AuthorID, 0))
	return slices.Concat(touched, told), err
}

// freshenTx gives a locked post that nobody but its author could read the place of a new one.
func freshenTx(ctx context.Context, tx pgx.Tx, p lockedPost) error {
	var fresh pgx.Batch
	args := pgx.StrictNamedArgs{"post": p.ID, "stamp": p.Stamp}
	fresh.Queue(`UPDATE posts SET fresh_at = @stamp WHERE id = @post`, args)
	fresh.Queue(`UPDATE timeline_entries e SET fresh_at = @stamp WHERE e.post_id = @post AND e.fresh_at < @stamp AND `+bumped, args)
	if err := tx.SendBatch(ctx, &fresh).Close(); err != nil {
		return fmt.Errorf("freshen post: %w", err)
	}
	return nil
}

// checkHeldTx returns an InvalidError "post_held" if a locked post is held: it goes nowhere then.
func checkHeldTx(ctx context.Context, tx pgx.Tx, post int64) error {
	var held bool
	err := tx.QueryRow(ctx, `SELECT status IN (1, 2) FROM posts WHERE id = @post`, pgx.StrictNamedArgs{"post": post}).Scan(&held)
	if err != nil {
		return fmt.Errorf("read status of a post: %w", err)
	}
	if held {
		return rules.PostHeld.Broken("")
	}
	return nil
}

// MaxReason is the longest reason of a block or a refusal, in characters.
const MaxReason = 2000

// CheckReason returns the trimmed reason of a block or a refusal, or an InvalidError "text_empty", "text_long" or "text_invalid".
func CheckReason(reason string, needed bool) (string, error) {
	reason = strings.TrimSpace(reason)
	switch {
	case needed && reason == "":
		return "", &InvalidError{Field: "reason", Code: "text_empty"}
	case utf8.RuneCountInString(reason) > MaxReason:
		return "", &InvalidError{Field: "reason", Code: "text_long", Most: MaxReason}
	case !utf8.ValidString(reason) || strings.ContainsRune(reason, 0):
		return "", &InvalidError{Field: "reason", Code: "text_invalid"}
	}
	return reason, nil
}

// Held is why a post is held, for its author.
type Held struct {
	Status publishing.Status
	// Reason of the block.
	Reason string
	// Appealed: an appeal against it waits.
	Appealed bool
	// Waits are the names of groups that have not answered.
	Waits []string
}

// Refused says that a group did not take a post of its author's, or that moderators blocked it.
type Refused struct {
	Code      string
	Beginning string // at most publishing.BeginningRunes characters, and one more if the text goes on
	Markup    bool
	GroupID   int64 // 0: it was blocked
	Reason    string
	At        time.Time
}

// Refused returns at most limit of the actor's posts that are blocked, and of the answers of groups that did not take one, the newest
// first. Groups that are unseen are left out.
func (s Posts) Refused(ctx context.Context, actor int64, limit int) ([]Refused, error) {
	query := `
		SELECT p.code, left(p.body, @longest) AS beginning, p.markup, r.group_id, r.reason, r.at
		FROM (
			SELECT post_id, 0::bigint AS group_id, reason, blocked_at AS at FROM held_posts WHERE author_id = @viewer AND blocked_at IS NOT NULL
			UNION ALL
			SELECT post_id, group_id, reason, refused_at FROM approvals WHERE author_id = @viewer AND refused_at IS NOT NULL AND ` + rights.SeenAs("group_id") + `
		) r JOIN posts p ON p.id = r.post_id
		ORDER BY r.at DESC, r.post_id DESC, r.group_id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"viewer": actor, "limit": limit, "longest": publishing.BeginningRunes + 1})
	if err != nil {
		return nil, fmt.Errorf("read refused posts: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Refused])
	if err != nil {
		return nil, fmt.Errorf("read refused posts: %w", err)
	}
	return list, nil
}

// Held returns why the actor's own post is held; its Status is Published if it is not. ErrNotFound if it is none of the actor's.
func (s Posts) Held(ctx context.Context, actor int64, code string) (h Held, err error) {
	code, ok := ParseCode(code)
	if !ok {
		return h, ErrNotFound
	}
	const query = `
		SELECT p.status, coalesce(h.reason, ''),
			EXISTS (SELECT FROM reports r WHERE r.post_id = p.id AND r.reporter_id = @actor AND r.kind = 'appeal' AND r.state <> 'done'),
			ARRAY(SELECT g.name FROM approvals a JOIN accounts g ON g.id = a.group_id WHERE a.post_id = p.id AND a.refused_at IS NULL ORDER BY g.name)
		FROM posts p LEFT JOIN held_posts h ON h.post_id = p.id
		WHERE p.code = @code AND p.author_id = @actor AND p.deleted_at IS NULL`
	err = s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"code": code, "actor": actor}).Scan(&h.Status, &h.Reason, &h.Appealed, &h.Waits)
	if errors.Is(err, pgx.ErrNoRows) {
		return h, ErrNotFound
	}
	if err != nil {
		return h, fmt.Errorf("read why a post is held: %w", err)
	}
	return h, nil
}

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

	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
	"riverrun/timelines/snapshot"
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
		if err := freshenTx(ctx, tx, p); err != nil {
			return nil, err
		}
	}
	if len(places) == 0 {
		return nil, nil
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

// approvingTx returns those of some destinations that are groups whose administrators let posts of this author in, each by
// itself. The levels are locked, so that this stays as it is.
func approvingTx(ctx context.Context, tx pgx.Tx, author int64, found []destination) ([]destination, error) {
	var asked []int64
	for _, d := range found {
		if d.Kind == kinds.Group {
			asked = append(asked, d.TimelineID)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	const query = `
		SELECT t.id FROM timelines t WHERE t.id = ANY(@timelines) AND t.approves
			AND NOT EXISTS (SELECT FROM group_admins g WHERE g.group_id = t.their_id AND g.account_id = @author)`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"timelines": asked, "author": author})
	approving, err := collectIDs(rows, err, "groups that approve posts")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(d destination) bool { return !slices.Contains(approving, d.TimelineID) }), nil
}

// checkApprovalTx returns an InvalidError "to_approval" for a destination where a post of the author would have to wait.
func checkApprovalTx(ctx context.Context, tx pgx.Tx, author int64, found []destination) error {
	approving, err := approvingTx(ctx, tx, author, found)
	if err == nil && len(approving) > 0 {
		err = rules.ToApproval.Broken(approving[0].Name)
	}
	return err
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

// waitTx makes a new post wait for groups; it was placed for its author's eyes. It returns the groups.
func waitTx(ctx context.Context, tx pgx.Tx, author, post int64, where address) (groups []int64, err error) {
	const query = `
		WITH held AS (
			INSERT INTO held_posts (post_id, author_id, published, places) VALUES (@post, @author, false, @places)
		), asked AS (
			INSERT INTO approvals (post_id, group_id, author_id)
			SELECT @post::bigint, t.their_id, @author::bigint FROM timelines t WHERE t.id = ANY(@waits) ORDER BY t.their_id
			RETURNING group_id
		), waits AS (UPDATE posts SET status = 1 WHERE id = @post)
		SELECT group_id FROM asked`
	rows, err := tx.Query(ctx, query, pgx.StrictNamedArgs{"post": post, "author": author, "places": where.places, "waits": where.waits})
	return collectIDs(rows, err, "groups that a post waits for")
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

// Approve lets a post into a group that the actor administers. When no other group is left to answer, it is
// published. ErrNotFound if it does not wait there, or there is no such group; ErrForbidden if the actor does not administer it.
func (s Posts) Approve(ctx context.Context, actor int64, group, code string) (Change, error) {
	return s.answer(ctx, actor, group, code, `DELETE FROM approvals WHERE post_id = @post AND group_id = @group AND refused_at IS NULL`, nil)
}

// Refuse keeps a post out of a group that the actor administers. Its author is told, with the reason, which may be
// empty, and keeps it. The errors are those of Approve.
func (s Posts) Refuse(ctx context.Context, actor int64, group, code, reason string) (Change, error) {
	reason, err := CheckReason(reason, false)
	if err != nil {
		return Change{}, err
	}
	const refuse = `UPDATE approvals SET refused_at = clock_timestamp(), reason = @reason WHERE post_id = @post AND group_id = @group AND refused_at IS NULL`
	return s.answer(ctx, actor, group, code, refuse, pgx.StrictNamedArgs{"reason": reason})
}

// answer is the answer of a group, written by a statement; if that has arguments, it refuses.
func (s Posts) answer(ctx context.Context, actor int64, group, code, write string, refusal pgx.StrictNamedArgs) (Change, error) {
	g, err := s.groupNamed(ctx, group)
	if err != nil {
		return Change{}, err
	}
	return s.changeHeld(ctx, actor, code, []int64{g}, func(tx pgx.Tx, p lockedPost, h *hold) (told []int64, err error) {
		// The group's timeline is locked, so administrators stay as this statement finds them.
		const leads = `
			SELECT t.id, EXISTS (SELECT FROM group_admins a WHERE a.group_id = @group AND a.account_id = @actor)
			FROM timelines t WHERE t.kind = 'group' AND t.their_id = @group AND t.term = ''`
		var place int64
		var may bool
		if err := tx.QueryRow(ctx, leads, pgx.StrictNamedArgs{"group": g, "actor": actor}).Scan(&place, &may); err != nil {
			return nil, fmt.Errorf("read administrators: %w", err)
		}
		if !may {
			return nil, ErrForbidden
		}
		args := pgx.StrictNamedArgs{"post": p.ID, "group": g}
		for name, value := range refusal {
			args[name] = value
		}
		tag, err := tx.Exec(ctx, write, args)
		if err != nil {
			return nil, fmt.Errorf("answer for a group: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return nil, ErrNotFound
		}
		if refusal != nil {
			h.Places = without(h.Places, []int64{place})
		}
		*h, err = h.waitingTx(ctx, tx, p.ID)
		return []int64{g, p.AuthorID}, err
	})
}

// waitingTx returns the hold with what the post waits for now.
func (h hold) waitingTx(ctx context.Context, tx pgx.Tx, post int64) (hold, error) {
	const query = `SELECT EXISTS (SELECT FROM approvals WHERE post_id = @post AND refused_at IS NULL)`
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"post": post}).Scan(&h.Waits); err != nil {
		return h, fmt.Errorf("read what a post waits for: %w", err)
	}
	return h, nil
}

// groupNamed returns the id of a group, or ErrNotFound.
func (s *core) groupNamed(ctx context.Context, name string) (id int64, err error) {
	if !nameForm.MatchString(name) {
		return 0, ErrNotFound
	}
	err = s.pool.QueryRow(ctx, `SELECT id FROM accounts WHERE name = @name AND kind = 'group'`, pgx.StrictNamedArgs{"name": name}).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find group: %w", err)
	}
	return id, nil
}

// StopWaiting publishes the actor's own post without the groups that have not answered, or keeps it for the actor's eyes
// if there is no other place. ErrNotFound if the post does not wait.
func (s Posts) StopWaiting(ctx context.Context, actor int64, code string) (Change, error) {
	return s.changeHeld(ctx, actor, code, nil, func(tx pgx.Tx, p lockedPost, h *hold) (told []int64, err error) {
		if p.AuthorID != actor || h.Status != publishing.Waiting {
			return nil, ErrNotFound
		}
		rows, err := tx.Query(ctx, `DELETE FROM approvals WHERE post_id = @post AND refused_at IS NULL RETURNING group_id`, pgx.StrictNamedArgs{"post": p.ID})
		if told, err = collectIDs(rows, err, "groups that a post waits for"); err != nil {
			return nil, err
		}
		// Places of groups that have let it in stay.
		const left = `
			SELECT t.id FROM timelines t WHERE t.id = ANY(@places) AND NOT (t.kind = 'group' AND t.their_id = ANY(@groups))`
		rows, err = tx.Query(ctx, left, pgx.StrictNamedArgs{"places": h.Places, "groups": told})
		if h.Places, err = collectIDs(rows, err, "places of a post"); err != nil {
			return nil, err
		}
		h.Waits = false
		return told, nil
	})
}

// forgoTx has one of the posts that wait for an ended group go on without it, as nobody is left to answer. It returns what
// rivers must follow, and whether there was such a post. Those that wait for nobody else are published, or stay for their author's eyes.
func (s *core) forgoTx(ctx context.Context, tx pgx.Tx, group int64) (gone []Touched, found bool, err error) {
	const next = `
		SELECT p.code FROM approvals a JOIN posts p ON p.id = a.post_id
		WHERE a.group_id = @group AND a.refused_at IS NULL ORDER BY a.post_id LIMIT 1`
	var code string
	err = tx.QueryRow(ctx, next, pgx.StrictNamedArgs{"group": group}).Scan(&code)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("find a post that waits: %w", err)
	}
	c, _, err := s.changeHeldTx(ctx, tx, 0, code, nil, func(tx pgx.Tx, p lockedPost, h *hold) (told []int64, err error) {
		_, err = tx.Exec(ctx, `DELETE FROM approvals WHERE post_id = @post AND group_id = @group`, pgx.StrictNamedArgs{"post": p.ID, "group": group})
		if err != nil {
			return nil, fmt.Errorf("answer for a group that ended: %w", err)
		}
		*h, err = h.waitingTx(ctx, tx, p.ID)
		return nil, err
	})
	if errors.Is(err, ErrNotFound) { // its author deleted it meanwhile
		return nil, true, nil
	}
	return []Touched{{PostID: c.PostID, Timelines: c.Touched}}, true, err
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

// WaitingPost is a post that waits for a group.
type WaitingPost struct {
	ID        int64
	Code      string
	AuthorID  int64
	Body      string
	Markup    bool
	CreatedAt time.Time
	// Pictures are those that are ready, and Others is how many files it has besides.
	Pictures []snapshot.Attached
	Others   int
}

// waiting selects the posts p that wait for a group, as far as @viewer may know of their authors.
var waiting = `FROM approvals a JOIN posts p ON p.id = a.post_id
		WHERE a.group_id = @group AND a.refused_at IS NULL AND p.status = 1 AND ` + rights.SeenAs("p.author_id")

// CountWaiting returns how many posts Waiting has altogether.
func (s Posts) CountWaiting(ctx context.Context, viewer, group int64) (n int, err error) {
	query := `SELECT count(*) ` + waiting
	if err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"group": group, "viewer": viewer}).Scan(&n); err != nil {
		return 0, fmt.Errorf("count posts that wait: %w", err)
	}
	return n, nil
}

// Waiting returns at most limit of the posts that wait for a group, the oldest first, after the one with that id. The caller has
// checked that the viewer administers the group. Posts of people who are unseen are left out.
func (s Posts) Waiting(ctx context.Context, viewer, group, after int64, limit int) ([]WaitingPost, error) {
	query := `
		SELECT p.id, p.code, p.author_id, p.body, p.markup, p.created_at,
			(SELECT coalesce(jsonb_agg(jsonb_build_object('code', f.code, 'title', f.name, 'alt', f.alt, 'width', f.width, 'height', f.height)
				ORDER BY f.position, f.id), '[]') FROM files f WHERE f.post_id = p.id AND f.comment_id IS NULL AND f.state = 'picture') AS pictures,
			(SELECT count(*) FROM files f WHERE f.post_id = p.id AND f.comment_id IS NULL AND f.state <> 'picture') AS others
		` + waiting + ` AND a.post_id > @after
		ORDER BY a.post_id LIMIT @limit`
	rows, err := s.pool.Query(ctx, query, pgx.StrictNamedArgs{"group": group, "viewer": viewer, "after": after, "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("read posts that wait: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[WaitingPost])
	if err != nil {
		return nil, fmt.Errorf("read posts that wait: %w", err)
	}
	return list, nil
}

// SetApproval says whether posts to a group wait until one of its administrators lets them in. Theirs never do, and what waits
// already goes on. ErrNotFound if there is no such group, ErrForbidden if the actor does not administer it.
func (s Groups) SetApproval(ctx context.Context, actor int64, group string, approves bool) (Change, error) {
	return s.change(ctx, func(tx pgx.Tx) (Change, error) {
		g, err := lockGroupTx(ctx, tx, actor, group)
		if err != nil {
			return Change{}, err
		}
		tag, err := tx.Exec(ctx, `UPDATE timelines SET approves = @approves WHERE id = @feed AND approves <> @approves`,
			pgx.StrictNamedArgs{"approves": approves, "feed": g.FeedID})
		if err != nil {
			return Change{}, fmt.Errorf("set approval: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return s.acknowledgeTx(ctx, tx, Change{Actor: actor})
		}
		clock, err := tickTx(ctx, tx, Invalidation{Kind: InvalidAccount, AccountID: g.ID})
		return Change{Actor: actor, Clock: clock}, err
	})
}

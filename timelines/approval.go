package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/publishing"
	"riverrun/timelines/rights"
	"riverrun/timelines/rules"
	"riverrun/timelines/snapshot"
)

// A group may let posts of others than its administrators in one by one. Until it has answered, such a post is held (held.go).

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

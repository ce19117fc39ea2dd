package doors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/admin"
	"riverrun/timelines/site"
)

// Limits of invitations.
const (
	MaxUses   = 1000
	MaxDays   = 365
	maxNote   = 200
	maxGroups = 20
	// PerWeek is how many anybody makes in a week, each for one newcomer.
	PerWeek = 5
	// GroupPerWeek is how many somebody makes in a week for groups that they are in charge of.
	GroupPerWeek = 20
)

// State is how it stands with an invitation.
type State string

// The states. Only a good one lets anybody in.
const (
	Good      State = "good"
	Unknown   State = "unknown" // there is none of that code
	Spent     State = "spent"
	Expired   State = "expired"
	Withdrawn State = "withdrawn"
)

// InvitationError says why an invitation lets nobody in.
type InvitationError struct{ State State }

func (e *InvitationError) Error() string { return "the invitation is " + string(e.State) }

// Invitation is a link by which people sign up.
type Invitation struct {
	ID        int64
	Code      string
	ByID      int64  // 0: the command line
	By        string // the maker's name, or empty
	CreatedAt time.Time
	ExpiresAt time.Time
	Uses      int // how many may sign up by it
	Used      int // how many have
	State     State
	Note      string   // for its maker and the staff
	Groups    []string // names of the groups that newcomers join
	Came      []string // names of those who signed up by it, at most maxCame
}

// maxCame is how many newcomers of one invitation a list names.
const maxCame = 50

// invitationColumns make an Invitation of i. Somebody who is suspended invites nobody.
const invitationColumns = `
	i.id, i.code, coalesce(i.by_id, 0) AS by_id, coalesce((SELECT name FROM accounts WHERE id = i.by_id), '') AS by,
	i.created_at, i.expires_at, i.uses, i.used, ` + stateColumn + ` AS state, i.note,
	ARRAY(SELECT a.name FROM invitation_groups g JOIN accounts a ON a.id = g.group_id WHERE g.invitation_id = i.id ORDER BY a.name) AS groups,
	ARRAY(SELECT a.name FROM (SELECT account_id FROM invited WHERE invitation_id = i.id ORDER BY account_id LIMIT 50) n
		JOIN accounts a ON a.id = n.account_id ORDER BY a.id) AS came`

const stateColumn = `CASE
	WHEN i.withdrawn_at IS NOT NULL OR EXISTS (SELECT FROM suspensions s WHERE s.account_id = i.by_id AND coalesce(s.ends_at > now(), true))
		OR EXISTS (SELECT FROM leaving v WHERE v.account_id = i.by_id) THEN 'withdrawn'
	WHEN i.used >= i.uses THEN 'spent' WHEN i.expires_at <= now() THEN 'expired' ELSE 'good' END`

// New is an invitation to be made.
type New struct {
	Uses   int // how many may sign up by it
	Days   int // how long it is good
	Groups []string
	Note   string
}

// Invite makes an invitation. The staff may, and the command line; administrators of groups may for
// these groups, GroupPerWeek times in a week; everybody else may PerWeek times for one newcomer each,
// unless the staff let everybody in themselves (site.ByApproval). Newcomers join the groups, which
// by must be in charge of, staff or not. Errors: InvalidErrors, ErrClosed, ErrMany,
// timelines.ErrForbidden.
func (s *Store) Invite(ctx context.Context, by admin.By, n New) (made Invitation, err error) {
	if n.Note, err = clean("note", n.Note, maxNote); err != nil {
		return made, err
	}
	switch {
	case n.Uses < 1 || n.Uses > MaxUses:
		return made, &timelines.InvalidError{Field: "uses", Code: "invitation_uses", Most: MaxUses}
	case n.Days < 1 || n.Days > MaxDays:
		return made, &timelines.InvalidError{Field: "days", Code: "invitation_days", Most: MaxDays}
	case len(n.Groups) > maxGroups:
		return made, &timelines.InvalidError{Field: "groups", Code: "invitation_groups", Most: maxGroups}
	}
	code := rand.Text()
	err = s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		door, err := s.doorTx(ctx, tx)
		if err != nil {
			return err
		}
		if door == site.Closed {
			return ErrClosed
		}
		groups, err := groupsTx(ctx, tx, by, n.Groups)
		if err != nil {
			return err
		}
		staff, err := admin.RequireTx(ctx, tx, by, admin.Moderator)
		isStaff := err == nil
		if errors.Is(err, timelines.ErrForbidden) {
			err = memberMayTx(ctx, tx, by, door, n)
		}
		if err != nil {
			return err
		}
		const query = `
			INSERT INTO invitations (by_id, expires_at, uses, code, note)
			VALUES (nullif(@by::bigint, 0), now() + make_interval(days => @days), @uses, @code, @note) RETURNING id`
		var id int64
		err = tx.QueryRow(ctx, query, pgx.StrictNamedArgs{
			"by": by.AccountID, "days": n.Days, "uses": n.Uses, "code": code, "note": n.Note,
		}).Scan(&id)
		if err != nil {
			return fmt.Errorf("make invitation: %w", err)
		}
		_, err = tx.Exec(ctx, `INSERT INTO invitation_groups (invitation_id, group_id) SELECT @id, unnest(@groups::bigint[])`,
			pgx.StrictNamedArgs{"id": id, "groups": groups})
		if err != nil {
			return fmt.Errorf("store groups of an invitation: %w", err)
		}
		if isStaff {
			if err := admin.RecordTx(ctx, tx, staff, admin.Act{Kind: actInvite, Subject: code, Detail: n.Note}); err != nil {
				return err
			}
		}
		made, err = invitationTx(ctx, tx, code)
		return err
	})
	return made, err
}

// groupsTx returns the ids of groups, which by must be in charge of.
func groupsTx(ctx context.Context, tx pgx.Tx, by admin.By, names []string) ([]int64, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for _, name := range names {
		if !timelines.IsName(name) {
			return nil, timelines.ErrNotFound
		}
	}
	var known, ids []int64
	err := tx.QueryRow(ctx, `
		SELECT coalesce(array_agg(a.id), '{}'), coalesce(array_agg(a.id) FILTER (
			WHERE @by::bigint = 0 OR EXISTS (SELECT FROM group_admins g WHERE g.group_id = a.id AND g.account_id = @by)), '{}')
		FROM accounts a WHERE a.kind = 'group' AND a.name = ANY(@names)`,
		pgx.StrictNamedArgs{"by": by.AccountID, "names": names}).Scan(&known, &ids)
	switch distinct := distinctOf(names); {
	case err != nil:
		return nil, fmt.Errorf("read groups: %w", err)
	case len(known) < distinct:
		return nil, timelines.ErrNotFound
	case len(ids) < distinct:
		return nil, timelines.ErrForbidden
	}
	return ids, nil
}

func distinctOf(names []string) int {
	set := make(map[string]struct{}, len(names))
	for _, name := range names {
		set[name] = struct{}{}
	}
	return len(set)
}

// memberMayTx returns an error if somebody who is none of the staff may not make this invitation
// now.
func memberMayTx(ctx context.Context, tx pgx.Tx, by admin.By, door site.SignUp, n New) error {
	most := GroupPerWeek
	if len(n.Groups) == 0 {
		if most = PerWeek; door == site.ByApproval {
			return timelines.ErrForbidden
		}
	}
	// Everybody can found a group, so a group opens no wider door.
	if n.Uses > 1 && (len(n.Groups) == 0 || door != site.OpenToAll) {
		return &timelines.InvalidError{Field: "uses", Code: "invitation_uses", Most: 1}
	}
	// Two at once are counted one after the other.
	if _, err := tx.Exec(ctx, `SELECT FROM accounts WHERE id = @by FOR NO KEY UPDATE`, pgx.StrictNamedArgs{"by": by.AccountID}); err != nil {
		return fmt.Errorf("lock account: %w", err)
	}
	var made int
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM invitations i WHERE by_id = @by AND created_at > now() - interval '7 days'
			AND @of_groups = EXISTS (SELECT FROM invitation_groups g WHERE g.invitation_id = i.id)`,
		pgx.StrictNamedArgs{"by": by.AccountID, "of_groups": len(n.Groups) > 0}).Scan(&made)
	if err != nil {
		return fmt.Errorf("count invitations: %w", err)
	}
	if made >= most {
		return ErrMany
	}
	return nil
}

func invitationTx(ctx context.Context, tx pgx.Tx, code string) (Invitation, error) {
	rows, err := tx.Query(ctx, `SELECT `+invitationColumns+` FROM invitations i WHERE i.code = @code`, pgx.StrictNamedArgs{"code": code})
	if err != nil {
		return Invitation{}, fmt.Errorf("read invitation: %w", err)
	}
	i, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Invitation])
	if err != nil {
		return Invitation{}, fmt.Errorf("read invitation: %w", err)
	}
	return i, nil
}

// isCode reports whether a text can be the code of an invitation.
func isCode(text string) bool {
	if len(text) != 26 {
		return false
	}
	for _, c := range text {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// Find returns how it stands with the invitation of that code.
func (s *Store) Find(ctx context.Context, code string) (state State, err error) {
	if !isCode(code) {
		return Unknown, nil
	}
	err = s.timelines.Pool().QueryRow(ctx, `SELECT `+stateColumn+` FROM invitations i WHERE i.code = @code`,
		pgx.StrictNamedArgs{"code": code}).Scan(&state)
	if errors.Is(err, pgx.ErrNoRows) {
		return Unknown, nil
	}
	if err != nil {
		return "", fmt.Errorf("read invitation: %w", err)
	}
	return state, nil
}

// useTx lets a new account in by an invitation.
func useTx(ctx context.Context, tx pgx.Tx, code string, account int64) ([]timelines.Invalidation, error) {
	if !isCode(code) {
		return nil, &InvitationError{Unknown}
	}
	// The lock is taken in a statement of its own: the next sees what the last one used who held it.
	args := pgx.StrictNamedArgs{"code": code}
	if _, err := tx.Exec(ctx, `SELECT FROM invitations WHERE code = @code FOR UPDATE`, args); err != nil {
		return nil, fmt.Errorf("lock invitation: %w", err)
	}
	var id, by int64
	var state State
	err := tx.QueryRow(ctx, `SELECT i.id, coalesce(i.by_id, 0), `+stateColumn+` FROM invitations i WHERE i.code = @code`, args).Scan(&id, &by, &state)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &InvitationError{Unknown}
	}
	if err != nil {
		return nil, fmt.Errorf("read invitation: %w", err)
	}
	if state != Good {
		return nil, &InvitationError{state}
	}
	// Its maker may have ceased to administer a group, or be ceasing to.
	query, of := `SELECT group_id FROM group_admins WHERE account_id = @by AND group_id IN (
		SELECT group_id FROM invitation_groups WHERE invitation_id = @id) ORDER BY 1 FOR SHARE`, pgx.StrictNamedArgs{"by": by, "id": id}
	if by == 0 {
		query, of = `SELECT group_id FROM invitation_groups WHERE invitation_id = @id ORDER BY 1`, pgx.StrictNamedArgs{"id": id}
	}
	rows, err := tx.Query(ctx, query, of)
	if err != nil {
		return nil, fmt.Errorf("read groups of an invitation: %w", err)
	}
	groups, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read groups of an invitation: %w", err)
	}
	if len(groups) == 0 {
		if err := goodWithoutGroupsTx(ctx, tx, id, by); err != nil {
			return nil, err
		}
	}
	const count = `
		WITH counted AS (UPDATE invitations SET used = used + 1 WHERE id = @id)
		INSERT INTO invited (account_id, invitation_id) VALUES (@account, @id)`
	if _, err := tx.Exec(ctx, count, pgx.StrictNamedArgs{"id": id, "account": account}); err != nil {
		return nil, fmt.Errorf("use invitation: %w", err)
	}
	return timelines.JoinTx(ctx, tx, account, groups)
}

// goodWithoutGroupsTx refuses an invitation that was for groups, if none of them is left that its
// maker is in charge of: it was made on the strength of that, but for those of the staff.
func goodWithoutGroupsTx(ctx context.Context, tx pgx.Tx, id, by int64) error {
	var ofGroups bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM invitation_groups WHERE invitation_id = @id)
		AND NOT EXISTS (SELECT FROM staff WHERE account_id = @by)`, pgx.StrictNamedArgs{"id": id, "by": by}).Scan(&ofGroups)
	if err != nil {
		return fmt.Errorf("read groups of an invitation: %w", err)
	}
	if ofGroups {
		return &InvitationError{Withdrawn}
	}
	return nil
}

// Withdraw ends an invitation. Its maker may, the staff, and the command line; for others there is
// none (timelines.ErrNotFound).
func (s *Store) Withdraw(ctx context.Context, by admin.By, code string) error {
	if !isCode(code) {
		return timelines.ErrNotFound
	}
	return s.timelines.InTx(ctx, func(tx pgx.Tx) error {
		staff, err := admin.RequireTx(ctx, tx, by, admin.Moderator)
		isStaff := err == nil
		if err != nil && !errors.Is(err, timelines.ErrForbidden) {
			return err
		}
		var was bool
		err = tx.QueryRow(ctx, `
			SELECT withdrawn_at IS NOT NULL FROM invitations WHERE code = @code AND (@staff OR by_id = @by) FOR UPDATE`,
			pgx.StrictNamedArgs{"code": code, "staff": isStaff, "by": by.AccountID}).Scan(&was)
		if errors.Is(err, pgx.ErrNoRows) {
			return timelines.ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("read invitation: %w", err)
		}
		if was {
			return nil
		}
		if _, err := tx.Exec(ctx, `UPDATE invitations SET withdrawn_at = now() WHERE code = @code`, pgx.StrictNamedArgs{"code": code}); err != nil {
			return fmt.Errorf("withdraw invitation: %w", err)
		}
		if !isStaff {
			return nil
		}
		return admin.RecordTx(ctx, tx, staff, admin.Act{Kind: actWithdraw, Subject: code})
	})
}

// Invitations returns at most limit invitations, the newest first, those before the one of that id;
// 0 begins with the newest. by is whose; 0: everybody's.
func (s *Store) Invitations(ctx context.Context, by, before int64, limit int) ([]Invitation, error) {
	whose := ``
	args := pgx.StrictNamedArgs{"before": before, "limit": limit}
	if by != 0 {
		whose, args["by"] = ` AND i.by_id = @by`, by
	}
	rows, err := s.timelines.Pool().Query(ctx, `SELECT `+invitationColumns+` FROM invitations i
		WHERE (@before::bigint = 0 OR i.id < @before)`+whose+` ORDER BY i.id DESC LIMIT @limit`, args)
	if err != nil {
		return nil, fmt.Errorf("read invitations: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Invitation])
	if err != nil {
		return nil, fmt.Errorf("read invitations: %w", err)
	}
	return list, nil
}

// Origin is how somebody came, and whom they brought.
type Origin struct {
	Invited bool     // by an invitation
	By      string   // its maker's name; empty: the command line's
	Note    string   // of the invitation
	Brought []string // names of those who signed up by the person's invitations, at most maxCame
}

// Origin returns how an account came.
func (s *Store) Origin(ctx context.Context, account int64) (o Origin, err error) {
	const query = `
		SELECT n.account_id IS NOT NULL, coalesce((SELECT name FROM accounts WHERE id = i.by_id), ''), coalesce(i.note, ''),
			ARRAY(SELECT a.name FROM invitations mine JOIN invited m ON m.invitation_id = mine.id JOIN accounts a ON a.id = m.account_id
				WHERE mine.by_id = @account ORDER BY a.id DESC LIMIT @most)
		FROM (VALUES (1)) one LEFT JOIN invited n ON n.account_id = @account LEFT JOIN invitations i ON i.id = n.invitation_id`
	err = s.timelines.Pool().QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account, "most": maxCame}).
		Scan(&o.Invited, &o.By, &o.Note, &o.Brought)
	if err != nil {
		return o, fmt.Errorf("read who invited whom: %w", err)
	}
	return o, nil
}

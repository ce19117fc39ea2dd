package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Role is what somebody may do for the site.
type Role string

// The roles. Nobody is the role of everybody else.
const (
	Nobody        Role = ""
	Moderator     Role = "moderator"     // reports, posts, suspensions
	Administrator Role = "administrator" // all that, and people, settings and roles
)

// Roles are all of them, the least first.
var Roles = []Role{Nobody, Moderator, Administrator}

// Covers reports whether the role includes another.
func (r Role) Covers(least Role) bool {
	return least == Nobody || r == Administrator || r == least
}

// By is who acts: an account, or the command line, which is the zero By.
type By struct {
	AccountID int64
	Name      string // filled in by RequireTx
}

// CommandLine reports whether no account acts.
func (b By) CommandLine() bool { return b.AccountID == 0 }

// Store has the staff and their acts. It is safe for concurrent use.
type Store struct{ timelines *timelines.Store }

// Open returns the staff of that store.
func Open(t *timelines.Store) *Store { return &Store{t} }

// Errors of this package.
var (
	// ErrStaff, which is a timelines.ErrForbidden: only an administrator may do this to one of the
	// staff.
	ErrStaff = fmt.Errorf("one of the staff: %w", timelines.ErrForbidden)
	// ErrSelf, which is a timelines.ErrForbidden: nobody may do this to themselves.
	ErrSelf = fmt.Errorf("one's own account: %w", timelines.ErrForbidden)
	// ErrLastAdministrator: a site whose last administrator is gone has nobody in charge.
	ErrLastAdministrator = errors.New("the last administrator")
)

// RequireTx returns by with its name, or timelines.ErrForbidden unless it has at least that role
// until the transaction ends: its row is locked, so a role that is being taken away waits.
func RequireTx(ctx context.Context, tx pgx.Tx, by By, least Role) (By, error) {
	if by.CommandLine() {
		return By{}, nil
	}
	var role Role
	err := tx.QueryRow(ctx, `
		SELECT s.role, a.name FROM staff s JOIN accounts a ON a.id = s.account_id
		WHERE s.account_id = @account FOR SHARE OF s`,
		pgx.StrictNamedArgs{"account": by.AccountID}).Scan(&role, &by.Name)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return By{}, fmt.Errorf("read role: %w", err)
	}
	if err != nil || !role.Covers(least) {
		return By{}, timelines.ErrForbidden
	}
	return by, nil
}

// Subject is an account that something is done to.
type Subject struct {
	ID   int64
	Name string
	Role Role
}

// subjectTx finds and locks a person. It returns timelines.ErrNotFound if there is none of that
// name.
func subjectTx(ctx context.Context, tx pgx.Tx, name string) (Subject, error) {
	if !timelines.IsName(name) {
		return Subject{}, timelines.ErrNotFound
	}
	// The account's row orders acts on one person. FOR NO KEY UPDATE lets others go on that only
	// refer to it.
	of := Subject{Name: name}
	err := tx.QueryRow(ctx, `SELECT id FROM accounts WHERE name = @name AND kind = 'user' FOR NO KEY UPDATE`,
		pgx.StrictNamedArgs{"name": name}).Scan(&of.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return of, timelines.ErrNotFound
	}
	if err == nil {
		// In a statement of its own, which sees a role that the first one waited for.
		err = tx.QueryRow(ctx, `SELECT coalesce((SELECT role FROM staff WHERE account_id = @account), '')`,
			pgx.StrictNamedArgs{"account": of.ID}).Scan(&of.Role)
	}
	if err != nil {
		return of, fmt.Errorf("read account: %w", err)
	}
	return of, nil
}

// OnTx is RequireTx and subjectTx together, for acts that nobody may do to themselves, and to one of
// the staff only an administrator.
func OnTx(ctx context.Context, tx pgx.Tx, by By, least Role, name string) (By, Subject, error) {
	by, err := RequireTx(ctx, tx, by, least)
	if err != nil {
		return by, Subject{}, err
	}
	of, err := subjectTx(ctx, tx, name)
	if err != nil {
		return by, of, err
	}
	if of.ID == by.AccountID {
		return by, of, ErrSelf
	}
	if of.Role != Nobody {
		err = staffTx(ctx, tx, by)
	}
	return by, of, err
}

// staffTx allows administrators what concerns one of the staff.
func staffTx(ctx context.Context, tx pgx.Tx, by By) error {
	_, err := RequireTx(ctx, tx, by, Administrator)
	if errors.Is(err, timelines.ErrForbidden) {
		return ErrStaff
	}
	return err
}

// AboutTx returns ErrStaff if an act concerns an account of the staff and is not an administrator's.
func AboutTx(ctx context.Context, tx pgx.Tx, by By, account int64) error {
	var staff bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM staff WHERE account_id = @account)`, pgx.StrictNamedArgs{"account": account}).Scan(&staff)
	if err != nil {
		return fmt.Errorf("read role: %w", err)
	}
	if staff {
		return staffTx(ctx, tx, by)
	}
	return nil
}

// acting is true for a row s of staff that is an administrator who is not suspended for good and does not leave.
const acting = `s.role = 'administrator' AND NOT EXISTS (
	SELECT FROM suspensions p WHERE p.account_id = s.account_id AND p.ends_at IS NULL)
	AND NOT EXISTS (SELECT FROM leaving v WHERE v.account_id = s.account_id)`

// LockStaffTx keeps the staff as it is until the transaction ends. It comes before locks of accounts.
func LockStaffTx(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `LOCK TABLE staff IN SHARE ROW EXCLUSIVE MODE`); err != nil {
		return fmt.Errorf("lock staff: %w", err)
	}
	return nil
}

// LastTx returns ErrLastAdministrator if the account is an administrator and there is no other. Staff
// stays as it is until the transaction ends, so of two who go at once the second finds that it is the last.
func LastTx(ctx context.Context, tx pgx.Tx, account int64) error {
	if err := LockStaffTx(ctx, tx); err != nil {
		return err
	}
	const query = `
		SELECT EXISTS (SELECT FROM staff s WHERE s.account_id = @account AND s.role = 'administrator')
			AND NOT EXISTS (SELECT FROM staff s WHERE s.account_id <> @account AND ` + acting + `)`
	var last bool
	if err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": account}).Scan(&last); err != nil {
		return fmt.Errorf("look for administrators: %w", err)
	}
	if last {
		return ErrLastAdministrator
	}
	return nil
}

// SetRole gives a person a role, or takes it away with Nobody. Only administrators may.
// timelines.ErrNotFound if there is no such person. An account cannot take the last administrator's role;
// the command line can.
func (s *Store) SetRole(ctx context.Context, by By, name string, role Role) (timelines.Change, error) {
	return s.timelines.Narrow(ctx, func(tx pgx.Tx) (c timelines.Change, drop []timelines.Invalidation, err error) {
		c.Actor = by.AccountID
		// Two administrators who unmake each other: the second finds that it is the last.
		if err := LockStaffTx(ctx, tx); err != nil {
			return c, nil, err
		}
		if by, err = RequireTx(ctx, tx, by, Administrator); err != nil {
			return c, nil, err
		}
		of, err := subjectTx(ctx, tx, name)
		if err != nil || of.Role == role {
			return c, nil, err
		}
		if of.Role == Administrator && !by.CommandLine() {
			var others bool
			err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM staff s WHERE s.account_id <> @account AND `+acting+`)`,
				pgx.StrictNamedArgs{"account": of.ID}).Scan(&others)
			if err != nil {
				return c, nil, fmt.Errorf("look for administrators: %w", err)
			}
			if !others {
				return c, nil, ErrLastAdministrator
			}
		}
		query := `DELETE FROM staff WHERE account_id = @account`
		args := pgx.StrictNamedArgs{"account": of.ID}
		if role != Nobody {
			query = `INSERT INTO staff (account_id, role) VALUES (@account, @role)
				ON CONFLICT (account_id) DO UPDATE SET role = EXCLUDED.role, created_at = now()`
			args["role"] = role
		}
		if _, err := tx.Exec(ctx, query, args); err != nil {
			return c, nil, fmt.Errorf("set role: %w", err)
		}
		if err := RecordTx(ctx, tx, by, Act{Kind: SetRole, Account: of.ID, Subject: of.Name, Detail: string(role)}); err != nil {
			return c, nil, err
		}
		return c, []timelines.Invalidation{{Kind: timelines.InvalidSets, AccountID: of.ID}}, nil
	})
}

// Member is one of the staff.
type Member struct {
	AccountID int64
	Name      string
	Title     string
	Role      Role
	Since     time.Time
}

// Staff returns all of the staff, administrators first.
func (s *Store) Staff(ctx context.Context) ([]Member, error) {
	rows, err := s.timelines.Pool().Query(ctx, `
		SELECT s.account_id, a.name, a.title, s.role, s.created_at AS since
		FROM staff s JOIN accounts a ON a.id = s.account_id ORDER BY s.role, a.name`)
	if err != nil {
		return nil, fmt.Errorf("read staff: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Member])
	if err != nil {
		return nil, fmt.Errorf("read staff: %w", err)
	}
	return list, nil
}

// HasAdministrator reports whether anybody is an administrator.
func (s *Store) HasAdministrator(ctx context.Context) (has bool, err error) {
	err = s.timelines.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM staff s WHERE `+acting+`)`).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for administrators: %w", err)
	}
	return has, nil
}

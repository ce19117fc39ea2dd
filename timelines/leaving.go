package timelines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Gone is the kind of what is left of a person's account that was deleted (package leaving).
const Gone = "gone"

// LinkKeep lets a person whose account is to be deleted keep it.
const LinkKeep LinkPurpose = "keep"

// LeavingError is what somebody gets whose account is to be deleted, or is being deleted. It is
// returned for the right password only.
type LeavingError struct {
	Account Account
	Ends    time.Time // until then it can be kept
	Begun   bool      // it is too late to keep it
	ByStaff bool      // only the staff can keep it
	Reason  string    // of the staff, or empty
	// Suspended is set for somebody who is suspended too.
	Suspended *SuspendedError
}

func (e *LeavingError) Error() string { return "account " + e.Account.Name + " is to be deleted" }

// checkLeavingTx returns a *LeavingError if the account is to be deleted.
func checkLeavingTx(ctx context.Context, tx pgx.Tx, a Account, suspended *SuspendedError) error {
	const query = `SELECT ends_at, begun, by_staff, reason FROM leaving WHERE account_id = @account`
	is := &LeavingError{Account: a, Suspended: suspended}
	err := tx.QueryRow(ctx, query, pgx.StrictNamedArgs{"account": a.ID}).Scan(&is.Ends, &is.Begun, &is.ByStaff, &is.Reason)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read when an account is deleted: %w", err)
	}
	return is
}

// isLeft is true for a name n.name that belonged to an account that was deleted. The sum is stored
// before the account gives the name up. So a statement that does not see the sum sees the account.
const isLeft = `EXISTS (SELECT FROM left_names l WHERE l.sum = sha256(convert_to(n.name, 'UTF8')))`

// Leave says that an account is to be deleted now (package leaving). The work stands in the table
// leaving.
type Leave struct{ AccountID int64 }

func (Leave) event() {}

package sources

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
)

// Owned is a source with the name of its owner.
type Owned struct {
	Source
	Owner string
}

// ActsFor returns the account that acts for an owner when the host of the site asks for something:
// the person, or the administrator of the group whose account is the oldest. It returns
// timelines.ErrNotFound if there is no such account, timelines.ErrForbidden if nobody administers the
// group.
func (s *Store) ActsFor(ctx context.Context, owner string) (int64, error) {
	const query = `
		SELECT a.kind, CASE a.kind WHEN 'user' THEN a.id
			ELSE (SELECT account_id FROM group_admins g WHERE g.group_id = a.id ORDER BY account_id LIMIT 1) END
		FROM accounts a WHERE a.name = @name`
	var kind string
	var actor *int64
	err := s.pool.QueryRow(ctx, query, pgx.StrictNamedArgs{"name": owner}).Scan(&kind, &actor)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, timelines.ErrNotFound
	case err != nil:
		return 0, fmt.Errorf("find who acts for an owner: %w", err)
	case actor == nil:
		return 0, timelines.ErrForbidden
	}
	return *actor, nil
}

// ByCode returns a source, no matter who manages it. It is for the host of the site.
func (s *Store) ByCode(ctx context.Context, code string) (Owned, error) {
	list, err := s.owned(ctx, `code = @code`, pgx.StrictNamedArgs{"code": code})
	switch {
	case err != nil:
		return Owned{}, err
	case len(list) == 0:
		return Owned{}, ErrNotFound
	}
	return list[0], nil
}

// All returns up to limit sources of all owners, in the order in which they were added, beginning
// behind the source after. It is for the host of the site.
func (s *Store) All(ctx context.Context, after int64, limit int) ([]Owned, error) {
	return s.owned(ctx, `id > @after ORDER BY id LIMIT @limit`, pgx.StrictNamedArgs{"after": after, "limit": limit})
}

func (s *Store) owned(ctx context.Context, which string, args pgx.StrictNamedArgs) ([]Owned, error) {
	rows, err := s.pool.Query(ctx, `SELECT `+sourceColumns+` FROM sources WHERE `+which, args)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o Owned, err error) {
		o.Source, err = scanSource(row)
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].OwnerID
	}
	accounts, err := s.posts.Accounts.ByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string, len(accounts))
	for _, a := range accounts {
		names[a.ID] = a.Name
	}
	for i := range list {
		list[i].Owner = names[list[i].OwnerID]
	}
	return list, nil
}

package town

import (
	"context"
	"errors"
	"fmt"

	"riverrun/timelines"
)

// Source is the name of the source that the town is imported from.
const Source = "town"

const (
	postsAtOnce   = 2_000  // with some 30,000 comments and likes
	followsAtOnce = 50_000 // pairs
)

// Load puts the town into a store, as an import. A Load that was cut short goes on when it is called
// again, and one that finds the whole town changes nothing. It calls progress, unless that is nil,
// after each batch, with a line about how far it is.
//
// The store should have no other accounts: Load returns ErrNames if a name was taken. Nobody should
// look at its pages meanwhile, because Load gives no Change to the tiers; jobs bring rivers up to date
// if the store announces to them. The people have no passwords. Only one Load may run at a time;
// another returns timelines.ErrImporting.
func (t *Town) Load(ctx context.Context, store *timelines.Store, progress func(string)) (err error) {
	tell := func(format string, args ...any) {
		if progress != nil {
			progress(fmt.Sprintf(format, args...))
		}
	}
	im, err := store.Imports.Start(ctx, Source)
	if err != nil {
		return fmt.Errorf("load the town: %w", err)
	}
	defer func() {
		if closed := im.Close(ctx); closed != nil {
			err = errors.Join(err, fmt.Errorf("load the town: %w", closed))
		}
	}()
	ids, err := t.loadAccounts(ctx, store, im)
	if err != nil {
		return err
	}
	tell("%d people and %d groups", len(t.people), len(t.groups))
	if err := t.loadFollows(ctx, im, ids, tell); err != nil {
		return err
	}
	for from := 0; from < t.size.Posts; from += postsAtOnce {
		to := min(from+postsAtOnce, t.size.Posts)
		if _, err := im.Add(ctx, t.Posts(from, to)); err != nil {
			return fmt.Errorf("load posts %d to %d of the town: %w", from, to, err)
		}
		tell("%d of %d posts", to, t.size.Posts)
	}
	for more := true; more; {
		if more, err = im.GuessLanguages(ctx); err != nil {
			return fmt.Errorf("load the town: %w", err)
		}
	}
	return nil
}

// ErrNames says that an account of the town has another name in the store, because somebody else
// had its name. People and Groups would then name others.
var ErrNames = errors.New("a name of the town was taken")

// loadAccounts makes the accounts and returns their ids by name.
func (t *Town) loadAccounts(ctx context.Context, store *timelines.Store, im *timelines.Import) (map[string]int64, error) {
	all := append(append([]timelines.ImportedAccount{}, t.people...), t.groups...)
	ids, _, err := im.Accounts(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("load the town's accounts: %w", err)
	}
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	found, err := store.Accounts.Named(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("load the town's accounts: %w", err)
	}
	for _, a := range found {
		if ids[a.Name] != a.ID {
			return nil, fmt.Errorf("load the town's accounts: %s: %w", a.Name, ErrNames)
		}
	}
	return ids, nil
}

// loadFollows makes the subscriptions.
func (t *Town) loadFollows(ctx context.Context, im *timelines.Import, ids map[string]int64, tell func(string, ...any)) error {
	var batch []timelines.ImportedFollow
	made := 0
	flush := func() error {
		if _, err := im.Follow(ctx, batch); err != nil {
			return fmt.Errorf("load the town's subscriptions: %w", err)
		}
		made += len(batch)
		batch = batch[:0]
		tell("%d subscriptions", made)
		return nil
	}
	for f := range t.pairs {
		batch = append(batch, timelines.ImportedFollow{Subscriber: ids[f.who], Account: ids[f.whom]})
		if len(batch) == followsAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// pair says who follows whom, or is in which group, by name.
type pair struct{ who, whom string }

// pairs yields all subscriptions.
func (t *Town) pairs(yield func(pair) bool) {
	for i, p := range t.people {
		for _, whom := range t.follows[i] {
			if !yield(pair{p.Name, t.people[whom].Name}) {
				return
			}
		}
		for _, g := range t.joins[i] {
			if !yield(pair{p.Name, t.groups[g].Name}) {
				return
			}
		}
	}
}

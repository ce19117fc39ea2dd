package rivers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/snapshot"
)

// Two of 004's four checks stand here: nobody can name another person's page (Resolve,
// admit), and no river is made of a page that its viewer may not open (mayOpen, preflight).
// The table of kinds says whose page each is.

// Resolve returns the name of the river behind a page. By what the kind needs or takes,
// name is an account's name, an account's name with a slash and a sub-feed's slug, a post's
// code, the slug of one of the viewer's lists, a tag, a language or a query. For the
// viewer's own pages it is the viewer's name, or empty. If the kind has not that order, it
// is the kind's own. Resolve says nothing about the right to open the page; Visit does.
// Errors: ErrNotFound, ErrSignInNeeded; for a query *timelines.InvalidError.
func (s *Store) Resolve(ctx context.Context, v timelines.Viewer, kind Kind, name string, order Order) (Name, error) {
	sp, ok := specs[kind]
	if !ok {
		return Name{}, ErrNotFound
	}
	n := Name{UserID: v.AccountID, Kind: kind, Order: kind.inOrder(order)}
	if sp.term != nil {
		if n.Term, ok = sp.term(name); !ok {
			return Name{}, ErrNotFound
		}
	}
	var err error
	switch sp.page {
	case ofMyself:
		err = s.resolveMine(ctx, v, name)
	case ofMyList:
		n.TheirID, err = s.myList(ctx, v, name)
	case ofUser, ofGroup:
		n.TheirID, err = s.accountNamed(ctx, name, func(a timelines.Account) bool {
			return (sp.page == ofGroup) == (a.Kind == timelines.Group)
		})
	case ofSubfeed:
		// mayOpen checks that the sub-feed exists, once the cache is at the clock: this node
		// may not have heard of a new one yet.
		owner, slug, _ := strings.Cut(name, "/")
		if !timelines.IsSlug(slug) {
			return Name{}, ErrNotFound
		}
		n.Term = slug
		n.TheirID, err = s.accountNamed(ctx, owner, func(timelines.Account) bool { return true })
	case ofPost:
		n.TheirID, err = s.postID(ctx, name)
	case ofQuery:
		n.Term, err = resolveQuery(name)
	}
	if err != nil {
		return Name{}, notFound(err)
	}
	return n, nil
}

// accountNamed returns the id of the account of that name if it fits.
func (s *Store) accountNamed(ctx context.Context, name string, fits func(timelines.Account) bool) (int64, error) {
	a, err := s.access.AccountNamed(ctx, name)
	if err == nil && !fits(a) {
		err = ErrNotFound
	}
	return a.ID, err
}

// resolveMine refuses a page of the viewer's own to others, and if it has another name.
func (s *Store) resolveMine(ctx context.Context, v timelines.Viewer, name string) error {
	if name != "" {
		isMine := func(a timelines.Account) bool { return a.ID == v.AccountID }
		if _, err := s.accountNamed(ctx, name, isMine); err != nil {
			return err // nobody can name another person's messages
		}
	}
	if v.Anonymous() {
		return ErrSignInNeeded
	}
	return nil
}

func resolveQuery(text string) (term string, err error) {
	q, problem := snapshot.ParseQuery(text)
	if problem == "" && !q.Finds() {
		problem = "query_nothing"
	}
	if problem == "" && !q.NamesCurrencies() {
		problem = "query_currency"
	}
	if problem != "" {
		return "", &timelines.InvalidError{Field: "q", Code: problem}
	}
	return q.String(), nil
}

// myList returns the id of the viewer's list of that slug, or ErrNotFound. A list that this node does
// not remember may just have been made, so it refreshes access and looks again.
func (s *Store) myList(ctx context.Context, v timelines.Viewer, slug string) (int64, error) {
	if v.Anonymous() {
		return 0, ErrSignInNeeded
	}
	for fresh := false; ; fresh = true {
		sets, err := s.access.Sets(ctx, v.AccountID)
		if err != nil {
			return 0, err
		}
		if l, ok := sets.List(slug); ok {
			return l.ID, nil
		}
		if fresh {
			return 0, ErrNotFound
		}
		if err := s.RefreshAccess(ctx); err != nil {
			return 0, err
		}
	}
}

// mayOpen is the first of 004's checks: may this viewer open the page at all? No river is
// made before it says yes. It costs no statement while the levels are in memory.
func (s *Store) mayOpen(ctx context.Context, n Name, sets *access.Sets) error {
	switch specs[n.Kind].page {
	case ofMyList:
		if !sets.OwnsList(n.TheirID) {
			return ErrNotFound
		}
		return nil
	case ofSubfeed:
		return s.mayOpenSubfeed(ctx, n, sets)
	case ofUser, ofGroup:
	default:
		return nil
	}
	accounts, err := s.access.Accounts(ctx, []int64{n.TheirID})
	if err != nil {
		return err
	}
	a, ok := accounts[n.TheirID]
	if !ok {
		return ErrNotFound
	}
	gates, err := s.access.Levels(ctx, []int64{a.FeedID})
	if err != nil {
		return err
	}
	if !gates.Opens(sets, a.FeedID) || sets.BlockedBetween(a.ID) {
		return fmt.Errorf("%s of %s: %w", n.Kind, a.Name, ErrForbidden)
	}
	return nil
}

// admit brings the access cache to the clock that a deciding statement returned. It checks
// that the viewer is still signed in and may open the page, and returns the sets to decide
// with.
func (s *Store) admit(ctx context.Context, v timelines.Viewer, n Name, clock timelines.Clock) (*access.Sets, error) {
	if err := s.advance(ctx, clock); err != nil {
		return nil, err
	}
	if err := s.access.CheckSession(ctx, v); err != nil {
		return nil, err
	}
	if n.UserID != v.AccountID {
		return nil, ErrNotFound // nobody can name another person's river
	}
	sets, err := s.access.Sets(ctx, v.AccountID)
	if err != nil {
		return nil, err
	}
	return sets, s.mayOpen(ctx, n, sets)
}

// preflight refuses the page of a post or a list before a river is made for it.
func (s *Store) preflight(ctx context.Context, n Name) error {
	var may func(sn *snapshot.Snapshot, ctx context.Context, viewer, theirID int64) (bool, error)
	switch specs[n.Kind].page {
	case ofPost:
		may = (*snapshot.Snapshot).MayRead
	case ofMyList:
		may = (*snapshot.Snapshot).OwnsList
	default:
		return nil
	}
	var ok bool
	err := s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) (err error) {
		ok, err = may(sn, ctx, n.UserID, n.TheirID)
		return err
	})
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotFound
	}
	return nil
}

// OpenToAll reports whether a page that was just visited may be opened by everybody,
// signed in or not; items are what it showed. It costs no statement.
func (s *Store) OpenToAll(ctx context.Context, n Name, items []Item) (bool, error) {
	if private, err := s.access.Private(ctx); err != nil || private {
		return false, err
	}
	nobody, err := s.access.Sets(ctx, 0)
	if err != nil {
		return false, err
	}
	switch specs[n.Kind].page {
	case ofMyself:
		return false, nil
	case ofPost:
		if len(items) == 0 {
			return false, nil
		}
		gates, err := s.access.Levels(ctx, items[0].Fold.Decisive)
		return err == nil && gates.OpensAny(nobody, items[0].Fold.Decisive) && !nobody.Unseen.Has(items[0].Fold.Text.Author), err
	}
	err = s.mayOpen(ctx, n, nobody)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// mayOpenSubfeed is mayOpen of a sub-feed's page. The sub-feed's own level decides,
// whatever the feed's says: a photo album may be open while the diary is closed. A private
// sub-feed is unknown to viewers whom it does not admit.
func (s *Store) mayOpenSubfeed(ctx context.Context, n Name, sets *access.Sets) error {
	all, err := s.access.Subfeeds(ctx, []int64{n.TheirID})
	if err != nil {
		return err
	}
	list := all[n.TheirID]
	i := slices.IndexFunc(list, func(f timelines.Subfeed) bool { return f.Slug == n.Term })
	if i < 0 {
		return ErrNotFound
	}
	gates, err := s.access.Levels(ctx, []int64{list[i].TimelineID})
	if err != nil {
		return err
	}
	switch {
	case gates.Opens(sets, list[i].TimelineID) && !sets.BlockedBetween(n.TheirID):
		return nil
	case gates.Level(list[i].TimelineID) == timelines.Private:
		return ErrNotFound
	}
	return fmt.Errorf("%s %s of account %d: %w", n.Kind, n.Term, n.TheirID, ErrForbidden)
}

package rivers

import (
	"context"
	"fmt"
	"time"

	"riverrun/timelines"
)

// spec says what a river kind is: what it is made of, who may open it, how long
// it is kept. A new kind is a row of this table and a test.
type spec struct {
	// sources returns the river's timelines as far as its viewer may read them.
	sources func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error)
	// page says whose page TheirID names, and so which account's gate decides.
	page pageOf
	// reasons: an entry is dropped if none of its timelines is readable any more, or
	// the fold says of all that they hold it no more.
	reasons bool
	// full: entries are shown unfolded.
	full bool
	// home: made of what those one follows do. It has modes and the long grace.
	home bool
}

type pageOf int

const (
	ofNobody  pageOf = iota // everybody may open it
	ofMyself                // TheirID is not set: the viewer's own, by construction
	ofMyList                // TheirID is one of the viewer's lists, and nobody else opens it
	ofAccount               // the gate of TheirID's feed decides
	ofPost                  // the post's decisive timelines decide
)

func named(kinds ...string) func(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.TheirID, kinds...)
	}
}

func own(kind string) func(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.UserID, kind)
	}
}

var specs = map[Kind]spec{
	Home: {
		sources: func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
			return sn.Home(ctx, n.UserID, n.Mode() == FriendsOnly)
		},
		page: ofMyself, reasons: true, home: true,
	},
	List: {
		sources: func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
			return sn.List(ctx, n.UserID, n.TheirID, n.Mode() == FriendsOnly)
		},
		page: ofMyList, reasons: true, home: true,
	},
	User:        {sources: named(timelines.KindFeed), page: ofAccount},
	Likes:       {sources: named(timelines.KindLikes), page: ofAccount, reasons: true},
	Comments:    {sources: named(timelines.KindComments), page: ofAccount, reasons: true},
	Group:       {sources: named(timelines.KindGroup), page: ofAccount},
	Discussions: {sources: own(timelines.KindDiscussions), page: ofMyself},
	Directs:     {sources: own(timelines.KindDirects), page: ofMyself},
	Faves:       {sources: own(timelines.KindFaves), page: ofMyself},
	Everything:  {sources: named(timelines.KindEverything), page: ofNobody},
	Post:        {sources: named(timelines.KindPost), page: ofPost, full: true},
}

// Kinds returns all river kinds.
func Kinds() []Kind {
	return []Kind{Home, List, User, Likes, Comments, Discussions, Directs, Faves, Group, Post, Everything}
}

// grace is how long a closed river of the kind is kept.
func (s *Store) grace(k Kind) time.Duration {
	if specs[k].home {
		return s.opts.GraceHome
	}
	return s.opts.Grace
}

// Resolve returns the name of the river behind a page: name is an account's
// name, a post's code or the slug of one of the viewer's lists where the kind
// needs one. It says nothing about the
// right to open the page; Visit does. Errors: ErrNotFound, ErrSignInNeeded.
func (s *Store) Resolve(ctx context.Context, v timelines.Viewer, kind Kind, name string, order Order) (Name, error) {
	sp, ok := specs[kind]
	if !ok {
		return Name{}, ErrNotFound
	}
	n := Name{UserID: v.AccountID, Kind: kind, Order: order}
	if n.Order == "" {
		n.Order = Fresh
	}
	switch sp.page {
	case ofMyself:
		if v.Anonymous() {
			return Name{}, ErrSignInNeeded
		}
	case ofMyList:
		if v.Anonymous() {
			return Name{}, ErrSignInNeeded
		}
		l, err := s.myList(ctx, v, name)
		if err != nil {
			return Name{}, err
		}
		n.TheirID = l.ID
	case ofAccount:
		a, err := s.access.AccountNamed(ctx, name)
		if err != nil {
			return Name{}, notFound(err)
		}
		if (kind == Group) != (a.Kind == timelines.Group) {
			return Name{}, ErrNotFound
		}
		n.TheirID = a.ID
	case ofPost:
		id, err := s.postID(ctx, name)
		if err != nil {
			return Name{}, notFound(err)
		}
		n.TheirID = id
	}
	return n, nil
}

// myList returns the viewer's list of that slug, or ErrNotFound. One that this
// node does not remember may just have been made: the clock says.
func (s *Store) myList(ctx context.Context, v timelines.Viewer, slug string) (timelines.List, error) {
	for settled := false; ; settled = true {
		sets, err := s.access.Sets(ctx, v.AccountID)
		if err != nil {
			return timelines.List{}, err
		}
		if l, ok := sets.List(slug); ok {
			return l, nil
		}
		if settled {
			return timelines.List{}, ErrNotFound
		}
		if err := s.Settle(ctx); err != nil {
			return timelines.List{}, err
		}
	}
}

// mayOpen is the first of 004's checks: may this viewer open the page at all?
// No river is made before it says yes. It costs no statement when the gates are
// cached.
func (s *Store) mayOpen(ctx context.Context, n Name, sets *timelines.Sets) error {
	switch specs[n.Kind].page {
	case ofMyList:
		if !sets.Owns(n.TheirID) {
			return ErrNotFound
		}
		return nil
	case ofAccount:
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
	gates, err := s.access.Gates(ctx, []int64{a.FeedID})
	if err != nil {
		return err
	}
	if !gates.Opens(sets, a.FeedID) {
		return fmt.Errorf("%s of %s: %w", n.Kind, a.Name, ErrForbidden)
	}
	return nil
}

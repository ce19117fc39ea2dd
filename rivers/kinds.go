package rivers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/language"
	"riverrun/timelines/marks"
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
	// term makes the river's term of the name in its address; nil: it has none.
	term func(name string) (term string, ok bool)
	// full: entries are shown unfolded.
	full bool
	// whole: what the viewer hides is shown all the same: what is addressed to the
	// viewer, or was asked for by name.
	whole bool
	// home: made of what those one follows do. It has modes and the long grace.
	home bool
	// asked: the river is of no timelines; what it holds is asked for. See search.go.
	asked bool
}

type pageOf int

const (
	ofNobody  pageOf = iota // everybody may open it
	ofMyself                // TheirID is not set: the viewer's own, by construction
	ofMyList                // TheirID is one of the viewer's lists, and nobody else opens it
	ofAccount               // the gate of TheirID's feed decides
	ofSubfeed               // the gate of TheirID's sub-feed of the name's term decides
	ofPost                  // the post's decisive timelines decide
	ofQuery                 // everybody may ask
)

// Account is whose page the river is of, 0 if of no account's. A sub-feed's page is
// its owner's.
func (n Name) Account() int64 {
	switch specs[n.Kind].page {
	case ofAccount, ofSubfeed:
		return n.TheirID
	}
	return 0
}

func named(kinds ...string) func(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.TheirID, kinds...)
	}
}

// termed is the one timeline of the kind and the river's term, which may not be
// made yet.
func termed(kind string) func(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Termed(ctx, n.UserID, kind, n.Term)
	}
}

// allOrOne is the term of an aggregate: of all languages, or a known one.
func allOrOne(lang string) (string, bool) { return lang, lang == "" || language.IsKnown(lang) }

func none(context.Context, *timelines.Snapshot, Name) ([]int64, error) { return nil, nil }

func own(kind string) func(context.Context, *timelines.Snapshot, Name) ([]int64, error) {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.UserID, kind)
	}
}

// feeds are an account's feed and sub-feeds, or the one of the name's term.
func feeds(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
	return sn.Feeds(ctx, n.UserID, n.TheirID, n.Term)
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
	// A post that leaves a base timeline leaves its page with the fold, before the
	// reply (R4); hence the reasons.
	User:        {sources: feeds, page: ofAccount, reasons: true},
	Subfeed:     {sources: feeds, page: ofSubfeed, reasons: true},
	Eyes:        {sources: own(timelines.KindEyes), page: ofMyself, reasons: true},
	Likes:       {sources: named(timelines.KindLikes), page: ofAccount, reasons: true},
	Comments:    {sources: named(timelines.KindComments), page: ofAccount, reasons: true},
	Group:       {sources: named(timelines.KindGroup), page: ofAccount, reasons: true},
	Discussions: {sources: own(timelines.KindDiscussions), page: ofMyself},
	Directs:     {sources: own(timelines.KindDirects), page: ofMyself, reasons: true, whole: true},
	Faves:       {sources: own(timelines.KindFaves), page: ofMyself, whole: true},
	Mentions:    {sources: own(timelines.KindMentions), page: ofMyself, reasons: true},
	// Who likes, comments or keeps a post is counted where that is done. Until Tier 1
	// comes to a post that falls below the threshold it stands here, and may be read.
	Everything: {sources: termed(timelines.KindEverything), page: ofNobody, term: allOrOne},
	Best:       {sources: termed(timelines.KindBest), page: ofNobody, term: allOrOne},
	MostFaved:  {sources: termed(timelines.KindMostFaved), page: ofNobody, term: allOrOne},
	Hashtag:    {sources: termed(timelines.KindHashtag), page: ofNobody, term: marks.Term, reasons: true},
	Post:       {sources: named(timelines.KindPost), page: ofPost, full: true, whole: true},
	Search:     {sources: none, page: ofQuery, asked: true},
}

// Kinds returns all river kinds.
func Kinds() []Kind {
	return []Kind{
		Home, List, User, Subfeed, Eyes, Likes, Comments, Discussions, Directs, Faves, Mentions, Group, Post,
		Everything, Best, MostFaved, Hashtag, Search,
	}
}

// grace is how long a closed river of the kind is kept.
func (s *Store) grace(k Kind) time.Duration {
	switch sp := specs[k]; {
	case sp.home:
		return s.opts.GraceHome
	case sp.asked:
		return min(s.opts.Grace, searchGrace)
	}
	return s.opts.Grace
}

// Resolve returns the name of the river behind a page: name is an account's
// name, an account's name with a slash and a sub-feed's slug, a post's code, the
// slug of one of the viewer's lists, a tag, a language or a query, where the kind
// needs or takes one. It says nothing about the
// right to open the page; Visit does. Errors: ErrNotFound, ErrSignInNeeded; of a
// query *timelines.InvalidError.
func (s *Store) Resolve(ctx context.Context, v timelines.Viewer, kind Kind, name string, order Order) (Name, error) {
	sp, ok := specs[kind]
	if !ok {
		return Name{}, ErrNotFound
	}
	n := Name{UserID: v.AccountID, Kind: kind, Order: order}
	if n.Order == "" {
		n.Order = Fresh
	}
	if sp.term != nil {
		if n.Term, ok = sp.term(name); !ok {
			return Name{}, ErrNotFound
		}
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
	case ofSubfeed:
		// Whether there is such a sub-feed is asked once the cache is at the clock
		// (mayOpen): this node may not have heard of one just made.
		owner, slug, _ := strings.Cut(name, "/")
		if !timelines.IsSlug(slug) {
			return Name{}, ErrNotFound
		}
		a, err := s.access.AccountNamed(ctx, owner)
		if err != nil {
			return Name{}, notFound(err)
		}
		n.TheirID, n.Term = a.ID, slug
	case ofPost:
		id, err := s.postID(ctx, name)
		if err != nil {
			return Name{}, notFound(err)
		}
		n.TheirID = id
	case ofQuery:
		q, err := timelines.ParseQuery(name)
		if err != nil {
			return Name{}, err
		}
		if !q.Finds() {
			return Name{}, &timelines.InvalidError{Field: "q", Code: "query_nothing"}
		}
		n.Term = q.String()
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
	case ofSubfeed:
		return s.mayOpenSubfeed(ctx, n, sets)
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
	if !gates.Opens(sets, a.FeedID) || sets.Apart(a.ID) {
		return fmt.Errorf("%s of %s: %w", n.Kind, a.Name, ErrForbidden)
	}
	return nil
}

// OpenToAll reports whether a page that was just visited may be opened by everybody,
// signed in or not; items are what it showed. It costs no statement.
func (s *Store) OpenToAll(ctx context.Context, n Name, items []Item) (bool, error) {
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
		gates, err := s.access.Gates(ctx, items[0].Fold.Decisive)
		return err == nil && gates.OpensAny(nobody, items[0].Fold.Decisive), err
	}
	err = s.mayOpen(ctx, n, nobody)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// mayOpenSubfeed is mayOpen of a sub-feed's page, whose own gate decides whatever
// the feed's says: a photo album may be open where the diary is closed. A private
// one is unknown to whom it does not admit.
func (s *Store) mayOpenSubfeed(ctx context.Context, n Name, sets *timelines.Sets) error {
	all, err := s.access.Subfeeds(ctx, []int64{n.TheirID})
	if err != nil {
		return err
	}
	list := all[n.TheirID]
	i := slices.IndexFunc(list, func(f timelines.Subfeed) bool { return f.Slug == n.Term })
	if i < 0 {
		return ErrNotFound
	}
	gates, err := s.access.Gates(ctx, []int64{list[i].TimelineID})
	if err != nil {
		return err
	}
	switch {
	case gates.Opens(sets, list[i].TimelineID) && !sets.Apart(n.TheirID):
		return nil
	case gates.Level(list[i].TimelineID) == timelines.Private:
		return ErrNotFound
	}
	return fmt.Errorf("%s %s of account %d: %w", n.Kind, n.Term, n.TheirID, ErrForbidden)
}

package rivers

import (
	"context"
	"maps"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/kinds"
	"riverrun/timelines/language"
	"riverrun/timelines/marks"
	"riverrun/timelines/snapshot"
)

// Kind is the kind of page a river is (source: 004).
//
// A new kind is a constant and a row of the table below. Resolving, building, pushing,
// expiring, checking, explaining and measuring all go by the table (kinds_test.go adds two
// kinds). ARCHITECTURE.md, Recipes, has the other steps: its page, its texts and its tests.
type Kind string

// The river kinds. A kind that shows one kind of timelines as they are has its name.
const (
	Home          Kind = timelines.RiverHome
	List          Kind = timelines.RiverList
	User          Kind = timelines.RiverUser
	Subfeed       Kind = kinds.Subfeed
	Eyes          Kind = kinds.Eyes
	Likes         Kind = kinds.Likes
	Comments      Kind = kinds.Comments
	Discussions   Kind = kinds.Discussions
	Faves         Kind = kinds.Faves
	Mentions      Kind = kinds.Mentions
	Notifications Kind = kinds.Notifications
	Directs       Kind = kinds.Directs
	Group         Kind = kinds.Group
	Post          Kind = kinds.Post
	Everything    Kind = kinds.Everything
	Best          Kind = kinds.Best
	MostFaved     Kind = kinds.MostFaved
	Hashtag       Kind = kinds.Hashtag
	Search        Kind = "search"
)

// specs has a row for each kind.
var specs = map[Kind]spec{
	Home: {content: fromTimelines(friends), page: ofMyself, grace: graceHome, reasons: true, followBased: true},
	List: {content: fromTimelines(members), page: ofMyList, grace: graceHome, reasons: true, followBased: true},
	// A post that leaves a base timeline leaves its page together with the fold, before the
	// reply (R4). That is why these rows have reasons.
	User:        {content: fromTimelines(feeds), page: ofUser, reasons: true},
	Subfeed:     {content: fromTimelines(feeds), page: ofSubfeed, reasons: true},
	Group:       {content: theirs(kinds.Group), page: ofGroup, reasons: true},
	Likes:       {content: theirs(kinds.Likes), page: ofUser, reasons: true},
	Comments:    {content: theirs(kinds.Comments), page: ofUser, reasons: true},
	Discussions: {content: mine(kinds.Discussions), page: ofMyself},
	Directs:     {content: mine(kinds.Directs), page: ofMyself, reasons: true, ignoresHides: true},
	Eyes:        {content: mine(kinds.Eyes), page: ofMyself, reasons: true},
	Faves:       {content: mine(kinds.Faves), page: ofMyself, ignoresHides: true},
	Mentions:    {content: mine(kinds.Mentions), page: ofMyself, reasons: true, mentions: true},
	// An entry stands at the time of its last event, so there is no other order.
	Notifications: {content: mine(kinds.Notifications), page: ofMyself, orders: []Order{Fresh}, reasons: true, notices: true},
	// Likes, comments and saves are counted where they are made. A post that falls below the
	// threshold stays here until Tier 1 comes, and may be read until then.
	Everything: {content: termed(kinds.Everything), page: ofNobody, term: allOrOne},
	Best:       {content: termed(kinds.Best), page: ofNobody, term: allOrOne},
	MostFaved:  {content: termed(kinds.MostFaved), page: ofNobody, term: allOrOne},
	Hashtag:    {content: termed(kinds.Hashtag), page: ofNobody, term: marks.Term, reasons: true},
	Post:       {content: theirs(kinds.Post), page: ofPost, orders: []Order{Fresh}, full: true, ignoresHides: true},
	Search:     {content: fromSearch{}, page: ofQuery, grace: graceSearch},
}

// spec describes a river kind: where its posts come from, who may open it, in which orders
// it is read, and how long it is kept.
type spec struct {
	// content says where the posts come from: timelines, or a query.
	content content
	// page says whose page it is, and so who may open it.
	page pageOf
	// orders are the orders it can be read in, its own first; nil means all of them.
	orders []Order
	// grace is how long a river is kept while it is neither open nor visited; nil means
	// Options.Grace.
	grace func(Options) time.Duration
	// term makes the river's term from the name in its address; nil means the kind has no
	// term.
	term func(name string) (term string, ok bool)
	// reasons: an entry is dropped if the viewer may read none of its timelines any more, or
	// if by the fold none of them holds the post any more.
	reasons bool
	// full: posts are shown unfolded.
	full bool
	// mentions: the comments that bring a post here are shown though others are folded.
	mentions bool
	// notices: an entry stands at the time of its last event, and is shown for the events that
	// the viewer may know of (see Notice).
	notices bool
	// ignoresHides: posts that the viewer hides are shown too. They are addressed to the
	// viewer, or the viewer asked for them by name.
	ignoresHides bool
	// followBased: the river is made of what the accounts one follows do. It has modes, and
	// is kept to a depth.
	followBased bool
}

type pageOf int

const (
	ofNobody  pageOf = iota // everybody may open it
	ofMyself                // the viewer's own; TheirID is not set
	ofMyList                // TheirID is one of the viewer's lists, and nobody else opens it
	ofUser                  // the level of the feed of TheirID, a person, decides
	ofGroup                 // the level of TheirID, a group, decides
	ofSubfeed               // the level of TheirID's sub-feed of the name's term decides
	ofPost                  // TheirID's decisive timelines decide
	ofQuery                 // everybody may search
)

// isAccounts reports whether TheirID is the account whose page it is.
func (p pageOf) isAccounts() bool { return p == ofUser || p == ofGroup || p == ofSubfeed }

// theirs returns the timelines of these kinds that belong to TheirID.
func theirs(kinds ...string) fromTimelines {
	return func(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.TheirID, kinds...)
	}
}

// mine returns the timelines of these kinds that belong to the viewer.
func mine(kinds ...string) fromTimelines {
	return func(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.UserID, kinds...)
	}
}

// termed returns the timeline of the kind that has the river's term, if it exists yet.
func termed(kind string) fromTimelines {
	return func(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
		return sn.Termed(ctx, n.UserID, kind, n.Term)
	}
}

// feeds returns an account's feed and sub-feeds, or the one sub-feed of the name's term.
func feeds(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
	return sn.Feeds(ctx, n.UserID, n.TheirID, n.Term)
}

func friends(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
	return sn.Home(ctx, n.UserID, n.Mode() == FriendsOnly)
}

func members(ctx context.Context, sn *snapshot.Snapshot, n Name) ([]int64, error) {
	return sn.List(ctx, n.UserID, n.TheirID, n.Mode() == FriendsOnly)
}

// allOrOne accepts the term of an aggregate: a known language, or none for all languages.
func allOrOne(lang string) (string, bool) { return lang, lang == "" || language.IsKnown(lang) }

func graceHome(o Options) time.Duration { return o.GraceHome }

func graceSearch(o Options) time.Duration { return min(o.Grace, searchGrace) }

// Kinds returns all river kinds, in the order of their names.
func Kinds() []Kind { return slices.Sorted(maps.Keys(specs)) }

// IsSearch reports whether rivers of the kind hold what a query finds. Making one costs
// more than reading timelines.
func (k Kind) IsSearch() bool { return specs[k].isSearch() }

func (sp spec) isSearch() bool {
	_, ok := sp.content.(fromSearch)
	return ok
}

// Orders returns the orders that a river of the kind can be read in, its own first.
func (k Kind) Orders() []Order {
	if orders := specs[k].orders; orders != nil {
		return orders
	}
	return []Order{Fresh, Created}
}

// inOrder returns the order if the kind has it, or else the kind's own.
func (k Kind) inOrder(o Order) Order {
	orders := k.Orders()
	if slices.Contains(orders, o) {
		return o
	}
	return orders[0]
}

// grace returns how long a closed river of the kind is kept.
func (s *Store) grace(k Kind) time.Duration {
	if grace := specs[k].grace; grace != nil {
		return grace(s.opts)
	}
	return s.opts.Grace
}

package rivers

import (
	"context"
	"maps"
	"slices"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/language"
	"riverrun/timelines/marks"
)

// Kind is what page a river is of (source: 004).
//
// A new kind is a constant and a row of the table below, in this file, and a test:
// resolving, building, pushing, expiring, checking, explaining and measuring go by the
// table (kinds_test.go adds two). The test is two lines of the oracle in package tiers,
// which asks for them: which rivers of it there are, and what they hold. An address and
// a title it gets by a row of web's table of pages and texts in its catalogues.
type Kind string

// The river kinds. One that shows a kind of timelines as they are has its name.
const (
	Home        Kind = timelines.RiverHome
	List        Kind = timelines.RiverList
	User        Kind = timelines.RiverUser
	Subfeed     Kind = timelines.KindSubfeed
	Eyes        Kind = timelines.KindEyes
	Likes       Kind = timelines.KindLikes
	Comments    Kind = timelines.KindComments
	Discussions Kind = timelines.KindDiscussions
	Faves       Kind = timelines.KindFaves
	Mentions    Kind = timelines.KindMentions
	Directs     Kind = timelines.KindDirects
	Group       Kind = timelines.KindGroup
	Post        Kind = timelines.KindPost
	Everything  Kind = timelines.KindEverything
	Best        Kind = timelines.KindBest
	MostFaved   Kind = timelines.KindMostFaved
	Hashtag     Kind = timelines.KindHashtag
	Search      Kind = "search"
)

// specs has a row for each kind.
var specs = map[Kind]spec{
	Home: {content: fromTimelines(friends), page: ofMyself, grace: graceHome, reasons: true, followBased: true},
	List: {content: fromTimelines(members), page: ofMyList, grace: graceHome, reasons: true, followBased: true},
	// A post that leaves a base timeline leaves its page with the fold, before the
	// reply (R4); hence the reasons.
	User:        {content: fromTimelines(feeds), page: ofUser, reasons: true},
	Subfeed:     {content: fromTimelines(feeds), page: ofSubfeed, reasons: true},
	Group:       {content: theirs(timelines.KindGroup), page: ofGroup, reasons: true},
	Likes:       {content: theirs(timelines.KindLikes), page: ofUser, reasons: true},
	Comments:    {content: theirs(timelines.KindComments), page: ofUser, reasons: true},
	Discussions: {content: mine(timelines.KindDiscussions), page: ofMyself},
	Directs:     {content: mine(timelines.KindDirects), page: ofMyself, reasons: true, ignoresHides: true},
	Eyes:        {content: mine(timelines.KindEyes), page: ofMyself, reasons: true},
	Faves:       {content: mine(timelines.KindFaves), page: ofMyself, ignoresHides: true},
	Mentions:    {content: mine(timelines.KindMentions), page: ofMyself, reasons: true, mentions: true},
	// Who likes, comments or keeps a post is counted where that is done. Until Tier 1
	// comes to a post that falls below the threshold it stands here, and may be read.
	Everything: {content: termed(timelines.KindEverything), page: ofNobody, term: allOrOne},
	Best:       {content: termed(timelines.KindBest), page: ofNobody, term: allOrOne},
	MostFaved:  {content: termed(timelines.KindMostFaved), page: ofNobody, term: allOrOne},
	Hashtag:    {content: termed(timelines.KindHashtag), page: ofNobody, term: marks.Term, reasons: true},
	Post:       {content: theirs(timelines.KindPost), page: ofPost, orders: []Order{Fresh}, full: true, ignoresHides: true},
	Search:     {content: fromSearch{}, page: ofQuery, grace: graceSearch},
}

// spec says what a river kind is: what it is made of, who may open it, in which
// orders it is read, how long it is kept.
type spec struct {
	// content says where its posts come from: timelines, or a query.
	content content
	// page says whose page it is, and so who may open it.
	page pageOf
	// orders are those it can be read in, its own first; nil: all of them.
	orders []Order
	// grace is how long it is kept while it is neither open nor visited; nil:
	// Options.Grace.
	grace func(Options) time.Duration
	// term makes the river's term of the name in its address; nil: it has none.
	term func(name string) (term string, ok bool)
	// reasons: an entry is dropped if none of its timelines is readable any more, or
	// the fold says of all that they hold it no more.
	reasons bool
	// full: entries are shown unfolded.
	full bool
	// mentions: comments that bring a post here are shown though the others are folded.
	mentions bool
	// ignoresHides: what the viewer hides is shown all the same: what is addressed to the
	// viewer, or was asked for by name.
	ignoresHides bool
	// followBased: made of what those one follows do. It has modes, and is kept to a depth.
	followBased bool
}

type pageOf int

const (
	ofNobody  pageOf = iota // everybody may open it
	ofMyself                // TheirID is not set: the viewer's own, by construction
	ofMyList                // TheirID is one of the viewer's lists, and nobody else opens it
	ofUser                  // the gate of the feed of TheirID, a person, decides
	ofGroup                 // the gate of TheirID, a group, decides
	ofSubfeed               // the gate of TheirID's sub-feed of the name's term decides
	ofPost                  // TheirID's decisive timelines decide
	ofQuery                 // everybody may ask
)

// isAccounts: TheirID is the account whose page it is.
func (p pageOf) isAccounts() bool { return p == ofUser || p == ofGroup || p == ofSubfeed }

// theirs are the timelines of these kinds that belong to TheirID.
func theirs(kinds ...string) fromTimelines {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.TheirID, kinds...)
	}
}

// mine are those that belong to the viewer.
func mine(kinds ...string) fromTimelines {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Named(ctx, n.UserID, n.UserID, kinds...)
	}
}

// termed is the one timeline of the kind and the river's term, which may not be
// made yet.
func termed(kind string) fromTimelines {
	return func(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
		return sn.Termed(ctx, n.UserID, kind, n.Term)
	}
}

// feeds are an account's feed and sub-feeds, or the one of the name's term.
func feeds(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
	return sn.Feeds(ctx, n.UserID, n.TheirID, n.Term)
}

func friends(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
	return sn.Home(ctx, n.UserID, n.Mode() == FriendsOnly)
}

func members(ctx context.Context, sn *timelines.Snapshot, n Name) ([]int64, error) {
	return sn.List(ctx, n.UserID, n.TheirID, n.Mode() == FriendsOnly)
}

// allOrOne is the term of an aggregate: of all languages, or a known one.
func allOrOne(lang string) (string, bool) { return lang, lang == "" || language.IsKnown(lang) }

func graceHome(o Options) time.Duration { return o.GraceHome }

func graceSearch(o Options) time.Duration { return min(o.Grace, searchGrace) }

// Kinds returns all river kinds, in the order of their names.
func Kinds() []Kind { return slices.Sorted(maps.Keys(specs)) }

// IsSearch reports whether rivers of the kind hold what a query finds, which costs more
// than to read timelines.
func (k Kind) IsSearch() bool { return specs[k].isSearch() }

func (sp spec) isSearch() bool {
	_, ok := sp.content.(fromSearch)
	return ok
}

// Orders returns those a river of the kind can be read in, its own first.
func (k Kind) Orders() []Order {
	if orders := specs[k].orders; orders != nil {
		return orders
	}
	return []Order{Fresh, Created}
}

// inOrder is the order if the kind has it, else the kind's own.
func (k Kind) inOrder(o Order) Order {
	orders := k.Orders()
	if slices.Contains(orders, o) {
		return o
	}
	return orders[0]
}

// grace is how long a closed river of the kind is kept.
func (s *Store) grace(k Kind) time.Duration {
	if grace := specs[k].grace; grace != nil {
		return grace(s.opts)
	}
	return s.opts.Grace
}

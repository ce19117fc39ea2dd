// Package kinds is the table of the kinds of timelines. Code and SQL that are about
// several kinds find them here, by a property, and hold no list of their own.
package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The kinds of timelines.
const (
	Feed = "feed"
	// Subfeed: a person's further feeds, each with its own term.
	Subfeed = "subfeed"
	// Eyes: posts "for your eyes only" (source: 004).
	Eyes        = "eyes"
	Directs     = "directs"
	Group       = "group"
	Likes       = "likes"
	Comments    = "comments"
	Discussions = "discussions"
	Faves       = "faves"
	Mentions    = "mentions"
	// Notifications: posts about which something happened that concerns its owner.
	Notifications = "notifications"
	Post          = "post"
	Everything    = "everything"
	Best          = "best"
	MostFaved     = "mostfaved"
	Hashtag       = "hashtag"
)

// PrivateTerm is the term, and the slug in addresses, of the private sub-feed that every
// person has from the beginning (source: 004).
const PrivateTerm = "private"

// Spec is what sets the timelines of one kind apart.
type Spec struct {
	Kind string
	// Base: people put posts there, and only base timelines decide who may read a post.
	// The others fill by themselves. The column base says the same, so that a constraint
	// keeps each base timeline behind a gate.
	Base bool
	// Levelled: the owner chooses its level. A base timeline that is not levelled is for
	// the people named alone, and stays private.
	Levelled bool
	// By are the owner's actions that bring a post there, each a reason to hold it.
	By []Action
	// ByText: tags or @names in a post's texts bring it there (text_marks).
	ByText bool
	// ByNotice: events that concern the owner bring it there (notices). A post stands at the
	// time of its last event, and no bump moves it.
	ByNotice bool
	// Aggregate: it belongs to nobody, and there is one of all posts and one for each
	// known language. The migrations make them; timelines/aggregates.go says what they hold.
	Aggregate bool
	// Home says which home feeds it is a part of.
	Home Home
	// Owner is the kind of account that is made with a timeline of this kind, or empty. The
	// fields below are of that timeline.
	Owner string
	Term  string
	// Private: it is made at the level Private, else Public.
	Private bool
	// Gate is the kind of the owner's timeline that decides who may open this one; empty:
	// it decides itself, and its owner, if a person, is among its readers.
	Gate string
	// Writers is the policy of writing that it is made with, or empty.
	Writers string
}

// Action is what a person does about a post.
type Action string

// The actions that bring posts into timelines.
const (
	Wrote     Action = "wrote"
	Commented Action = "commented"
	Liked     Action = "liked"
	Saved     Action = "saved"
)

// Home says whose home feeds include a timeline; 0: nobody's.
type Home int

const (
	// OfOwner: of its owner's alone.
	OfOwner Home = iota + 1
	// OfFollowers: of those of its owner and of everybody who follows its owner.
	OfFollowers
)

// Kinds of accounts, and the policy of writing of a new timeline, as the store names them.
const (
	user   = "user"
	group  = "group"
	anyone = "anyone"
)

// All are all kinds, in the order in which an account's timelines are made. Only a test
// changes it.
var All = []Spec{
	{Kind: Feed, Base: true, Levelled: true, Home: OfFollowers, Owner: user},
	{Kind: Subfeed, Base: true, Levelled: true, Home: OfFollowers, Owner: user, Term: PrivateTerm, Private: true},
	{Kind: Eyes, Base: true, Home: OfOwner, Owner: user, Private: true},
	{Kind: Directs, Base: true, Home: OfOwner, Owner: user, Private: true, Writers: anyone},
	{Kind: Group, Base: true, Levelled: true, Home: OfFollowers, Owner: group, Writers: anyone},

	{Kind: Likes, By: []Action{Liked}, Home: OfFollowers, Owner: user, Gate: Feed},
	{Kind: Comments, By: []Action{Commented}, Home: OfFollowers, Owner: user, Gate: Feed},
	{Kind: Discussions, By: []Action{Wrote, Commented, Liked}, Home: OfOwner, Owner: user, Private: true},
	{Kind: Faves, By: []Action{Saved}, Owner: user, Private: true},
	{Kind: Mentions, ByText: true, Owner: user, Private: true},
	{Kind: Notifications, ByNotice: true, Owner: user, Private: true},

	{Kind: Hashtag, ByText: true},
	{Kind: Post},
	{Kind: Everything, Aggregate: true},
	{Kind: Best, Aggregate: true},
	{Kind: MostFaved, Aggregate: true},
}

// Of returns the row of a kind, or the zero Spec if there is no such kind.
func Of(kind string) Spec {
	for i := range All {
		if All[i].Kind == kind {
			return All[i]
		}
	}
	return Spec{}
}

// Where returns the kinds that have the property.
func Where(has func(Spec) bool) (kinds []string) {
	for _, k := range All {
		if has(k) {
			kinds = append(kinds, k.Kind)
		}
	}
	return kinds
}

// SQL returns the kinds that have the property as a list in SQL. A statement has them
// as constants, and so the server plans it for what it knows of them.
func SQL(has func(Spec) bool) string {
	return "('" + strings.Join(Where(has), "', '") + "')"
}

// Properties for Where and SQL.

func (k Spec) IsLevelled() bool  { return k.Levelled }
func (k Spec) IsByText() bool    { return k.ByText }
func (k Spec) IsByAction() bool  { return len(k.By) > 0 }
func (k Spec) IsAggregate() bool { return k.Aggregate }
func (k Spec) IsOwned() bool     { return k.Owner != "" }

// IsByNotice is true for the kind that no bump moves.
func (k Spec) IsByNotice() bool { return k.ByNotice }

// IsPersonal is true for a kind that is made with accounts, fills by itself, and follows the
// bumps of its posts.
func (k Spec) IsPersonal() bool { return k.IsOwned() && !k.Base && !k.ByNotice }

// By returns the kinds of the timelines that a post enters by the action.
func By(a Action) []string {
	return Where(func(k Spec) bool { return slices.Contains(k.By, a) })
}

// HoldsByAction is true for a timeline t, filled by actions of its owner, that has a
// reason to hold a post; r has a column for each action.
func HoldsByAction() string {
	cases := "CASE t.kind"
	for _, k := range All {
		for i, a := range k.By {
			word := " OR r."
			if i == 0 {
				word = " WHEN '" + k.Kind + "' THEN r."
			}
			cases += word + string(a)
		}
	}
	return cases + " END"
}

// OfAccounts are the timelines that accounts are made with, as rows of SQL
// (account_kind, kind, term, gate, private, writers, base).
func OfAccounts() string {
	var rows []string
	for _, k := range All {
		if k.IsOwned() {
			rows = append(rows, fmt.Sprintf("('%s', '%s', '%s', '%s', %t, '%s', %t)",
				k.Owner, k.Kind, k.Term, cmp.Or(k.Gate, k.Kind), k.Private, k.Writers, k.Base))
		}
	}
	return strings.Join(rows, ", ")
}

// OfHome returns the kinds of timelines that are such a part of a home feed.
// friendsOnly leaves out those that bring posts of strangers, by what their owner does.
func OfHome(of Home, friendsOnly bool) []string {
	return Where(func(k Spec) bool { return k.Home == of && !(friendsOnly && k.IsByAction()) })
}

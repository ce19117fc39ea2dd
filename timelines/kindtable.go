package timelines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// kindSpec is what sets the timelines of one kind apart. Code and SQL that are about
// several kinds find them here, by a property, and hold no list of their own.
type kindSpec struct {
	kind string
	// base: people put posts there, and only base timelines decide who may read a post.
	// The others fill by themselves. Triggers and indexes go by the column base, which
	// says the same.
	base bool
	// levelled: the owner chooses its level. A base timeline that is not levelled is for
	// the people named alone, and stays private.
	levelled bool
	// by are the owner's actions that bring a post there, each a reason to hold it.
	by []action
	// byText: tags or @names in a post's texts bring it there (text_marks).
	byText bool
	// aggregate: it belongs to nobody, and there is one of all posts and one for each
	// known language. The migrations make them; aggregates.go says what they hold.
	aggregate bool
	// home says which home feeds it is a part of.
	home homeOf
	// owner is the kind of account that is made with a timeline of this kind, User or
	// Group, or empty. The fields below are of that timeline.
	owner string
	term  string
	level Level
	// gate is the kind of the owner's timeline that decides who may open this one; empty:
	// it decides itself, and its owner, if a person, is among its readers.
	gate    string
	writers Writers
}

// action is what a person does about a post.
type action string

const (
	wrote     action = "wrote"
	commented action = "commented"
	liked     action = "liked"
	saved     action = "saved"
)

// homeOf says of whose home feeds a timeline is a part; 0: of none.
type homeOf int

const (
	// ofOwner: of its owner's alone.
	ofOwner homeOf = iota + 1
	// ofFollowers: of those of its owner and of everybody who follows its owner.
	ofFollowers
)

// kindSpecs are all kinds, in the order in which an account's timelines are made.
var kindSpecs = []kindSpec{
	{kind: KindFeed, base: true, levelled: true, home: ofFollowers, owner: User},
	{kind: KindSubfeed, base: true, levelled: true, home: ofFollowers, owner: User, term: PrivateSlug, level: Private},
	{kind: KindEyes, base: true, home: ofOwner, owner: User, level: Private},
	{kind: KindDirects, base: true, home: ofOwner, owner: User, level: Private, writers: WritersAnyone},
	{kind: KindGroup, base: true, levelled: true, home: ofFollowers, owner: Group, writers: WritersAnyone},

	{kind: KindLikes, by: []action{liked}, home: ofFollowers, owner: User, gate: KindFeed},
	{kind: KindComments, by: []action{commented}, home: ofFollowers, owner: User, gate: KindFeed},
	{kind: KindDiscussions, by: []action{wrote, commented, liked}, home: ofOwner, owner: User, level: Private},
	{kind: KindFaves, by: []action{saved}, owner: User, level: Private},
	{kind: KindMentions, byText: true, owner: User, level: Private},

	{kind: KindHashtag, byText: true},
	{kind: KindPost},
	{kind: KindEverything, aggregate: true},
	{kind: KindBest, aggregate: true},
	{kind: KindMostFaved, aggregate: true},
}

// specOf returns what there is to know of a kind; of one that does not exist, nothing.
func specOf(kind string) kindSpec {
	for i := range kindSpecs {
		if kindSpecs[i].kind == kind {
			return kindSpecs[i]
		}
	}
	return kindSpec{}
}

// kindsWhere returns the kinds that have the property.
func kindsWhere(has func(kindSpec) bool) (kinds []string) {
	for _, k := range kindSpecs {
		if has(k) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// sqlKinds returns the kinds that have the property as a list in SQL. A statement has them
// as constants, and so the server plans it once, for what it knows of them.
func sqlKinds(has func(kindSpec) bool) string {
	return "('" + strings.Join(kindsWhere(has), "', '") + "')"
}

func isLevelled(k kindSpec) bool  { return k.levelled }
func isByText(k kindSpec) bool    { return k.byText }
func isByAction(k kindSpec) bool  { return len(k.by) > 0 }
func isAggregate(k kindSpec) bool { return k.aggregate }
func isOwned(k kindSpec) bool     { return k.owner != "" }

// isPersonal is true for what is made with accounts and fills by itself.
func isPersonal(k kindSpec) bool { return isOwned(k) && !k.base }

// isGated is true for a timeline t that gated_entries is about: a base timeline is its own
// gate, and on a post's own timeline there is one row.
const isGated = `(NOT t.base AND t.kind <> 'post')`

// IsBase reports whether timelines of the kind are base timelines: people put posts
// there, and only they decide who may read a post.
func IsBase(kind string) bool { return specOf(kind).base }

// kindsBy returns the kinds of the timelines that a post enters by the action.
func kindsBy(a action) []string {
	return kindsWhere(func(k kindSpec) bool { return slices.Contains(k.by, a) })
}

// holdsByAction is true for a timeline t, filled by actions of its owner, that has a
// reason to hold a post; r has a column for each action.
func holdsByAction() string {
	cases := "CASE t.kind"
	for _, k := range kindSpecs {
		for i, a := range k.by {
			word := " OR r."
			if i == 0 {
				word = " WHEN '" + k.kind + "' THEN r."
			}
			cases += word + string(a)
		}
	}
	return cases + " END"
}

// timelinesOfAccounts are the timelines that accounts are made with, as rows of SQL
// (account_kind, kind, term, gate, access, writers, base).
func timelinesOfAccounts() string {
	var rows []string
	for _, k := range kindSpecs {
		if isOwned(k) {
			rows = append(rows, fmt.Sprintf("('%s', '%s', '%s', '%s', %d::smallint, '%s', %t)",
				k.owner, k.kind, k.term, cmp.Or(k.gate, k.kind), k.level, k.writers, k.base))
		}
	}
	return strings.Join(rows, ", ")
}

// homeKinds returns the kinds of timelines that are such a part of a home feed.
// friendsOnly leaves out those that bring posts of strangers, by what their owner does.
func homeKinds(of homeOf, friendsOnly bool) []string {
	return kindsWhere(func(k kindSpec) bool { return k.home == of && !(friendsOnly && isByAction(k)) })
}

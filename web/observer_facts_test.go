package web_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"riverrun/timelines"
)

// instant is a moment of the test, in nanoseconds since it began.
type instant int64

// pending is when a change ends that was not answered yet.
const pending instant = math.MaxInt64

// change is a value that something took on between the moment its form was sent
// and the moment the answer was there.
type change[T any] struct {
	from, to instant
	value    T
}

// history is all the values something had. Its changes are made one after the
// other: a person who makes one waits for the answer to the one before.
type history[T comparable] struct {
	first   T
	changes []*change[T]
}

// each calls fn with every value the thing may have had at that moment, until it
// returns true, and reports whether it did.
func (h *history[T]) each(at instant, fn func(T) bool) bool {
	if h == nil {
		var none T
		return fn(none)
	}
	for _, c := range slices.Backward(h.changes) {
		switch {
		case c.from > at:
		case fn(c.value):
			return true
		case c.to <= at:
			return false
		}
	}
	return fn(h.first)
}

func (h *history[T]) may(at instant, value T) bool {
	return h.each(at, func(v T) bool { return v == value })
}

// was reports whether the thing may have had that value at some time before that moment.
func (h *history[T]) was(at instant, value T) bool {
	return h.first == value || slices.ContainsFunc(h.changes, func(c *change[T]) bool { return c.from <= at && c.value == value })
}

// last is the present value, for the person who may change it and waits for no
// answer.
func (h *history[T]) last() T {
	if h == nil {
		var none T
		return none
	}
	if n := len(h.changes); n > 0 {
		return h.changes[n-1].value
	}
	return h.first
}

// tie is something that may be so or not between two: kinds below.
type tie struct{ kind, a, b string }

// Kinds of relations, each said of a and b.
const (
	admits   = "admits"   // a place, an account: the explicit set of a private place
	excludes = "excludes" // a place, an account
	follows  = "follows"  // an account, an account
	bans     = "bans"     // an account, an account
	asks     = "asks"     // an account, an account: there may be a request
	// brings is follows as the follower's home feed promises to know it: who ends
	// another's subscription takes no sight away, and that home feed follows later.
	brings = "brings"
	shows  = "shows"  // an account, a group: sees banned people there
	leads  = "leads"  // an account, a group
	likes  = "likes"  // an account, a writing's id, of a post or a comment
	keeps  = "keeps"  // an account, a post's id
	hidesA = "hidesA" // an account, an account
	hidesP = "hidesP" // an account, a post's id
	hidesT = "hidesT" // an account, a word
	mutes  = "mutes"  // an account, a post's id

	// These are of one account, or of the site: b is empty.
	unseen  = "unseen"  // only the staff see the account
	removal = "removal" // all that the account wrote is being removed: the staff may see it until it is
	warned  = "warned"  // a post of the account is blocked
	isShut  = "shut"    // a is empty too: the site is private
)

// Places are where posts stand: named as destinations are, but for these.
const (
	directsOf = "directs of "
	eyesOf    = "eyes of "
)

// writing is a post or a comment.
type writing struct {
	id     string
	number int64 // by which the store knows it, 0 until the answer came
	author string
	post   *writing // a comment's; nil for a post
	// text is the token of the text it has now, empty if it has none: not made yet,
	// refused, deleted.
	text   history[string]
	places history[string] // a post's, joined by commas
	// staged: a post that is part of a play, which alone changes it.
	staged bool
	// item: a post from elsewhere, which is plain text and has no card.
	item bool
	// sold: a listing; set before anybody can pick it.
	sold bool
	// code is the post's; guarded by facts.mu, empty until the answer came.
	code string
	// mu is held while somebody changes the writing, until the answer is there.
	mu sync.Mutex
}

// of is the post itself or the comment's.
func (w *writing) of() *writing { return cmp.Or(w.post, w) }

// said is what a token stands for: a text of a writing, with words that can be
// hidden and people who are named, the title of a place or a person, or what somebody has not sent.
type said struct {
	writing *writing
	words   []string
	names   []string
	place   string
	person  string // whose title it is
	draft   *unsent
	keeper  string // whose programs keep it beside the post
	loose   bool   // in a file of the draft, which its owner may fetch by its address at any time
}

// facts is what the observer knows: every change that was asked for, when it was
// sent and when it was answered. It is independent of the product: it asks it
// nothing, and its rules are those of ARCHITECTURE.md.
type facts struct {
	began time.Time

	mu        sync.RWMutex // guards what follows, and all histories
	marks     []instant    // when something began to change or was answered, in order
	relations map[tie]*history[bool]
	levels    map[string]*history[timelines.Level]
	owners    map[string]string // of places; groups own themselves
	groups    map[string]bool
	residents []string
	tokens    map[string]said
	codes     map[string]*writing
	posts     []*writing
	begun     []*writing              // posts, also those whose answer is not here yet
	comments  map[*writing][]*writing // of a post
	tookPart  map[tie]bool            // who ever wrote, liked or commented on a post
	drafts    map[tie]*unsent         // of an account, for a place
	refusals  []string                // forms, as complaints tell of them
	openings  map[opening][]change[struct{}]

	noteMu sync.Mutex        // guards the fields below
	closed map[string]string // how a draft looks whose post is closed to its author, by page
	notes  map[string]int    // how often something was judged
}

func newFacts() *facts {
	return &facts{
		began:     time.Now(),
		relations: map[tie]*history[bool]{}, levels: map[string]*history[timelines.Level]{},
		owners: map[string]string{}, groups: map[string]bool{}, tokens: map[string]said{}, codes: map[string]*writing{},
		comments: map[*writing][]*writing{}, tookPart: map[tie]bool{},
		drafts: map[tie]*unsent{}, openings: map[opening][]change[struct{}]{}, closed: map[string]string{}, notes: map[string]int{},
	}
}

func (f *facts) now() instant { return instant(time.Since(f.began)) }

// refuse notes that a form was refused.
func (f *facts) refuse(told string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusals = append(f.refusals, told)
}

// settle ends a change: an answer came, and says whether it was made.
type settle func(made bool)

// begin notes that a history is about to take on a value. It is called with mu
// held; settle is not.
func begin[T comparable](f *facts, h *history[T], value T) settle {
	c := &change[T]{from: f.now(), to: pending, value: value}
	h.changes = append(h.changes, c)
	f.marks = append(f.marks, c.from)
	return func(made bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !made {
			h.changes = slices.DeleteFunc(h.changes, func(other *change[T]) bool { return other == c })
			return
		}
		c.to = f.now()
		f.marks = append(f.marks, c.to)
	}
}

func (f *facts) tie(kind, a, b string) *history[bool] {
	key := tie{kind, a, b}
	h := f.relations[key]
	if h == nil {
		h = &history[bool]{}
		f.relations[key] = h
	}
	return h
}

// setting is a tie that a form is about to set.
type setting struct {
	kind, a, b string
	value      bool
}

// set notes what a form is about to change.
func (f *facts) set(all ...setting) settle {
	f.mu.Lock()
	defer f.mu.Unlock()
	var settles []settle
	for _, s := range all {
		settles = append(settles, begin(f, f.tie(s.kind, s.a, s.b), s.value))
	}
	return func(made bool) {
		for _, s := range settles {
			s(made)
		}
	}
}

// is returns the state of a tie, to the one person who may change it.
func (f *facts) is(kind, a, b string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.relations[tie{kind, a, b}].last()
}

func (f *facts) level(place string) timelines.Level {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.levels[place].last()
}

func (f *facts) setLevel(place string, level timelines.Level) settle {
	f.mu.Lock()
	defer f.mu.Unlock()
	return begin(f, f.levels[place], level)
}

// addPlace adds a place whose owner is always among its readers.
func (f *facts) addPlace(place, owner string, level timelines.Level) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owners[place] = owner
	f.levels[place] = &history[timelines.Level]{first: level}
	f.relations[tie{admits, place, owner}] = &history[bool]{first: true}
}

// may reports whether the tie may have stood so at that moment.
func (f *facts) may(at instant, kind, a, b string, value bool) bool {
	return f.relations[tie{kind, a, b}].may(at, value)
}

// The rules. Each says what may have been so at a moment, given what was under
// way; viewer "" is nobody.

// admitted: could the viewer be shown anything? (A private site shows nothing without signing in.)
func (f *facts) admitted(at instant, viewer string) bool {
	return viewer != "" || f.may(at, isShut, "", "", false)
}

// knows: could the viewer be shown anything of the person? (The staff alone see who is hidden by a
// suspension, waits to be let in, or has all posts removed.)
func (f *facts) knows(at instant, viewer, person string) bool {
	return viewer == inOffice || viewer == ofSite || viewer == person || f.may(at, unseen, person, "", false)
}

// there: might the writing have been there for the viewer; or not? The staff may see what is being
// removed, and for everybody it counts as a hidden comment.
func (f *facts) there(at instant, w *writing, so bool) bool {
	return w.text.each(at, func(text string) bool { return (text != "") == so }) || so && f.may(at, removal, w.author, "", true)
}

// says: might the writing have had that text for the viewer? An empty token is any text.
func (f *facts) says(at instant, viewer string, w *writing, token string) bool {
	if (viewer == inOffice || viewer == ofSite) && f.may(at, removal, w.author, "", true) {
		return token == "" || w.text.was(at, token)
	}
	return w.text.each(at, func(text string) bool { return text != "" && (token == "" || text == token) })
}

// opens: could the viewer read the place? ("public, protected (any
// signed-in account except an explicit set) or private (an explicit set)")
func (f *facts) opens(at instant, viewer, place string) bool {
	if !f.admitted(at, viewer) {
		return false
	}
	if viewer == ofSite {
		return true
	}
	return f.levels[place].each(at, func(l timelines.Level) bool {
		switch l {
		case timelines.Public:
			return true
		case timelines.Protected:
			return viewer != "" && f.may(at, excludes, place, viewer, false)
		case timelines.Private:
			return viewer != "" && f.may(at, admits, place, viewer, true)
		}
		return false
	})
}

// sees: could the viewer see the person in a post that stands there? ("A ban
// hides that person's posts, comments and likes everywhere, both ways, except in
// groups where the viewer chose to see banned people"; who administers such a
// group sees also who banned them.)
func (f *facts) sees(at instant, viewer, person string, places []string) bool {
	if !f.knows(at, viewer, person) {
		return false
	}
	if viewer == ofSite {
		return true
	}
	mine, theirs := f.may(at, bans, viewer, person, false), f.may(at, bans, person, viewer, false)
	for _, g := range places {
		if f.groups[g] && f.opens(at, viewer, g) && f.may(at, shows, viewer, g, true) {
			mine = true
			theirs = theirs || f.may(at, leads, viewer, g, true)
		}
	}
	return mine && theirs
}

// stands calls fn with each set of places the post may have stood in.
func (f *facts) stands(at instant, p *writing, fn func(places []string) bool) bool {
	return p.places.each(at, func(joined string) bool { return fn(strings.Split(joined, ",")) })
}

// reads: could the viewer read the post? ("visible if any of its decisive
// timelines is readable")
func (f *facts) reads(at instant, viewer string, p *writing) bool {
	return f.says(at, viewer, p, "") && f.stands(at, p, func(places []string) bool {
		return f.sees(at, viewer, p.author, places) &&
			slices.ContainsFunc(places, func(place string) bool { return f.opens(at, viewer, place) })
	})
}

// shown: could the viewer be shown this text on a page?
func (f *facts) shown(at instant, viewer, token string, of said, on showing) bool {
	switch {
	case of.draft != nil:
		return viewer == of.draft.owner && (of.loose || on.kind == onDrafts && of.draft.text.may(at, token))
	case of.person != "":
		return f.admitted(at, viewer) && (f.knows(at, viewer, of.person) || f.wrote(at, viewer, of.person))
	case of.writing == nil:
		return f.opens(at, viewer, of.place) // a sub-feed that one may not open is not even named
	}
	w, p := of.writing, of.writing.of()
	if of.keeper != "" {
		return viewer == of.keeper && f.reads(at, viewer, p)
	}
	if on.kind == onHistory {
		return w == p && viewer == p.author && on.whose == p.code && w.text.was(at, token) && f.reads(at, viewer, p)
	}
	if on.kind == onMine { // one's own words, wherever they stand
		return w == p && viewer == p.author && f.says(at, viewer, w, token)
	}
	if !f.says(at, viewer, w, token) || !f.reads(at, viewer, p) || !on.holds(f, at, viewer, p) && !on.warns(f, at, viewer, p) {
		return false
	}
	return w == p || f.stands(at, p, func(places []string) bool { return f.sees(at, viewer, w.author, places) })
}

// comments: might the person have a comment in the post?
func (f *facts) commented(at instant, person string, p *writing) bool {
	return slices.ContainsFunc(f.comments[p], func(c *writing) bool {
		return c.author == person && f.there(at, c, true)
	})
}

// spared: might the viewer not have hidden the post, on a page of that account
// (one's own posts are never hidden, and on its own page nobody's are)?
func (f *facts) spared(at instant, viewer string, p *writing, account string) bool {
	if viewer == "" || p.author == viewer {
		return true
	}
	if !f.may(at, hidesP, viewer, p.id, false) || p.author != account && !f.may(at, hidesA, viewer, p.author, false) {
		return false
	}
	elsewhere := f.stands(at, p, func(places []string) bool {
		return slices.ContainsFunc(places, func(place string) bool {
			return f.opens(at, viewer, place) && (!f.groups[place] || place == account || f.may(at, hidesA, viewer, place, false))
		})
	})
	return elsewhere && p.text.each(at, func(text string) bool {
		return !slices.ContainsFunc(f.tokens[text].words, func(word string) bool { return !f.may(at, hidesT, viewer, word, false) })
	})
}

// apart: might a ban have stood between the two, or the person have been unseen? Where neither may
// be, and it is no group in which banned people are seen, they surely see each other.
func (f *facts) apart(at instant, viewer, person string) bool {
	return viewer != inOffice && viewer != ofSite && viewer != person && f.may(at, unseen, person, "", true) ||
		f.may(at, bans, viewer, person, true) || f.may(at, bans, person, viewer, true)
}

// bounds counts of how many it may have been so at some moment of a serving, and of how
// many it surely was at each: may says whether one may have been so, or may not.
func bounds[T any](f *facts, s serving, all []T, may func(at instant, x T, so bool) bool) (least, most int) {
	for _, x := range all {
		if f.ever(s.from, s.to, func(at instant) bool { return may(at, x, true) }) {
			most++
			if !f.ever(s.from, s.to, func(at instant) bool { return may(at, x, false) }) {
				least++
			}
		}
	}
	return least, most
}

// ever: is there a moment of those between two, both included, at which it may
// have been so?
func (f *facts) ever(from, to instant, so func(at instant) bool) bool {
	if so(from) || so(to) {
		return true
	}
	i, _ := slices.BinarySearch(f.marks, from)
	for ; i < len(f.marks) && f.marks[i] <= to; i++ {
		if so(f.marks[i]) {
			return true
		}
	}
	return false
}

package rivers

import (
	"context"
	"math"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// decide turns stored entries into what this viewer may see, in memory: the
// post's decisive timelines, the people kept away by bans, the reasons it is here,
// the destinations that may be named, the viewer's hides. It is the third and fourth of 004's checks,
// made anew at each render. newer: what was decided is of later than the statement
// that returned raw (see held).
func (s *Store) decide(ctx context.Context, n Name, sets *access.Sets, raw []rawEntry) (items []Item, newer bool, err error) {
	newer, err = s.decideMany(ctx, []undecided{{name: n, sets: sets, entries: raw}}, func(_, _ int, it Item, shown bool) {
		if shown {
			items = append(items, it)
		}
	})
	return items, newer, err
}

// undecided are entries of one river and what decides them.
type undecided struct {
	name    Name
	sets    *access.Sets
	entries []rawEntry
}

// decideMany decides the entries of several rivers with the statements of one:
// one for folds not in memory, one for posts shown whole, one or two for
// timelines not in memory, one for what the folds of crowded posts leave open.
// each is told of every entry in turn, with shown false for those left out. newer: some
// of what was decided is of later than the statement that returned the entries.
func (s *Store) decideMany(ctx context.Context, all []undecided,
	each func(river, entry int, it Item, shown bool),
) (newer bool, err error) {
	pause(ctx, beforeDeciding)
	want := map[int64]int64{}
	for _, u := range all {
		for _, e := range u.entries {
			// An entry is stored together with its fold. A fold older than the entry was
			// written late, after the table was lost, and is not to be believed.
			at := max(e.Fold, e.Version)
			if e.Fold == 0 {
				// No fold is stored to say how old the one in memory is: it may be from
				// before a narrowing whose own fold was lost or expired since (R4). Fold
				// again.
				at = math.MaxInt64
			}
			want[e.PostID] = max(want[e.PostID], at)
		}
	}
	folds, err := s.loadFolds(ctx, want)
	if err != nil {
		return false, err
	}
	for post, f := range folds {
		// Folded again, it is at whatever version it has now.
		newer = newer || f.Version != want[post]
	}
	ids := map[int64]struct{}{}
	for _, u := range all {
		for _, e := range u.entries {
			for _, id := range e.Overlay.Timelines {
				ids[id] = struct{}{}
			}
		}
	}
	for _, f := range folds {
		for _, id := range f.Decisive {
			ids[id] = struct{}{}
		}
	}
	list := make([]int64, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	gates, err := s.access.Levels(ctx, list)
	if err != nil {
		return false, err
	}
	beyond, err := s.askCrowd(ctx, all, folds, gates)
	if err != nil {
		return false, err
	}
	newer = newer || len(beyond) > 0
	full := map[int64]int64{}
	for _, u := range all {
		sp := specs[u.name.Kind]
		if !sp.full && !sp.mentions {
			continue
		}
		for _, e := range u.entries {
			f := folds[e.PostID]
			if _, shown := decideOne(u.name, u.sets, gates, beyond, e, f); shown && (sp.full || f.folds()) {
				full[e.PostID] = f.Version
			}
		}
	}
	fulls, err := s.fullFolds(ctx, full)
	if err != nil {
		return false, err
	}
	// A full fold may be newer than the one just decided, and the post stand
	// elsewhere.
	for post, f := range fulls {
		list = append(list, f.Decisive...)
		newer = newer || f.Version != full[post]
	}
	if len(fulls) > 0 {
		if gates, err = s.access.Levels(ctx, list); err != nil {
			return false, err
		}
	}
	titles, err := s.titles(ctx, gates)
	if err != nil {
		return false, err
	}
	for i, u := range all {
		sp := specs[u.name.Kind]
		for j, e := range u.entries {
			it, shown := decideOne(u.name, u.sets, gates, beyond, e, folds[e.PostID])
			if shown && sp.mentions {
				it.unfoldMentions(fulls[e.PostID], gates.Hidden(u.sets, it.Fold.Decisive), u.sets)
			}
			if shown && sp.full {
				// Nothing is left open here: it stands in the post's own timeline.
				it, shown = decideOne(u.name, u.sets, gates, beyond, e, fulls[e.PostID])
				it.Full = true
			}
			for _, t := range it.To {
				if f, ok := titles[t.ID]; ok {
					it.Subfeeds = append(it.Subfeeds, f)
				}
			}
			each(i, j, it, shown)
		}
	}
	return newer, nil
}

// titles returns the sub-feeds among some timelines, whoever may know of them. What they
// are called is of the decision's moment as all else is: their owners may close them and
// give them another title then.
func (s *Store) titles(ctx context.Context, gates access.Levels) (map[int64]timelines.Subfeed, error) {
	var owners []int64
	for t := range gates.Timelines() {
		if t.Kind == timelines.KindSubfeed {
			owners = append(owners, t.TheirID)
		}
	}
	if len(owners) == 0 {
		return nil, nil
	}
	lists, err := s.access.Subfeeds(ctx, owners)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]timelines.Subfeed, len(owners))
	for _, list := range lists {
		for _, f := range list {
			found[f.TimelineID] = f
		}
	}
	return found, nil
}

// decideOne decides one entry, by the fold and, as far as that leaves open where the
// post stands, by the crowd.
func decideOne(n Name, sets *access.Sets, gates access.Levels, beyond crowd, e rawEntry, f *Fold) (Item, bool) {
	sp := specs[n.Kind]
	it := Item{
		PostID: e.PostID, Place: e.Place, Stamp: Stamp{Entry: e.Version}, Fold: f,
		Liked: e.Overlay.Liked, Faved: e.Overlay.Faved,
	}
	if f == nil {
		return it, false // the post itself is gone from the primary store
	}
	it.Stamp.Fold = f.Version
	if e.Deleted || f.Deleted || !gates.OpensAny(sets, f.Decisive) {
		return it, false
	}
	veil := gates.Hidden(sets, f.Decisive)
	if veil.Has(f.Text.Author) || sp.asked && !finds(n, sets, veil, e, f) {
		return it, false
	}
	for _, id := range e.Overlay.Timelines {
		t, ok := gates.Timeline(id)
		if !ok || !gates.Opens(sets, id) || !f.bears(t, sets, veil, beyond) {
			continue
		}
		if doing(t) && (veil.Has(t.TheirID) || t.TheirID != n.Account() && hides(sets, t.TheirID)) {
			continue
		}
		if sp.asked && sets.BlockedBetween(t.TheirID) {
			continue // that page is closed to the viewer
		}
		it.Why = append(it.Why, t)
	}
	if (sp.reasons || sp.asked && len(e.Overlay.Timelines) > 0) && len(it.Why) == 0 {
		return it, false
	}
	it.To = destinations(sets, gates, f)
	it.Hidden = hideOf(n, sets, &it).Cause != Unhidden
	if it.Hidden && !sp.whole {
		return it, false
	}
	it.Veiled = f.veiled(veil)
	return it, true
}

func hides(sets *access.Sets, account int64) bool { return sets.Hides.Accounts.Has(account) }

// Hide is which of the viewer's hides keeps a post from a page.
type Hide struct {
	Cause HideCause
	Term  access.Term // what it speaks of, if that is the cause
}

// HideCause is what a viewer hides of a post.
type HideCause string

// The causes of a Hide, the first of which counts.
const (
	Unhidden     HideCause = ""
	HiddenPost   HideCause = "post"
	HiddenAuthor HideCause = "author"
	HiddenGroups HideCause = "groups" // all that it stands in, and it stands nowhere else
	HiddenTerm   HideCause = "term"   // what the page would show of its text speaks of it
)

// hideOf decides whether and why the viewer hides a post. One's own posts are never
// hidden, and on a hidden account's own page that account is not.
func hideOf(n Name, sets *access.Sets, it *Item) Hide {
	if sets.Fingerprint() == "" || it.Fold.Text.Author == sets.AccountID {
		return Hide{}
	}
	if sets.Hides.Posts.Has(it.PostID) {
		return Hide{Cause: HiddenPost}
	}
	if author := it.Fold.Text.Author; author != n.Account() && hides(sets, author) {
		return Hide{Cause: HiddenAuthor}
	}
	elsewhere := func(t timelines.Timeline) bool {
		return t.Kind != timelines.KindGroup || t.TheirID == n.Account() || !hides(sets, t.TheirID)
	}
	if len(it.To) > 0 && !slices.ContainsFunc(it.To, elsewhere) {
		return Hide{Cause: HiddenGroups}
	}
	if t := sets.Hides.Match(it.Fold.Text.Body); t != nil {
		return Hide{Cause: HiddenTerm, Term: t}
	}
	return Hide{}
}

// doing: the timeline holds a post because its owner did something there, and not
// because it was put there.
func doing(t timelines.Timeline) bool {
	return t.Kind == timelines.KindLikes || t.Kind == timelines.KindComments
}

// veiled returns those people in the fold whom the veil hides, in order. It tells
// nobody else: what is rendered for one viewer serves all from whom the same
// people are hidden here.
func (f *Fold) veiled(veil access.HiddenUsers) []int64 {
	if veil.None() {
		return nil
	}
	var found []int64
	add := func(ids ...int64) {
		for _, id := range ids {
			if veil.Has(id) {
				found = append(found, id)
			}
		}
	}
	add(f.Likes.IDs...)
	add(f.Comments.IDs...)
	add(f.Comments.Likers...)
	for i := range f.Comments.Shown {
		// Beyond MaxPeople a commenter is among those shown and not among the ids.
		add(f.Comments.Shown[i].Author)
		add(f.Comments.Shown[i].Likes.IDs...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// destinations are the post's decisive timelines this viewer may know of. Who
// takes part in a direct post knows all who do.
func destinations(sets *access.Sets, gates access.Levels, f *Fold) []timelines.Timeline {
	party := false
	for _, id := range f.Decisive {
		if t, ok := gates.Timeline(id); ok && t.Kind == timelines.KindDirects && gates.Opens(sets, id) {
			party = true
		}
	}
	var to []timelines.Timeline
	for _, id := range f.Decisive {
		t, ok := gates.Timeline(id)
		if ok && (gates.Opens(sets, id) || party && t.Kind == timelines.KindDirects) {
			to = append(to, t)
		}
	}
	return to
}

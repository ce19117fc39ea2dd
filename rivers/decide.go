package rivers

import (
	"context"
	"maps"
	"math"
	"slices"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
	"riverrun/timelines/notices"
)

// decide turns stored entries into those that this viewer may see, in memory. It is
// decideMany of one river.
func (s *Store) decide(ctx context.Context, n Name, sets *access.Sets, label notices.Label, raw []rawEntry) (items []Item, newer bool, err error) {
	newer, err = s.decideMany(ctx, []undecided{{name: n, sets: sets, label: label, entries: raw}}, func(_ int, it Item, shown bool) {
		if shown {
			items = append(items, it)
		}
	})
	return items, newer, err
}

// undecided are entries of one river, with the access sets of its viewer.
type undecided struct {
	name    Name
	sets    *access.Sets
	label   notices.Label // of the viewer's notifications, with the epoch that the entries were read in
	entries []rawEntry
}

// decideMany decides what the viewers of several rivers may see of their entries: the third
// and fourth of 004's four checks, made anew at each render. It calls each for every entry
// in turn, with the river's index in all; shown is false for an entry that is left out.
// newer reports whether something it decided by was read after the statement that returned
// the entries (see consistent).
//
// It takes as many statements as one river would: one for folds that are not in memory, one
// for notifications, one for posts shown unfolded, one or two for timelines that are not in memory, and one for
// what folds at their limit cannot tell. A warm page takes none.
func (s *Store) decideMany(ctx context.Context, all []undecided, each func(river int, it Item, shown bool)) (newer bool, err error) {
	pause(ctx, beforeDeciding)
	if len(all) == 0 {
		return false, nil
	}
	want, epoch := foldVersions(all), all[0].label.Epoch // they were read by one statement
	d := decision{}
	var read [3]bool
	if d.folds, read[0], err = s.loadFolds(ctx, epoch, want); err != nil {
		return false, err
	}
	if d.notices, read[1], err = s.eventsOf(ctx, all); err != nil {
		return false, err
	}
	named := timelinesOf(all, d.folds)
	if d.gates, err = s.access.Levels(ctx, named); err != nil {
		return false, err
	}
	if d.overflow, err = s.askOverflow(ctx, all, d.folds, d.gates); err != nil {
		return false, err
	}
	wantFull := d.fullVersions(all)
	if d.full, read[2], err = s.fullFolds(ctx, epoch, wantFull); err != nil {
		return false, err
	}
	if len(d.full) > 0 {
		// A full fold may be newer than the fold just decided, and the post stand elsewhere.
		for _, f := range d.full {
			named = append(named, f.Decisive...)
		}
		if d.gates, err = s.access.Levels(ctx, named); err != nil {
			return false, err
		}
	}
	if d.titles, err = s.titles(ctx, d.gates); err != nil {
		return false, err
	}
	for i, u := range all {
		for _, e := range u.entries {
			it, shown := d.item(u, e)
			each(i, it, shown)
		}
	}
	return anyNewer(d.folds, want) || anyNewer(d.full, wantFull) || len(d.overflow) > 0 || slices.Contains(read[:], true), nil
}

// foldVersions returns, for each post of these entries, the version that its fold must have
// at least.
func foldVersions(all []undecided) map[int64]int64 {
	want := map[int64]int64{}
	for _, u := range all {
		for _, e := range u.entries {
			// An entry is stored together with its fold. A fold older than the entry was written
			// late, after the table was lost, and must not be believed.
			at := max(e.Fold, e.Version)
			if e.Fold == 0 {
				// No stored fold says how old the one in memory is. That may be from before a
				// narrowing whose own fold was lost or expired since (R4), so fold again.
				at = math.MaxInt64
			}
			want[e.PostID] = max(want[e.PostID], at)
		}
	}
	return want
}

// anyNewer reports whether a fold has another version than the one asked for. Such a fold
// was folded again, or was in memory, and is of a later moment.
func anyNewer(folds map[int64]*Fold, want map[int64]int64) bool {
	for post, f := range folds {
		if f.Version != want[post] {
			return true
		}
	}
	return false
}

// timelinesOf returns the timelines that these entries and folds name.
func timelinesOf(all []undecided, folds map[int64]*Fold) []int64 {
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
	return slices.Collect(maps.Keys(ids))
}

// decision is what the entries of several rivers are decided by.
type decision struct {
	folds, full map[int64]*Fold
	gates       access.Levels
	overflow    overflow
	titles      map[int64]timelines.Subfeed
	notices     map[notices.Of][]notices.Event
}

func (d *decision) decider(u undecided) decider {
	return decider{u.name, u.sets, d.gates, d.overflow, d.notices}
}

// fullVersions returns the posts that are shown unfolded, or with some of their folded
// comments, each with the version that its full fold must have at least.
func (d *decision) fullVersions(all []undecided) map[int64]int64 {
	want := map[int64]int64{}
	for _, u := range all {
		sp := specs[u.name.Kind]
		if !sp.full && !sp.mentions && !sp.notices {
			continue
		}
		for _, e := range u.entries {
			f := d.folds[e.PostID]
			it, shown := d.decider(u).decide(e, f)
			if shown && (sp.full || sp.mentions && f.folds() || sp.notices && it.quotesFolded()) {
				want[e.PostID] = f.Version
			}
		}
	}
	return want
}

// item decides an entry and fills in what its kind of river also shows.
func (d *decision) item(u undecided, e rawEntry) (it Item, shown bool) {
	sp, one := specs[u.name.Kind], d.decider(u)
	it, shown = one.decide(e, d.folds[e.PostID])
	if shown && sp.mentions {
		it.unfoldMentions(d.full[e.PostID], d.gates.Hidden(u.sets, it.Fold.Decisive), u.sets)
	}
	if shown && sp.notices {
		it.quote(d.full[e.PostID])
	}
	if shown && sp.full {
		// No reason is left open here: the post stands in its own timeline.
		it, shown = one.decide(e, d.full[e.PostID])
		it.Full = true
	}
	for _, t := range it.To {
		if f, ok := d.titles[t.ID]; ok {
			it.Subfeeds = append(it.Subfeeds, f)
		}
	}
	return it, shown
}

// titles returns the sub-feeds among some timelines, whether or not the viewer may know of
// them. Their titles are of the same moment as everything else in the decision, because an
// owner may close a sub-feed and rename it at once.
func (s *Store) titles(ctx context.Context, gates access.Levels) (map[int64]timelines.Subfeed, error) {
	var owners []int64
	for t := range gates.Timelines() {
		if t.Kind == kinds.Subfeed {
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

// decider decides the entries of one river for its viewer.
type decider struct {
	name     Name
	sets     *access.Sets
	gates    access.Levels
	overflow overflow
	notices  map[notices.Of][]notices.Event
}

// decide decides one entry by the post's fold, which is nil if the post is gone from the
// primary store. It asks in this order: is there still a post? May the viewer read it? Does
// a ban stand between its author and the viewer? Does anything that the viewer may know of
// bring it here? Does the viewer hide it?
func (d decider) decide(e rawEntry, f *Fold) (Item, bool) {
	it := Item{
		PostID: e.PostID, Place: e.Place, Stamp: Stamp{Entry: e.Version}, Fold: f,
		Liked: e.Overlay.Liked, Faved: e.Overlay.Faved,
	}
	if f == nil {
		return it, false
	}
	it.Stamp.Fold = f.Version
	if e.Deleted || f.Deleted || !d.gates.OpensAny(d.sets, f.Decisive) {
		return it, false
	}
	hidden := d.gates.Hidden(d.sets, f.Decisive)
	if hidden.Has(f.Text.Author) {
		return it, false
	}
	sp := specs[d.name.Kind]
	if f.Text.Held != "" && !sp.full && !sp.notices {
		return it, false // its author has it on its own page, and finds it among their posts
	}
	var ok bool
	if it.Why, ok = sp.content.reasons(d, e, f, hidden); !ok {
		return it, false
	}
	it.To = destinations(d.sets, d.gates, f)
	it.Hidden = hideOf(d.name, d.sets, &it).Cause != Unhidden
	if it.Hidden && !sp.ignoresHides {
		return it, false
	}
	it.HiddenUsers = f.hiddenUsers(hidden)
	it.Muted = d.sets.Muted.Has(it.PostID)
	return it, !sp.notices || d.notice(&it, hidden)
}

// confirmed returns the entry's timelines that the viewer may open and that still hold the
// post, because of something done by people whom the viewer sees.
func (d decider) confirmed(e rawEntry, f *Fold, hidden access.HiddenUsers) []timelines.Timeline {
	var why []timelines.Timeline
	for _, id := range e.Overlay.Timelines {
		t, ok := d.gates.Timeline(id)
		if !ok || !d.gates.Opens(d.sets, id) || !f.confirms(t, d.sets, hidden, d.overflow) {
			continue
		}
		if isActivity(t) && (hidden.Has(t.TheirID) || t.TheirID != d.name.Account() && hides(d.sets, t.TheirID)) {
			continue
		}
		why = append(why, t)
	}
	return why
}

func hides(sets *access.Sets, account int64) bool { return sets.Hides.Accounts.Has(account) }

// Hide says which of the viewer's hides keeps a post from a page.
type Hide struct {
	Cause HideCause
	Term  access.Term // the term in its text, if that is the cause
}

// HideCause is the kind of hide.
type HideCause string

// The causes of a Hide. The first that applies counts.
const (
	Unhidden     HideCause = ""
	HiddenPost   HideCause = "post"
	HiddenAuthor HideCause = "author"
	HiddenGroups HideCause = "groups" // the viewer hides all groups it stands in, and it stands nowhere else
	HiddenTerm   HideCause = "term"   // the text that the page would show has a hidden term
)

// hideOf decides whether and why the viewer hides a post. Nobody hides their own posts, and
// a hidden account is not hidden on its own page.
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
		return t.Kind != kinds.Group || t.TheirID == n.Account() || !hides(sets, t.TheirID)
	}
	if len(it.To) > 0 && !slices.ContainsFunc(it.To, elsewhere) {
		return Hide{Cause: HiddenGroups}
	}
	if t := sets.Hides.Match(it.Fold.Text.Body); t != nil {
		return Hide{Cause: HiddenTerm, Term: t}
	}
	return Hide{}
}

// isActivity reports whether the timeline holds a post because its owner did something
// there, and not because it was put there.
func isActivity(t timelines.Timeline) bool {
	return t.Kind == kinds.Likes || t.Kind == kinds.Comments
}

// hiddenUsers returns the people in the fold whom the viewer does not see, in order of id.
// It names nobody else, so that a post rendered for one viewer serves all viewers from whom
// the same people in it are hidden.
func (f *Fold) hiddenUsers(hidden access.HiddenUsers) []int64 {
	if hidden.None() {
		return nil
	}
	var found []int64
	add := func(ids ...int64) {
		for _, id := range ids {
			if hidden.Has(id) {
				found = append(found, id)
			}
		}
	}
	add(f.Likes.IDs...)
	add(f.Comments.IDs...)
	add(f.Comments.Likers...)
	add(f.Comments.Folded...)
	for i := range f.Comments.Shown {
		// Beyond MaxPeople a commenter may be among those shown and not among the ids.
		add(f.Comments.Shown[i].Author)
		add(f.Comments.Shown[i].Likes.IDs...)
	}
	for _, r := range f.Comments.Recent {
		add(r.By)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// destinations returns the post's decisive timelines that this viewer may know of. Each
// party to a message knows all its parties, but for those who are unseen.
func destinations(sets *access.Sets, gates access.Levels, f *Fold) []timelines.Timeline {
	party := false
	for _, id := range f.Decisive {
		if t, ok := gates.Timeline(id); ok && t.Kind == kinds.Directs && gates.Opens(sets, id) {
			party = true
		}
	}
	var to []timelines.Timeline
	for _, id := range f.Decisive {
		t, ok := gates.Timeline(id)
		if ok && (gates.Opens(sets, id) || party && t.Kind == kinds.Directs && !sets.Unseen.Has(t.TheirID)) {
			to = append(to, t)
		}
	}
	return to
}

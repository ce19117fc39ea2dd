package rivers

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/kinds"
	"riverrun/timelines/snapshot"
)

// Explanation says whether and why one viewer sees one post, for operators. The functions
// that decide pages decide all of it.
type Explanation struct {
	PostID  int64
	Author  int64
	Deleted bool
	// Sees: the post's own page is open to the viewer.
	Sees bool
	// Grants are the post's decisive timelines. Any open one lets the viewer read the post.
	Grants []Grant
	// Banned: a ban stands between the author and the viewer, in this post.
	Banned bool
	// Hide is why the viewer hides the post, if so. Standings say which rivers show it all
	// the same, as its own page does.
	Hide Hide
	// Standings are the viewer's live rivers, except other posts' pages, and the usual pages,
	// live or not.
	Standings []Standing
}

// Grant is a decisive timeline as the viewer finds it.
type Grant struct {
	Timeline timelines.Timeline
	Level    timelines.Level
	Opens    bool
	LeftOut  bool // the viewer is excluded from it
}

// Standing is how a post stands in one river.
type Standing struct {
	Name Name
	// Title is the viewer's title of the list, if the river is a list's.
	Title string
	// Cause is why the post is not shown there, or Shown.
	Cause Cause
	// Hide is the hide that keeps it from there, if that is the Cause.
	Hide Hide
	// Why are the timelines that bring it there.
	Why []timelines.Timeline
	// River is the generation that stands, 0 if none does. Stored is the version of its
	// entry, 0 for none. Deleted says that the entry is a tombstone; Below, that it stands
	// below the floor, where no page has asked for it yet.
	River    int64
	Stored   int64
	Deleted  bool
	Below    bool
	Expected int64 // the post's version; an entry of a lesser version is outdated
}

// Cause is why a post is not shown in a river.
type Cause string

// The causes.
const (
	Shown      Cause = "shown"
	Closed     Cause = "closed"     // the page may not be opened
	Unheld     Cause = "unheld"     // no timeline of the river holds it
	Unreadable Cause = "unreadable" // no decisive timeline is open
	Banned     Cause = "banned"     // a ban stands between its author and the viewer
	Hidden     Cause = "hidden"     // the viewer hides it
	Reasonless Cause = "reasonless" // the viewer may know of nothing that brings it here
)

// Explain explains a post to the people who run the site. viewer is an account, or 0 for
// anybody who is not signed in. It returns timelines.ErrNotFound if there never was such a
// post.
func (s *Store) Explain(ctx context.Context, viewer int64, code string) (*Explanation, error) {
	code, ok := timelines.ParseCode(code)
	if !ok {
		return nil, timelines.ErrNotFound
	}
	if err := s.RefreshAccess(ctx); err != nil {
		return nil, err
	}
	sets, err := s.access.Sets(ctx, viewer)
	if err != nil {
		return nil, err
	}
	ids, err := s.primary.Posts.IDs(ctx, []string{code})
	if err != nil {
		return nil, err
	}
	post, ok := ids[code]
	if !ok {
		return nil, timelines.ErrNotFound
	}
	x := &Explanation{PostID: post}
	err = s.primary.InSnapshot(ctx, func(sn *snapshot.Snapshot) error { return s.explain(ctx, sn, x, sets) })
	return x, err
}

func (s *Store) explain(ctx context.Context, sn *snapshot.Snapshot, x *Explanation, sets *access.Sets) error {
	var viewers snapshot.ViewerPairs
	viewers.Add(x.PostID, sets.AccountID)
	states, contents, err := sn.StatesAndContents(ctx, []int64{x.PostID}, viewers, s.foldDepth())
	if err != nil {
		return err
	}
	st, c := states[x.PostID], contents[x.PostID]
	if st == nil || c == nil {
		return timelines.ErrNotFound
	}
	f := foldOf(c)
	x.Author, x.Deleted = f.Text.Author, f.Deleted
	if x.Deleted {
		return nil
	}
	gates, err := s.access.Levels(ctx, f.Decisive)
	if err != nil {
		return err
	}
	for _, id := range f.Decisive {
		if t, ok := gates.Timeline(id); ok {
			x.Grants = append(x.Grants, Grant{Timeline: t, Level: gates.Level(id), Opens: gates.Opens(sets, id), LeftOut: sets.Excluded.Has(id)})
		}
	}
	x.Banned = gates.Hidden(sets, f.Decisive).Has(x.Author)
	own := Name{UserID: sets.AccountID, Kind: Post, TheirID: x.PostID, Order: Fresh}
	it, sees := decider{own, sets, gates, nil, nil}.decide(rawEntry{PostID: x.PostID}, f)
	if x.Sees = sees; sees {
		x.Hide = hideOf(own, sets, &it)
	}
	standing, err := s.standings(ctx, x.PostID, sets.AccountID)
	if err != nil {
		return err
	}
	for _, n := range usualPages(sets, gates, f) {
		if !slices.ContainsFunc(standing, func(st Standing) bool { return st.Name == n }) {
			standing = append(standing, Standing{Name: n})
		}
	}
	for i := range standing {
		if err := s.explainOne(ctx, sn, &standing[i], sets, st, f); err != nil {
			return err
		}
	}
	x.Standings = standing
	return nil
}

// standings returns the viewer's live rivers, each with its entry of the post. Pages of
// other posts never hold it.
func (s *Store) standings(ctx context.Context, post, viewer int64) ([]Standing, error) {
	const query = `
		SELECT r.id, r.user_id, r.kind, r.their_id, r.term, r.ord,
			coalesce(e.version, 0), coalesce(e.deleted, false), coalesce(NOT e.deleted AND e.fresh_at < r.floor, false)
		FROM rivers r JOIN clock c ON c.epoch = r.epoch
		LEFT JOIN entries e ON e.river_id = r.id AND e.post_id = @post
		WHERE r.user_id = @viewer AND r.state = 'live' AND (r.kind <> @page OR r.their_id = @post)
		ORDER BY r.kind, r.their_id, r.term, r.ord`
	args := pgx.StrictNamedArgs{"post": post, "viewer": viewer, "page": Post}
	return collect(ctx, s, "read viewer's rivers", query, args, func(row pgx.CollectableRow) (st Standing, err error) {
		n := &st.Name
		err = row.Scan(&st.River, &n.UserID, &n.Kind, &n.TheirID, &n.Term, &n.Order, &st.Stored, &st.Deleted, &st.Below)
		return st, err
	})
}

// usualPages returns the pages where one would look for a post.
func usualPages(sets *access.Sets, gates access.Levels, f *Fold) []Name {
	pages := []Name{{Kind: Everything}, {Kind: Post, TheirID: f.PostID}}
	if sets.AccountID != 0 {
		pages = append(pages, Name{Kind: Home}, Name{Kind: Discussions}, Name{Kind: Directs}, Name{Kind: Faves})
	}
	for _, id := range f.Decisive {
		switch t, _ := gates.Timeline(id); t.Kind {
		case kinds.Feed:
			pages = append(pages, Name{Kind: User, TheirID: t.TheirID})
		case kinds.Subfeed:
			pages = append(pages, Name{Kind: User, TheirID: t.TheirID}, Name{Kind: Subfeed, TheirID: t.TheirID, Term: t.Term})
		case kinds.Eyes:
			if t.TheirID == sets.AccountID {
				pages = append(pages, Name{Kind: Eyes})
			}
		case kinds.Group:
			pages = append(pages, Name{Kind: Group, TheirID: t.TheirID})
		}
	}
	for i := range pages {
		pages[i].UserID, pages[i].Order = sets.AccountID, Fresh
	}
	return pages
}

// explainOne decides the post in one river as if that were built now.
func (s *Store) explainOne(ctx context.Context, sn *snapshot.Snapshot, at *Standing, sets *access.Sets,
	st *snapshot.PostState, f *Fold,
) error {
	at.Expected = st.Version
	if specs[at.Name.Kind].page == ofMyList {
		if i := slices.IndexFunc(sets.Lists, func(l timelines.List) bool { return l.ID == at.Name.TheirID }); i >= 0 {
			at.Title = sets.Lists[i].Title
		}
	}
	err := s.mayOpen(ctx, at.Name, sets)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		at.Cause = Closed
		return nil
	}
	if err != nil {
		return err
	}
	c := specs[at.Name.Kind].content
	timelineIDs, err := c.timelineIDs(ctx, sn, at.Name)
	if err != nil {
		return err
	}
	state := *st
	entryOf, err := c.entries(ctx, sn, generation{at.River, at.Name, setOf(timelineIDs)}, map[int64]*snapshot.PostState{st.ID: &state})
	if err != nil {
		return err
	}
	e := entryOf(&state)
	ids := slices.Concat(f.Decisive, e.Overlay.Timelines)
	gates, err := s.access.Levels(ctx, ids)
	if err != nil {
		return err
	}
	raw := rawEntry{PostID: e.PostID, Version: e.Version, Place: e.Place, Deleted: e.Deleted, Overlay: e.Overlay}
	one := []undecided{{name: at.Name, sets: sets, entries: []rawEntry{raw}}}
	rest, err := s.askOverflow(ctx, one, map[int64]*Fold{st.ID: f}, gates)
	if err != nil {
		return err
	}
	if specs[at.Name.Kind].notices {
		now, err := s.Notices(ctx, sets.AccountID)
		if err != nil {
			return err
		}
		one[0].label = now.Label
	}
	events, _, err := s.eventsOf(ctx, one)
	if err != nil {
		return err
	}
	it, shown := decider{at.Name, sets, gates, rest, events}.decide(raw, f)
	at.Why = it.Why
	switch {
	case shown:
		at.Cause = Shown
	case !gates.OpensAny(sets, f.Decisive):
		at.Cause = Unreadable
	case e.Deleted:
		at.Cause = Unheld
	case gates.Hidden(sets, f.Decisive).Has(f.Text.Author):
		at.Cause = Banned
	case it.Hidden:
		at.Cause, at.Hide = Hidden, hideOf(at.Name, sets, &it)
	default:
		at.Cause = Reasonless
	}
	return nil
}

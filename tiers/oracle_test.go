package tiers_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// oracle says what every river must show. It is naive on purpose: the primary
// store's tables in memory, and loops over them. It shares no query and no
// function with the code under test; what a filter timeline holds it derives
// from posts, comments and likes, and takes nothing from timeline_entries but
// the instants of entrance.
type oracle struct {
	accounts  map[int64]account
	timelines map[int64]timeline
	readers   map[pair]bool   // timeline, account
	excluded  map[pair]bool   // timeline, account
	follows   map[pair]bool   // subscriber, account
	outOfHome map[pair]bool   // subscriber, account kept out of home
	owners    map[int64]int64 // of lists
	listed    map[pair]bool   // list, account
	posts     map[int64]post
	entries   map[pair]entry     // timeline, post
	comments  map[int64][]remark // by post, those not deleted, oldest first
	remarks   map[int64][]remark // by post, those deleted too
	likes     map[int64][]like   // by post, newest first
	faves     map[pair]bool      // post, account
	approvals map[int64][]int64  // of comments, who likes them, newest first
	sight
}

// names are all rivers a viewer can name, in each order, but for posts'.
func (o *oracle) names(viewer int64) []rivers.Name {
	var all []rivers.Name
	add := func(kind rivers.Kind, their int64, term ...string) {
		for _, order := range kind.Orders() {
			n := rivers.Name{UserID: viewer, Kind: kind, TheirID: their, Term: strings.Join(term, ""), Order: order}
			all = append(all, n)
			if kind.HasModes() {
				all = append(all, n.In(rivers.FriendsOnly))
			}
		}
	}
	add(rivers.Everything, 0)
	for _, s := range searches {
		add(rivers.Search, 0, termOf(s.text))
	}
	named := func(kind rivers.Kind, terms ...string) {
		for _, term := range terms {
			add(kind, 0, term)
		}
	}
	named(rivers.Hashtag, append([]string{"unused"}, tags...)...)
	named(rivers.Everything, "en", "ru")
	named(rivers.Best, langs...)
	named(rivers.MostFaved, langs...)
	if viewer != 0 {
		add(rivers.Home, 0)
		add(rivers.Discussions, 0)
		add(rivers.Directs, 0)
		add(rivers.Faves, 0)
		add(rivers.Eyes, 0)
		add(rivers.Mentions, 0)
		add(rivers.Notifications, 0)
	}
	for _, t := range o.timelines {
		if t.Kind == kinds.Subfeed && !strings.HasPrefix(o.accounts[t.TheirID].Name, ghostPrefix) {
			add(rivers.Subfeed, t.TheirID, t.Term)
		}
	}
	for list := range o.owners {
		add(rivers.List, list) // refused to all but one
	}
	for _, a := range o.accounts {
		switch {
		case strings.HasPrefix(a.Name, ghostPrefix) && a.Name != ghostPrefix+"1":
		case a.Kind == timelines.Group:
			add(rivers.Group, a.ID)
		default:
			add(rivers.User, a.ID)
			add(rivers.Likes, a.ID)
			add(rivers.Comments, a.ID)
		}
	}
	return all
}

// opens: may this account (0 anonymous) open the timeline?
func (o *oracle) opens(viewer, id int64) bool {
	t := o.timelines[id]
	if t.GateID == nil {
		return true
	}
	gate := o.timelines[*t.GateID]
	switch timelines.Level(gate.Access) {
	case timelines.Public:
		return true
	case timelines.Protected:
		return viewer != 0 && !o.excluded[pair{gate.ID, viewer}]
	default:
		return o.readers[pair{gate.ID, viewer}]
	}
}

func (o *oracle) reads(viewer int64, p post) bool {
	return p.DeletedAt == nil && slices.ContainsFunc(p.Decisive, func(t int64) bool { return o.opens(viewer, t) })
}

func (o *oracle) likedBy(account, post int64) bool {
	return slices.ContainsFunc(o.likes[post], func(l like) bool { return l.AccountID == account })
}

func (o *oracle) faved(post int64) (n int) {
	for f := range o.faves {
		if f.a == post {
			n++
		}
	}
	return n
}

func (o *oracle) commentedBy(account, post int64) bool {
	return slices.ContainsFunc(o.comments[post], func(c remark) bool { return c.AuthorID == account })
}

// takingPart is how many people besides its author like the post or commented on it.
func (o *oracle) takingPart(p post) int {
	people := map[int64]bool{}
	for _, l := range o.likes[p.ID] {
		people[l.AccountID] = true
	}
	for _, c := range o.comments[p.ID] {
		people[c.AuthorID] = true
	}
	delete(people, p.AuthorID)
	return len(people)
}

// says: does the post or one of its comments have this word, in whatever case?
// Workloads write a space before each tag, and nothing or a comma after it.
func (o *oracle) says(p post, word string) bool {
	return o.saysTo(p, word, func(int64) bool { return true })
}

// saysTo is says of the texts by authors whom somebody sees.
func (o *oracle) saysTo(p post, word string, sees func(author int64) bool) bool {
	has := func(body string, author int64) bool { return hasWord(body, word) && sees(author) }
	return has(p.Body, p.AuthorID) || slices.ContainsFunc(o.comments[p.ID], func(c remark) bool { return has(c.Body, c.AuthorID) })
}

func hasWord(body, word string) bool {
	words := strings.FieldsFunc(strings.ToLower(body), func(r rune) bool { return r == ' ' || r == ',' })
	return slices.Contains(words, word)
}

// mentions are the newest five comments that mention the viewer, on the page of mentions.
func (o *oracle) mentions(n rivers.Name, p post) (newest []int64) {
	if n.Kind != rivers.Mentions {
		return nil
	}
	for _, c := range slices.Backward(o.comments[p.ID]) {
		unseen := o.veils(n.UserID, c.AuthorID, p) || o.hidPeople[pair{n.UserID, c.AuthorID}]
		if len(newest) < 5 && !unseen && hasWord(c.Body, "@"+o.accounts[n.UserID].Name) {
			newest = append(newest, c.ID)
		}
	}
	return newest
}

// holds: is the post in the timeline, by what people did?
func (o *oracle) holds(t timeline, p post) bool {
	if p.DeletedAt != nil {
		return false
	}
	switch t.Kind {
	case kinds.Feed, kinds.Subfeed, kinds.Eyes, kinds.Group, kinds.Directs:
		return slices.Contains(p.Decisive, t.ID)
	case kinds.Likes:
		return o.likedBy(t.TheirID, p.ID)
	case kinds.Comments:
		return o.commentedBy(t.TheirID, p.ID)
	case kinds.Discussions:
		return p.AuthorID == t.TheirID || o.likedBy(t.TheirID, p.ID) || o.commentedBy(t.TheirID, p.ID)
	case kinds.Faves:
		return o.faves[pair{p.ID, t.TheirID}]
	case kinds.Post:
		return t.TheirID == p.ID
	case kinds.Everything, kinds.Best, kinds.MostFaved:
		open := slices.ContainsFunc(p.Decisive, func(id int64) bool {
			return o.timelines[id].Kind != kinds.Directs && o.timelines[id].Kind != kinds.Eyes
		})
		return open && (t.Term == "" || t.Term == p.Lang) &&
			(t.Kind != kinds.Best || o.takingPart(p) >= options.BestOf) &&
			(t.Kind != kinds.MostFaved || o.faved(p.ID) >= options.MostFaved)
	case kinds.Mentions:
		return o.says(p, "@"+o.accounts[t.TheirID].Name)
	case kinds.Notifications:
		return len(o.told(t.TheirID, p)) > 0
	case kinds.Hashtag:
		return o.says(p, "#"+t.Term)
	}
	panic("no such kind: " + t.Kind)
}

// told are those who did something to the post that the account is told of.
func (o *oracle) told(account int64, p post) (actors []int64) {
	add := func(actor int64) {
		if actor != account && !strings.HasPrefix(o.accounts[actor].Name, ghostPrefix) {
			actors = append(actors, actor)
		}
	}
	named := "@" + o.accounts[account].Name
	for _, id := range p.Decisive {
		if t := o.timelines[id]; t.Kind == kinds.Directs && t.TheirID == account {
			add(p.AuthorID)
		}
	}
	if hasWord(p.Body, named) {
		add(p.AuthorID)
	}
	for _, l := range o.likes[p.ID] {
		if p.AuthorID == account {
			add(l.AccountID)
		}
	}
	for _, c := range o.comments[p.ID] {
		before := slices.ContainsFunc(o.remarks[p.ID], func(r remark) bool {
			return r.AuthorID == account && r.CreatedAt.Before(c.CreatedAt) && (r.DeletedAt == nil || r.DeletedAt.After(c.CreatedAt))
		})
		if p.AuthorID == account || before || hasWord(c.Body, named) {
			add(c.AuthorID)
		}
		for _, liker := range o.approvals[c.ID] {
			if c.AuthorID == account {
				add(liker)
			}
		}
	}
	return actors
}

// tells reports whether the viewer may know of anybody whose act on the post told
// the viewer something.
func (o *oracle) tells(viewer int64, p post) bool {
	return slices.ContainsFunc(o.told(viewer, p), func(actor int64) bool {
		return !o.veils(viewer, actor, p) && !o.hidPeople[pair{viewer, actor}]
	})
}

// sources are the river's timelines as far as its viewer may open them.
func (o *oracle) sources(n rivers.Name) []timeline {
	wanted := func(t timeline) bool {
		if n.Kind.HasModes() && n.Term == "friends" &&
			(t.Kind == kinds.Likes || t.Kind == kinds.Comments || t.Kind == kinds.Discussions) {
			return false
		}
		switch n.Kind {
		case rivers.Home:
			own, friend := t.TheirID == n.UserID, pair{n.UserID, t.TheirID}
			switch t.Kind {
			case kinds.Feed, kinds.Subfeed, kinds.Likes, kinds.Comments, kinds.Group:
				return own || o.follows[friend] && !o.outOfHome[friend]
			case kinds.Eyes, kinds.Directs, kinds.Discussions:
				return own
			}
			return false
		case rivers.List:
			switch t.Kind {
			case kinds.Feed, kinds.Subfeed, kinds.Likes, kinds.Comments, kinds.Group:
				return o.listed[pair{n.TheirID, t.TheirID}] && o.follows[pair{n.UserID, t.TheirID}]
			}
			return false
		case rivers.User:
			return (t.Kind == kinds.Feed || t.Kind == kinds.Subfeed) && t.TheirID == n.TheirID
		case rivers.Subfeed:
			return t.Kind == kinds.Subfeed && t.TheirID == n.TheirID && t.Term == n.Term
		case rivers.Discussions, rivers.Directs, rivers.Faves, rivers.Eyes, rivers.Mentions, rivers.Notifications:
			return t.Kind == string(n.Kind) && t.TheirID == n.UserID
		default: // the timeline of that name
			return t.Kind == string(n.Kind) && t.TheirID == n.TheirID && t.Term == n.Term
		}
	}
	var found []timeline
	for _, t := range o.timelines {
		if wanted(t) && o.opens(n.UserID, t.ID) {
			found = append(found, t)
		}
	}
	return found
}

// refused is the error of a page that must not be opened, nil if it may.
func (o *oracle) refused(n rivers.Name) error {
	switch n.Kind {
	case rivers.User, rivers.Likes, rivers.Comments, rivers.Group:
		for _, t := range o.timelines {
			own := t.Kind == kinds.Feed || t.Kind == kinds.Group
			if own && t.TheirID == n.TheirID && !o.opens(n.UserID, t.ID) {
				return rivers.ErrForbidden
			}
		}
		if o.apart(n.UserID, n.TheirID) {
			return rivers.ErrForbidden
		}
	case rivers.Subfeed:
		for _, t := range o.timelines {
			if t.Kind != kinds.Subfeed || t.TheirID != n.TheirID || t.Term != n.Term ||
				o.opens(n.UserID, t.ID) && !o.apart(n.UserID, n.TheirID) {
				continue
			}
			if t.Access == int16(timelines.Private) {
				return rivers.ErrNotFound
			}
			return rivers.ErrForbidden
		}
	case rivers.List:
		if o.owners[n.TheirID] != n.UserID {
			return rivers.ErrNotFound
		}
	case rivers.Post:
		if p, ok := o.posts[n.TheirID]; !ok || !o.reads(n.UserID, p) || o.veils(n.UserID, p.AuthorID, p) {
			return rivers.ErrNotFound
		}
	}
	return nil
}

// shown is an entry as a page shows it, in plain values.
type shown struct {
	Post       int64
	Place      int64
	Version    int64
	Code       string
	Author     int64
	Body       string
	Cut        bool
	Full       bool
	Created    int64
	Edited     int64
	Decisive   []int64
	Why, To    []int64
	Liked      bool
	Faved      bool
	Hidden     bool
	Faves      int
	Likes      int
	Likers     []int64
	Comments   int
	Commenters []int64
	Remarks    []shownRemark
	Offer      string
}

// offered is what a listing says, in a word.
func offered(state string, price *int64) string {
	if price == nil {
		return state
	}
	return fmt.Sprint(state, " ", *price)
}

// shownRemark is a comment; of a hidden one there is nothing but that it is there.
type shownRemark struct {
	ID, Author      int64
	Body            string
	Created, Edited int64
	Likes           int
	Likers          []int64
}

// expect is the whole river, newest first.
func (o *oracle) expect(n rivers.Name) []shown {
	sources := o.sources(n)
	var all []shown
	for _, p := range o.posts {
		if !o.reads(n.UserID, p) || o.veils(n.UserID, p.AuthorID, p) || o.conceals(n, p) {
			continue
		}
		var held, holding []entry
		for _, t := range sources {
			if e, ok := o.entries[pair{t.ID, p.ID}]; ok {
				held = append(held, e)
				if o.holds(t, p) {
					holding = append(holding, e)
				}
			}
		}
		places, found := []int64(nil), false
		if n.Kind == rivers.Search {
			if places, found = o.found(n, p); !found {
				continue
			}
		}
		if len(holding) == 0 && !found {
			continue
		}
		byEntrance := func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.EnteredAt, b.EnteredAt), cmp.Compare(a.TimelineID, b.TimelineID))
		}
		slices.SortFunc(holding, byEntrance)
		s := o.show(n, p)
		for _, e := range holding {
			if t := o.timelines[e.TimelineID]; !o.unwanted(n, p, t) {
				s.Why = append(s.Why, e.TimelineID)
			}
		}
		if len(s.Why) == 0 && !found {
			continue // all that brought it here is somebody's doing whom the viewer does not see
		}
		s.Why = append(s.Why, places...)
		s.Place = p.FreshAt
		if !found {
			s.Place = max(p.FreshAt, slices.MinFunc(held, byEntrance).EnteredAt)
		}
		if n.Kind == rivers.Notifications {
			s.Place = held[0].EnteredAt
			if !o.tells(n.UserID, p) {
				continue
			}
		}
		if n.Order == rivers.Created {
			s.Place = p.CreatedAt.UnixMicro()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b shown) int { return cmp.Or(cmp.Compare(b.Place, a.Place), cmp.Compare(b.Post, a.Post)) })
	return all
}

// show is what is the same wherever the post stands.
func (o *oracle) show(n rivers.Name, p post) shown {
	s := shown{
		Offer: offered(p.State, p.Price),
		Post:  p.ID, Version: p.Version, Code: p.Code, Author: p.AuthorID, Body: p.Body, Full: n.Kind == rivers.Post,
		Cut: n.Kind != rivers.Post && len([]rune(p.Body)) > 1600, Created: p.CreatedAt.UnixMicro(), Edited: microsOf(p.EditedAt),
		Decisive: p.Decisive, Liked: o.likedBy(n.UserID, p.ID),
		Faved: o.faves[pair{p.ID, n.UserID}], Faves: o.faved(p.ID),
		Comments: len(o.comments[p.ID]), Hidden: o.hides(n, p),
	}
	party := false
	for _, id := range p.Decisive {
		party = party || o.timelines[id].Kind == kinds.Directs && o.opens(n.UserID, id)
	}
	for _, id := range p.Decisive {
		if o.opens(n.UserID, id) || party && o.timelines[id].Kind == kinds.Directs {
			s.To = append(s.To, id)
		}
	}
	for _, l := range o.likes[p.ID] {
		if !o.veils(n.UserID, l.AccountID, p) {
			s.Likers = append(s.Likers, l.AccountID)
		}
	}
	s.Likes = len(s.Likers)
	remarks := o.comments[p.ID]
	mentions := o.mentions(n, p)
	for i, c := range remarks {
		veiled := o.veils(n.UserID, c.AuthorID, p)
		if !veiled && !slices.Contains(s.Commenters, c.AuthorID) {
			s.Commenters = append(s.Commenters, c.AuthorID)
		}
		if !s.Full && len(remarks) > 3 && i != 0 && i < len(remarks)-2 && !slices.Contains(mentions, c.ID) {
			continue
		}
		if veiled {
			s.Remarks = append(s.Remarks, shownRemark{ID: c.ID})
			continue
		}
		r := shownRemark{ID: c.ID, Author: c.AuthorID, Body: c.Body, Created: c.CreatedAt.UnixMicro(), Edited: microsOf(c.EditedAt)}
		for _, liker := range o.approvals[c.ID] {
			if !o.veils(n.UserID, liker, p) {
				r.Likers = append(r.Likers, liker)
			}
		}
		r.Likes = len(r.Likers)
		s.Remarks = append(s.Remarks, r)
	}
	slices.Sort(s.Commenters)
	return s
}

func microsOf(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMicro()
}

// audit says where timeline_entries and the posts' flags are not what people's
// doings make them. No block of a bump may be outstanding.
func (o *oracle) audit() []string {
	var wrong []string
	for _, p := range o.posts {
		for _, t := range o.timelines {
			e, ok := o.entries[pair{t.ID, p.ID}]
			told := t.Kind == kinds.Notifications
			if told && strings.HasPrefix(o.accounts[t.TheirID].Name, ghostPrefix) {
				continue // an import tells nobody
			}
			if holds := o.holds(t, p); holds != (ok && !e.Withdrawn) {
				wrong = append(wrong, fmt.Sprintf("post %d in %s of %d: row %v withdrawn %v, should hold %v",
					p.ID, t.Kind, t.TheirID, ok, e.Withdrawn, holds))
			}
			want := max(p.FreshAt, e.EnteredAt)
			if told {
				want = e.EnteredAt
			}
			if ok && p.DeletedAt == nil && e.FreshAt != want {
				wrong = append(wrong, fmt.Sprintf("post %d in %s of %d: fresh_at %d, should be %d",
					p.ID, t.Kind, t.TheirID, e.FreshAt, want))
			}
		}
		public := p.DeletedAt == nil && slices.ContainsFunc(p.Decisive, func(id int64) bool { return o.timelines[id].Access == 0 })
		if public != p.Public {
			wrong = append(wrong, fmt.Sprintf("post %d: public %v, should be %v", p.ID, p.Public, public))
		}
	}
	return wrong
}

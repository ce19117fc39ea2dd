package tiers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/kinds"
)

// actor is a person who does one thing after another, each carried on
// whichever node, and looks at once whether their own pages show it (R3).
type actor struct {
	*workload
	id     int64
	name   string
	feed   int64
	rng    *rand.Rand
	viewer timelines.Viewer // with a session
	serial int
	groups []timelines.Account // founded by this actor
}

func (a *actor) fail(format string, args ...any) {
	a.t.Errorf("%s: %s", a.name, fmt.Sprintf(format, args...))
}

func (a *actor) node() *node { return a.nodes[a.rng.IntN(len(a.nodes))] }

// act makes a change through Tier 0. ok is false if it was rightly refused.
func (a *actor) act(what string, n *node, change func(context.Context) (timelines.Change, error)) (c timelines.Change, ok bool) {
	c, err := change(a.ctx)
	c, err = n.tiers.Carry(a.ctx, c, err)
	if err != nil && !expected(err) {
		a.fail("%s: %v", what, err)
	}
	a.done()
	return c, err == nil
}

// step does one random thing.
func (a *actor) step() {
	n := a.node()
	switch k := a.rng.IntN(109); {
	case k >= 106:
		a.list(n)
	case k < 25:
		a.post(n)
	case k < 28:
		a.fave(n)
	case k < 46:
		a.comment(n)
	case k < 56:
		a.like(n)
	case k < 58:
		a.ban(n)
	case k < 60:
		a.hide(n)
	case k < 68:
		a.unlike(n)
	case k < 70:
		a.edit(n)
	case k < 72:
		a.move(n)
	case k < 75:
		a.remove(n)
	case k < 77:
		a.editComment(n)
	case k < 79:
		a.likeComment(n)
	case k < 82:
		a.removeComment(n)
	case k < 84:
		a.takeOut(n)
	case k < 88:
		a.subscribe(n)
	case k < 89:
		a.unsubscribe(n)
	case k < 91:
		a.setReader(n)
	case k < 95:
		a.accept(n)
	case k < 96:
		a.setAccess(n)
	case k < 97:
		a.setSubfeed(n)
	case k < 99:
		a.twins()
	case k < 103:
		a.moderate(n)
	case k < 105:
		a.setWriters(n)
	default:
		a.signOut(n)
	}
}

// destinations are random, now and then several.
func (a *actor) destinations() []string {
	var to []string
	if a.rng.IntN(12) == 0 {
		return []string{timelines.ToEyes}
	}
	for range 1 + a.rng.IntN(5)/3 {
		switch k := a.rng.IntN(12); {
		case k < 5:
			to = append(to, a.name)
		case k < 7:
			to = append(to, a.name+"/"+[]string{kinds.PrivateTerm, "photos"}[a.rng.IntN(2)])
		case k < 10:
			to = append(to, a.workload.groups[a.rng.IntN(len(a.workload.groups))])
		default:
			to = append(to, a.people[a.rng.IntN(len(a.people))].name)
		}
	}
	return to
}

func (a *actor) post(n *node) {
	a.serial++
	body := bodyOf(a.name, a.serial, 0)
	if a.rng.IntN(40) == 0 {
		body = strings.Repeat("long ", 400) + body
	}
	p := timelines.NewPost{Author: a.id, Body: body, To: a.destinations(), Language: langs[a.rng.IntN(len(langs))]}
	if a.rng.IntN(4) == 0 {
		p.Key = fmt.Sprintf("post %d", a.serial)
	}
	create := func(ctx context.Context) (timelines.Change, error) { return n.store.Posts.Create(ctx, p) }
	clock := a.clock()
	c, ok := a.act("post", n, create)
	if !ok {
		return
	}
	a.board.add(&card{id: c.PostID, code: c.Code, author: a.id})
	a.standsInMine(c.PostID, p.Body, p.To, clock)
	if p.Key != "" {
		again, ok := a.act("post again", n, create)
		if ok && (!again.Repeated || again.PostID != c.PostID) {
			a.fail("a repeated key: got %+v, want post %d", again, c.PostID)
		}
	}
}

// twins sends one form twice at once, to two nodes.
func (a *actor) twins() {
	a.serial++
	p := timelines.NewPost{Author: a.id, Body: bodyOf(a.name, a.serial, 0), Key: fmt.Sprintf("twins %d", a.serial)}
	var made [2]timelines.Change
	var ok [2]bool
	var wg sync.WaitGroup
	for i := range made {
		n := a.nodes[i%len(a.nodes)]
		wg.Go(func() {
			made[i], ok[i] = a.act("twin", n, func(ctx context.Context) (timelines.Change, error) {
				return n.store.Posts.Create(ctx, p)
			})
		})
	}
	wg.Wait()
	if !ok[0] || !ok[1] || made[0].PostID != made[1].PostID || made[0].Repeated == made[1].Repeated {
		a.fail("one key sent twice at once: got %+v and %+v", made[0], made[1])
		return
	}
	a.board.add(&card{id: made[0].PostID, code: made[0].Code, author: a.id})
	a.standsInMine(made[0].PostID, p.Body, []string{a.name}, 0)
}

// standsInMine: the new post is at the top of my page, and of my home feed and its
// tags', by creation; only I write into the first, others may have written into the
// others meanwhile. One that stands in groups only may be closed to me meanwhile, and
// comes back in the background when they open again.
func (a *actor) standsInMine(post int64, body string, to []string, clock int64) {
	inGroups := !slices.ContainsFunc(to, func(name string) bool { return !slices.Contains(a.workload.groups, name) })
	check := func(kind rivers.Kind, of string, atTop bool) {
		page := a.own(kind, of, rivers.Created)
		if page == nil {
			return
		}
		at := slices.IndexFunc(page.Items, func(it rivers.Item) bool { return it.PostID == post })
		if at < 0 && inGroups && a.clock() != clock {
			return
		}
		if at < 0 || atTop && at > 0 {
			a.fail("R3: new post %d to %q: entry %d of my %s page, want it at the top", post, to, at, kind)
		}
	}
	check(rivers.Home, "", false)
	check(rivers.Discussions, "", true)
	for _, name := range to {
		switch {
		case name == timelines.ToEyes:
			check(rivers.Eyes, "", true)
		case name == a.name:
			check(rivers.User, a.name, true)
		case strings.HasPrefix(name, a.name+"/"):
			check(rivers.User, a.name, true)
			check(rivers.Subfeed, name, true)
		}
	}
	for _, tag := range tags {
		if strings.Contains(body, "#"+tag) {
			check(rivers.Hashtag, tag, false)
		}
	}
}

// clock is the number of changes of access so far.
func (a *actor) clock() int64 {
	var n int64
	if err := a.db.Primary.QueryRow(a.ctx, `SELECT n FROM access_clock`).Scan(&n); err != nil {
		a.fail("read the access clock: %v", err)
	}
	return n
}

// own visits a page of mine.
func (a *actor) own(kind rivers.Kind, of string, order rivers.Order) *rivers.Page {
	n := a.node()
	name, err := n.rivers.Resolve(a.ctx, a.viewer, kind, of, order)
	if err != nil {
		a.fail("resolve my %s page: %v", kind, err)
		return nil
	}
	page, err := n.rivers.Visit(a.ctx, a.viewer, name, rivers.Cursor{})
	if err != nil {
		a.fail("visit my %s page: %v", kind, err)
	}
	return page
}

// open visits a post's page; nil if it is rightly not to be had.
func (a *actor) open(c *card) *rivers.Item {
	n := a.node()
	name := rivers.Name{UserID: a.id, Kind: rivers.Post, TheirID: c.id, Order: rivers.Fresh}
	page, err := n.rivers.Visit(a.ctx, a.viewer, name, rivers.Cursor{})
	if err != nil {
		if !errors.Is(err, rivers.ErrNotFound) {
			a.fail("open post %d: %v", c.id, err)
		}
		return nil
	}
	return &page.Items[0]
}

// inHome is my home feed's entry of a post, nil if it has none above its floor.
func (a *actor) inHome(c *card) *rivers.Item {
	n := a.node()
	name := rivers.Name{UserID: a.id, Kind: rivers.Home, Order: rivers.Fresh}
	it, _, err := n.rivers.Entry(a.ctx, a.viewer, name, c.id)
	if err != nil && !errors.Is(err, rivers.ErrNotFound) {
		a.fail("entry of post %d: %v", c.id, err)
	}
	return it
}

func (a *actor) comment(n *node) {
	c := a.board.pick(a.rng, anyCard)
	if a.rng.IntN(10) == 0 {
		c = a.famous
	}
	if c == nil {
		return
	}
	a.serial++
	body := fmt.Sprintf("comment %d of %s%s", a.serial, a.name, tagged(a.serial))
	done, ok := a.act("comment", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Comments.Create(ctx, timelines.NewComment{Author: a.id, Code: c.code, Body: body, Key: body})
	})
	if !ok {
		return
	}
	it := a.open(c)
	if it != nil && !slices.ContainsFunc(it.Fold.Comments.Shown, func(s rivers.Comment) bool { return s.ID == done.CommentID }) {
		var deleted bool
		err := a.db.Primary.QueryRow(a.ctx, `SELECT deleted_at IS NOT NULL FROM comments WHERE id = $1`, done.CommentID).Scan(&deleted)
		if err != nil || !deleted {
			a.fail("R3: post %d at %+v does not show my comment %d (%v)", c.id, it.Stamp, done.CommentID, err)
		}
	}
	a.board.mu.Lock()
	defer a.board.mu.Unlock()
	c.comments = append(c.comments, commentCard{id: done.CommentID, author: a.id})
}

func (a *actor) like(n *node) {
	c := a.board.pick(a.rng, anyCard)
	if c == nil {
		return
	}
	a.board.note(func(int64) { delete(a.board.unliked, pair{c.id, a.id}) })
	_, ok := a.act("like", n, func(ctx context.Context) (timelines.Change, error) { return n.store.Posts.Like(ctx, a.id, c.code) })
	if ok {
		a.likes(c, true)
	}
}

func (a *actor) unlike(n *node) {
	c := a.board.pick(a.rng, anyCard)
	if c == nil {
		return
	}
	_, ok := a.act("unlike", n, func(ctx context.Context) (timelines.Change, error) { return n.store.Posts.Unlike(ctx, a.id, c.code) })
	if ok {
		a.board.note(func(when int64) { a.board.unliked[pair{c.id, a.id}] = when })
		a.likes(c, false)
	}
}

// fave saves a post, or takes it from the saved ones.
func (a *actor) fave(n *node) {
	c := a.board.pick(a.rng, anyCard)
	if c == nil {
		return
	}
	want, set := a.rng.IntN(3) > 0, n.store.Posts.Unfave
	if want {
		set = n.store.Posts.Fave
	}
	_, ok := a.act("fave", n, func(ctx context.Context) (timelines.Change, error) { return set(ctx, a.id, c.code) })
	if !ok {
		return
	}
	for where, it := range map[string]*rivers.Item{"its page": a.open(c), "my home": a.inHome(c)} {
		if it != nil && it.Faved != want {
			a.fail("R3: post %d at %+v in %s: kept %v, want %v", c.id, it.Stamp, where, it.Faved, want)
		}
	}
}

// likes: whether I like it is on the post's page and in my home feed.
func (a *actor) likes(c *card, want bool) {
	for where, it := range map[string]*rivers.Item{"its page": a.open(c), "my home": a.inHome(c)} {
		if it != nil && (it.Liked != want || slices.Contains(it.Fold.Likes.IDs, a.id) != want) {
			a.fail("R3: post %d at %+v in %s: liked %v by %v, want %v", c.id, it.Stamp, where, it.Liked, it.Fold.Likes.IDs, want)
		}
	}
}

func (a *actor) mine(c *card) bool { return c.author == a.id }

func (a *actor) edit(n *node) {
	c := a.board.pick(a.rng, a.mine)
	if c == nil {
		return
	}
	c.edits++
	body := bodyOf(a.name, int(c.id), c.edits)
	_, ok := a.act("edit", n, func(ctx context.Context) (timelines.Change, error) {
		if c.edits%2 == 0 {
			return n.store.Posts.Edit(ctx, a.id, c.code, body)
		}
		return n.store.Posts.Revise(ctx, a.id, c.code, timelines.Revision{Body: new(body), Language: new(langs[c.edits/2%len(langs)])})
	})
	if !ok {
		return
	}
	a.board.note(func(when int64) { a.board.edited[c.id] = edit{number: c.edits, when: when} })
	for where, it := range map[string]*rivers.Item{"its page": a.open(c), "my home": a.inHome(c)} {
		if it != nil && it.Fold.Text.Body != body {
			a.fail("R3: post %d in %s shows %q, want %q", c.id, where, it.Fold.Text.Body, body)
		}
	}
}

func (a *actor) remove(n *node) {
	c := a.board.pick(a.rng, a.mine)
	if c == nil || c == a.famous {
		return
	}
	_, ok := a.act("delete", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Posts.Delete(ctx, a.id, c.code)
	})
	if !ok {
		return
	}
	a.board.note(func(when int64) { a.board.gone[c.id] = when })
	for where, it := range map[string]*rivers.Item{"its page": a.open(c), "my home": a.inHome(c)} {
		if it != nil {
			a.fail("R3: deleted post %d is in %s at %+v", c.id, where, it.Stamp)
		}
	}
}

// remark picks a comment of mine, or with all of anybody.
func (a *actor) remark(all bool) (*card, commentCard) {
	var found commentCard
	c := a.board.pick(a.rng, func(c *card) bool {
		for _, m := range c.comments {
			if all || m.author == a.id {
				found = m
				return true
			}
		}
		return false
	})
	return c, found
}

func (a *actor) editComment(n *node) {
	c, m := a.remark(false)
	if c == nil {
		return
	}
	a.serial++
	a.act("edit comment", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Comments.Edit(ctx, a.id, c.code, m.id, fmt.Sprintf("comment edited%s, %d", tagged(a.serial), a.serial))
	})
}

// likeComment likes somebody's comment or takes that back.
func (a *actor) likeComment(n *node) {
	c, m := a.remark(true)
	if c == nil {
		return
	}
	want, set := a.rng.IntN(3) > 0, n.store.Comments.Unlike
	if want {
		set = n.store.Comments.Like
	}
	_, ok := a.act("like comment", n, func(ctx context.Context) (timelines.Change, error) { return set(ctx, a.id, c.code, m.id) })
	if !ok {
		return
	}
	if it := a.open(c); it != nil {
		for _, s := range it.Fold.Comments.Shown {
			if s.ID == m.id && slices.Contains(s.Likes.IDs, a.id) != want {
				a.fail("R3: comment %d of post %d at %+v is liked by %v, by me: want %v", m.id, c.id, it.Stamp, s.Likes.IDs, want)
			}
		}
	}
}

func (a *actor) removeComment(n *node) {
	c, m := a.remark(a.rng.IntN(2) == 0)
	if c == nil {
		return
	}
	_, ok := a.act("delete comment", n, func(ctx context.Context) (timelines.Change, error) {
		return n.store.Comments.Delete(ctx, a.id, c.code, m.id)
	})
	if ok {
		a.board.note(func(when int64) { a.board.silenced[m.id] = when })
	}
}

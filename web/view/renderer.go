package view

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"time"

	"github.com/a-h/templ"

	"riverrun/rivers"
	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/reads"
	"riverrun/web/view/pieces"
)

// A Context is what an entry's HTML depends on besides the entry and the sets.
type Context struct {
	Viewer timelines.Viewer
	Lang   string
	Page   string // path and query, where forms lead back to
}

// A Renderer renders entries, and makes the Base of pages, for requests and sockets alike. It
// is safe for concurrent use.
type Renderer struct {
	access    *access.Cache
	epoch     func() int64 // of the secondary store
	parts     *bytecache.Cache[sharedKey, sharedParts]
	own       *bytecache.Cache[ownKey, ownParts]
	articles  *bytecache.Cache[articlesKey, *KeptArticles]
	fragments *bytecache.Cache[fragmentKey, bytecache.Value]
	reads     *reads.Cache
	asset     func(name string) string
	now       func() time.Time
}

// Config is what a Renderer is made of.
type Config struct {
	// Access knows names, and the epoch of the secondary store.
	Access *access.Cache
	// Asset returns the address of one of the site's own files, "" if there is none of
	// that name.
	Asset func(name string) string
	// Reads knows how far viewers have read; nil: nothing is new to anybody.
	Reads *reads.Cache
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// NewRenderer returns a renderer.
func NewRenderer(c Config) *Renderer {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Renderer{
		access: c.Access, epoch: c.Access.Epoch, parts: bytecache.New[sharedKey, sharedParts](partsBytes), own: bytecache.New[ownKey, ownParts](partsBytes), articles: bytecache.New[articlesKey, *KeptArticles](partsBytes), fragments: bytecache.New[fragmentKey, bytecache.Value](fragmentsBytes), reads: c.Reads, asset: c.Asset, now: c.Now,
	}
}

// Entry makes the HTML of one entry: its parts, and the whole around them.
func (r *Renderer) Entry(ctx context.Context, l Context, n rivers.Name, sets *access.Sets, it rivers.Item) (Parts, []byte, error) {
	p, err := r.Base(ctx, l.Viewer, LocaleOf(l.Lang), n, sets, []rivers.Item{it})
	if err != nil {
		return Parts{}, nil, err
	}
	p.PageAddress = l.Page
	made, frame, err := r.entryParts(&Entry{Base: p, Item: &it})
	return made, bytes.Join(frame.around(made), nil), err
}

// ViewerName returns the viewer's name, "" for an anonymous one.
func (r *Renderer) ViewerName(ctx context.Context, v timelines.Viewer) (string, error) {
	if v.Anonymous() {
		return "", nil
	}
	found, err := r.access.Accounts(ctx, []int64{v.AccountID})
	if err != nil {
		return "", err
	}
	return found[v.AccountID].Name, nil
}

// noSets are those of a page that has none.
var noSets = &access.Sets{}

// NewBase returns a Base without names, for an anonymous viewer unless the
// caller says more.
func (r *Renderer) NewBase(loc *Locale) *Base {
	return &Base{
		Locale: loc, Sets: noSets, Names: map[int64]timelines.Account{}, subfeeds: map[int64]timelines.Subfeed{},
		Now: r.now(), asset: r.asset,
	}
}

// Base returns the base of a page of a river, or of one entry of it. It resolves all names of
// all items in one call, which costs no statement while they are cached.
func (r *Renderer) Base(ctx context.Context, v timelines.Viewer, loc *Locale, n rivers.Name, sets *access.Sets, items []rivers.Item) (*Base, error) {
	p := r.NewBase(loc)
	p.Viewer, p.RiverName, p.marks = v, n, r.reads.Of(ctx, v.AccountID)
	if sets != nil {
		p.Sets = sets
	}
	ids := []int64{v.AccountID, n.Account()}
	for i := range items {
		ids = namedIn(ids, p.Sets, &items[i])
		for _, f := range items[i].Subfeeds {
			p.subfeeds[f.TimelineID] = f
		}
	}
	if err := r.NameAccounts(ctx, p, ids); err != nil {
		return nil, err
	}
	if n.Kind != rivers.Subfeed {
		return p, nil
	}
	return p, r.NameSubfeeds(ctx, p, []int64{n.TheirID})
}

// NameSubfeeds resolves the titles of these accounts' sub-feeds, within AtOneMoment as of the
// page's moment.
func (r *Renderer) NameSubfeeds(ctx context.Context, p *Base, owners []int64) error {
	if len(owners) == 0 {
		return nil
	}
	found, err := r.access.Subfeeds(ctx, owners)
	if err != nil {
		return err
	}
	for _, list := range found {
		for _, f := range list {
			p.subfeeds[f.TimelineID] = f
		}
	}
	return nil
}

// NameAccounts resolves more ids for p.
func (r *Renderer) NameAccounts(ctx context.Context, p *Base, ids []int64) error {
	ids = slices.Clone(ids) // they may be shared
	slices.Sort(ids)
	ids = slices.Compact(ids)
	ids = slices.DeleteFunc(ids, func(id int64) bool { _, known := p.Names[id]; return known || id == 0 })
	if len(ids) == 0 {
		return nil
	}
	found, err := r.access.Accounts(ctx, ids)
	if err != nil {
		return err
	}
	for id, a := range found {
		p.Names[id] = a
	}
	return nil
}

// Article renders a whole entry.
func (r *Renderer) Article(p *Base, it rivers.Item) (pieces.Kept, error) {
	return r.article(p, it, false)
}

func (r *Renderer) article(p *Base, it rivers.Item, over bool) (pieces.Kept, error) {
	e := &Entry{Base: p, Item: &it, over: over}
	parts, frame, err := r.entryParts(e)
	if err != nil {
		return pieces.Kept{}, err
	}
	if parts.Comments, err = withFirstUnread(e, parts.Comments); err != nil {
		return pieces.Kept{}, err
	}
	return pieces.Keep(frame.around(parts)...), nil
}

// entryParts renders an entry, whose Base must know the names of the item (see Base).
func (r *Renderer) entryParts(e *Entry) (Parts, frame, error) {
	it := e.Item
	parts := Parts{Tag: r.Tag(it, e.Sets, e.Names, e.marks)}
	if it.Notice != nil {
		return r.noticeParts(e, parts)
	}
	shared, err := r.shared(e)
	if err != nil {
		return Parts{}, frame{}, err
	}
	own, err := r.ownParts(e, parts.Tag)
	if err != nil {
		return Parts{}, frame{}, err
	}
	parts.Body, parts.Comments = shared.body, shared.comments
	parts.Why, parts.Acts, parts.Likes, parts.Sums = own.why, own.acts, own.likes, own.sums
	parts.Sums[PartBody], parts.Sums[PartComments] = shared.bodySum, shared.commentsSum
	return parts, own.frame, nil
}

// ownParts returns the parts of an entry that depend on the viewer, and its frame. A page that is asked
// for again has nearly all of them.
func (r *Renderer) ownParts(e *Entry, tag uint64) (ownParts, error) {
	it, me := e.Item, e.me()
	key := ownKey{
		viewer: e.Viewer.AccountID, me: namedAs{me.Name, me.Title, me.Picture}, sets: e.Sets, lang: e.Locale.Lang,
		page: e.PageAddress, river: e.RiverName, over: e.over, post: it.PostID, epoch: it.Fold.Epoch, place: it.Place,
		stamp: it.Stamp, tag: tag, full: it.Full, liked: it.Liked, faved: it.Faved,
	}
	if found, ok := r.own.Get(key, nil); ok {
		return found, nil
	}
	var made ownParts
	var err error
	if made.why, err = Bytes(e.why()); err != nil {
		return made, err
	}
	if made.acts, err = Bytes(entryActs(e)); err != nil {
		return made, err
	}
	if made.likes, err = Bytes(EntryLikes(e, likesShown(it.Full))); err != nil {
		return made, err
	}
	if made.frame, err = frameOf(e, tag); err != nil {
		return made, err
	}
	for i, html := range [...][]byte{PartWhy: made.why, PartActs: made.acts, PartLikes: made.likes} {
		made.sums[i] = maphash.Bytes(partSeed, html)
	}
	r.own.Put(key, made)
	return made, nil
}

// CacheUses say how the caches are used: of the parts that viewers share, of their own, of the
// articles of whole pages, and of what stands around these.
func (r *Renderer) CacheUses() (shared, own, articles, fragments bytecache.Use) {
	return r.parts.Use(), r.own.Use(), r.articles.Use(), r.fragments.Use()
}

// noticeParts renders an entry of the page of notifications: what happened stands in the place
// of why it is here, and instead of the post there is what it is about. The viewer's answer
// stands below, so that it is seen where it was written.
func (r *Renderer) noticeParts(e *Entry, parts Parts) (_ Parts, around frame, err error) {
	e.Rights = e.Special()
	for _, part := range []struct {
		html *[]byte
		of   templ.Component
	}{
		{&parts.Why, noticeHead(e)}, {&parts.Acts, entryActs(e)}, {&parts.Likes, noticeCounts(e)}, {&parts.Comments, noticeAnswers(e)},
	} {
		if *part.html, err = Bytes(part.of); err != nil {
			return Parts{}, frame{}, err
		}
	}
	for i, html := range [...][]byte{PartWhy: parts.Why, PartBody: nil, PartActs: parts.Acts, PartLikes: parts.Likes, PartComments: parts.Comments} {
		parts.Sums[i] = maphash.Bytes(partSeed, html)
	}
	around, err = frameOf(e, parts.Tag)
	return parts, around, err
}

// shared returns the parts of an entry that do not depend on the viewer.
func (r *Renderer) shared(e *Entry) (sharedParts, error) {
	// The parts serve if everybody in them still has the same name.
	key, named := e.sharedKey(), e.named()
	if found, ok := r.parts.Get(key, func(s sharedParts) bool { return slices.Equal(s.named, named) }); ok {
		return found, nil
	}
	// The cache keeps this for other viewers, so it is rendered without one.
	open := e.withoutViewer()
	body, err := Bytes(entryBody(open))
	if err != nil {
		return sharedParts{}, err
	}
	comments, err := Bytes(entryComments(open))
	if err != nil {
		return sharedParts{}, err
	}
	made := sharedParts{
		body: body, comments: comments, named: named,
		bodySum: maphash.Bytes(partSeed, body), commentsSum: maphash.Bytes(partSeed, comments),
	}
	r.parts.Put(key, made)
	return made, nil
}

// OpenSubfeeds returns, for each of the sets, the sub-feeds of the owner at the same index
// that the viewer of the sets may open; the others must not even be named. Owner 0 is nobody.
// The levels returned include the timelines in also.
func (r *Renderer) OpenSubfeeds(ctx context.Context, sets []*access.Sets, owners []int64, also ...int64) ([][]OpenSubfeed, access.Levels, error) {
	found, err := r.access.Subfeeds(ctx, owners)
	if err != nil {
		return nil, access.Levels{}, err
	}
	ids := slices.Clone(also)
	for _, list := range found {
		for _, f := range list {
			ids = append(ids, f.TimelineID)
		}
	}
	gates, err := r.access.Levels(ctx, ids)
	if err != nil {
		return nil, access.Levels{}, err
	}
	open := make([][]OpenSubfeed, len(owners))
	for i, owner := range owners {
		if sets[i].BlockedBetween(owner) {
			continue
		}
		for _, f := range found[owner] {
			if gates.Opens(sets[i], f.TimelineID) {
				open[i] = append(open[i], OpenSubfeed{f, gates.Level(f.TimelineID)})
			}
		}
	}
	return open, gates, nil
}

// OpenSubfeedsOf is OpenSubfeeds of one account for one viewer.
func (r *Renderer) OpenSubfeedsOf(ctx context.Context, sets *access.Sets, owner int64) ([]OpenSubfeed, error) {
	open, _, err := r.OpenSubfeeds(ctx, []*access.Sets{sets}, []int64{owner})
	if err != nil {
		return nil, err
	}
	return open[0], nil
}

// MAC is the keyed hash of some texts. The key is the secondary store's epoch: all
// nodes know it, nobody else does, and when it changes all pages are brought up
// anyway.
func (r *Renderer) MAC(texts ...string) []byte {
	h := hmac.New(sha256.New, binary.BigEndian.AppendUint64(nil, uint64(r.epoch())))
	for _, text := range texts {
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

// Tags returns the tags of some entries with people's present names. It costs no statement
// while the names are cached, else one.
func (r *Renderer) Tags(ctx context.Context, items []rivers.Item, sets *access.Sets) ([]uint64, error) {
	var ids []int64
	for i := range items {
		ids = namedIn(ids, sets, &items[i])
	}
	names, err := r.access.Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	made, marks := make([]uint64, len(items)), r.reads.Of(ctx, sets.AccountID)
	for i := range items {
		made[i] = r.Tag(&items[i], sets, names, marks)
	}
	return made, nil
}

// Tag is a hash, never 0, of the decisions of the viewer's sets in an entry, of the names of
// the people in it, and of how many comments are new to the viewer. With equal stamps and equal tags an entry looks the same, whatever else
// changed in the sets. So a page that comes back is sent exactly the entries that differ, and
// does not learn from others that somebody bans its viewer. The tag does not tell who is
// hidden; its change alone tells, as the stamp does, that somebody unseen took part.
func (r *Renderer) Tag(it *rivers.Item, sets *access.Sets, names map[int64]timelines.Account, marks reads.Marks) uint64 {
	b := binary.AppendVarint(binary.AppendVarint(make([]byte, 0, 1024), sets.AccountID), it.PostID)
	add := func(n int64) { b = binary.AppendVarint(b, n) }
	// Folded people count too: the viewer may have unfolded them.
	add(int64(len(it.HiddenUsers)))
	for _, id := range it.HiddenUsers {
		add(id)
	}
	for _, list := range [][]timelines.Timeline{it.Why, it.To} {
		add(int64(len(list)))
		for _, t := range list {
			add(t.ID)
		}
	}
	for _, f := range it.Subfeeds {
		b = append(b, f.Title...)
		add(f.TimelineID)
	}
	// The order of the likers depends on the viewer too.
	for _, id := range namedIn(make([]int64, 0, 64), sets, it) {
		add(id)
		a := names[id]
		for _, text := range [...]string{a.Name, a.Title, a.Picture} {
			add(int64(len(text)))
			b = append(b, text...)
		}
	}
	var flags int64
	if it.Hidden {
		flags |= 1
	}
	if keepsOrder(it, sets) {
		flags |= 2
	}
	if len(it.Mentions) > 0 {
		flags |= 4
	}
	if it.Muted {
		flags |= 8
	}
	add(flags)
	if n := newComments(it, sets.AccountID, marks); n.count > 0 {
		add(int64(n.count))
		if n.more {
			add(-1)
		}
	}
	for _, id := range it.Mentions {
		add(id)
	}
	if it.Notice != nil {
		// That it was read shows with the next page, and not while somebody looks at it.
		for i := range it.Notice.Groups {
			g := &it.Notice.Groups[i]
			for _, n := range []int64{int64(g.Kind), int64(g.Events), int64(len(g.Actors)), int64(g.Others), g.CommentID} {
				add(n)
			}
		}
	}
	switch {
	case it.CommentersOverflow():
		b = append(b, sets.Fingerprint()...) // of some of them nobody knows here
	case it.LikersFolded():
		// The likers of these are not all known here either. The tag still leaves out the
		// bans by others: otherwise an author of a thousand comments on one post would
		// notice each of them. So unfolded comments may count likes of somebody who has
		// banned the viewer since.
		for _, id := range slices.Concat(sets.Bans, sets.Unseen) {
			add(id)
		}
	}
	return binary.BigEndian.Uint64(r.MAC(string(b))) | 1
}

// ReadVersion changes when the viewer of the sets has read more comments. It is 0 while the node
// remembers none.
func (r *Renderer) ReadVersion(sets *access.Sets) uint64 { return r.reads.Version(sets.AccountID) }

// Seen notes that the viewer has seen a post's own page with this entry.
func (r *Renderer) Seen(v timelines.Viewer, it *rivers.Item) {
	r.reads.See(reads.Mark{Account: v.AccountID, Post: it.PostID, Seen: SeenUpTo(it)})
}

// SeenHome notes that the viewer looks at the home page.
func (r *Renderer) SeenHome(v timelines.Viewer) {
	r.reads.See(reads.Mark{Account: v.AccountID, Post: reads.Home, Seen: r.now().UnixMicro()})
}

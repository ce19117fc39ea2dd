package web

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
)

const (
	nonceSize = 8
	sealSize  = nonceSize + 16
)

// sight is what a page was decided with that moves no stamp of its entries.
type sight struct {
	// people is timelines.Sets.Sight. What becomes of it each entry says by itself (see
	// Server.veil): a page tells nothing by it.
	people string
	// tabs are what stands around the entries. Of an account's page: those of its
	// sub-feeds that its viewer may open, what its header says and offers, and whether
	// one may write there. Of a page with modes: which its viewer chose, and what its
	// list is.
	tabs string
	// sets are the viewer's, and at is the number the access clock stood at. Where only
	// these are otherwise the page may differ, and is compared with its river at once.
	sets *timelines.Sets
	at   int64
}

// differs reports whether the page is to be visited again.
func (of sight) differs(now sight) bool { return of.people != now.people || of.tabs != now.tabs }

// sightOf returns what a page of that name is decided with now.
func (s *Server) sightOf(ctx context.Context, n rivers.Name, sets *timelines.Sets) (sight, error) {
	sights, err := s.sightsOf(ctx, []rivers.Name{n}, []*timelines.Sets{sets})
	if err != nil {
		return sight{}, err
	}
	return sights[0], nil
}

// sightsOf returns what pages of these names are decided with now, each by its
// viewer's sets. It costs no statement while the caches hold, and however many pages
// there are, three when they were dropped.
func (s *Server) sightsOf(ctx context.Context, names []rivers.Name, sets []*timelines.Sets) ([]sight, error) {
	owners := make([]int64, len(names))
	for i, n := range names {
		owners[i] = tabsOf(n)
	}
	accounts, err := s.rivers.Access().Accounts(ctx, owners)
	if err != nil {
		return nil, err
	}
	feeds := make([]int64, 0, len(accounts))
	for _, a := range accounts {
		feeds = append(feeds, a.FeedID)
	}
	open, gates, err := s.openSubfeeds(ctx, sets, owners, feeds...)
	if err != nil {
		return nil, err
	}
	sights := make([]sight, len(names))
	for i := range names {
		var b strings.Builder
		if who, ok := accounts[owners[i]]; ok {
			who.Access = gates.Level(who.FeedID) // an account remembered may have another since
			b.WriteString(headerOf(who, sets[i]))
		}
		if names[i].Kind.HasModes() && sets[i] != nil {
			b.WriteString(choiceOf(names[i], sets[i]))
		}
		for _, f := range open[i] {
			fmt.Fprintf(&b, "%d %d %q\n", f.TimelineID, f.access, f.Title)
		}
		sights[i] = sight{people: sets[i].Sight(), tabs: b.String(), sets: sets[i]}
	}
	return sights, nil
}

// headerOf is what the header of an account's page is decided with.
func headerOf(who timelines.Account, sets *timelines.Sets) string {
	in := func(set map[int64]struct{}, id int64) bool { _, ok := set[id]; return ok }
	about, writers, reads := "", timelines.Writers(""), sets.Reads(who.FeedID, who.Access)
	if reads {
		about, writers = who.About, who.Writers
	}
	return fmt.Sprintf("%d %q %q %q %t %t %t %t %t %t %t %t\n", who.Access, writers, who.Title, about, reads,
		in(sets.Follows, who.ID), in(sets.Administers, who.ID), in(sets.BlockedBy, who.ID), in(sets.Excluded, who.FeedID),
		in(sets.Hides.Accounts, who.ID), in(sets.ShowBanned, who.ID), len(sets.Bans) > 0)
}

// choiceOf is what stands around a page with modes by its viewer's own choice.
func choiceOf(n rivers.Name, sets *timelines.Sets) string {
	choice := fmt.Sprintf("%t\n", sets.FriendsOnly)
	for _, l := range sets.Lists {
		if n.Kind == rivers.List && l.ID == n.TheirID {
			choice += fmt.Sprintf("%q %d\n", l.Title, len(l.Members))
		}
	}
	return choice
}

// hasTabs reports whether anything stands around a page's entries that a sight names.
func hasTabs(n rivers.Name) bool { return tabsOf(n) != 0 || n.Kind.HasModes() }

// tabsOf is whose name and sub-feeds stand around a page's entries, 0 for nobody's. What one
// saved stands on one's own page.
func tabsOf(n rivers.Name) int64 {
	if n.Kind == rivers.Faves {
		return n.UserID
	}
	return n.Account()
}

// seal returns the word by which a page remembers what stood around its entries. It is
// another one each time, and who guesses at a sight cannot try.
func (s *Server) seal(of sight) string {
	word := make([]byte, nonceSize, sealSize)
	_, _ = rand.Read(word) // never fails: crypto/rand crashes the program instead
	return hex.EncodeToString(s.sealed(word, of))
}

// isSealed reports whether the word was made, on any node, with the same around.
func (s *Server) isSealed(word string, of sight) bool {
	given, err := hex.DecodeString(word)
	if err != nil || len(given) != sealSize {
		return false
	}
	return hmac.Equal(given, s.sealed(given[:nonceSize:nonceSize], of))
}

func (s *Server) sealed(nonce []byte, of sight) []byte {
	return append(nonce, s.mac(string(nonce), of.tabs)[:sealSize-nonceSize]...)
}

// mac is the keyed hash of some texts. The key is the secondary store's epoch: all
// nodes know it, nobody else does, and when it changes all pages are brought up
// anyway.
func (s *Server) mac(texts ...string) []byte {
	h := hmac.New(sha256.New, binary.BigEndian.AppendUint64(nil, uint64(s.epoch())))
	for _, text := range texts {
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

// common is the number of the last change of access that concerns everybody's pages.
func (s *Server) common() int64 { return s.rivers.Access().Common() }

// veils are the veils of some entries with how people are called now. It costs no
// statement while the names are cached, else one.
func (s *Server) veils(ctx context.Context, items []rivers.Item, sets *timelines.Sets) ([]uint64, error) {
	var ids []int64
	for i := range items {
		ids = namedIn(ids, sets, &items[i])
	}
	names, err := s.rivers.Access().Accounts(ctx, ids)
	if err != nil {
		return nil, err
	}
	made := make([]uint64, len(items))
	for i := range items {
		made[i] = s.veil(&items[i], sets, names)
	}
	return made, nil
}

// veil names, never by 0, what the viewer's sets decided in an entry, and how the people
// in it are called. Shown at equal stamps by equal veils an entry is the same, whatever
// else became of the sets; so who comes back with it is sent what differs and is not told,
// by being sent what does not, that somebody bans them. Nobody can tell from it who is
// hidden; that it changes, and nothing else, tells that somebody unseen took part, as the
// stamp does.
func (s *Server) veil(it *rivers.Item, sets *timelines.Sets, names map[int64]timelines.Account) uint64 {
	b := binary.AppendVarint(binary.AppendVarint(nil, sets.AccountID), it.PostID)
	add := func(n int64) { b = binary.AppendVarint(b, n) }
	// People who are folded away count: the reader may have unfolded them.
	add(int64(len(it.Veiled)))
	for _, id := range it.Veiled {
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
	// Those who like it stand in an order that is the viewer's own too.
	for _, id := range namedIn(nil, sets, it) {
		add(id)
		title := names[id].Title
		add(int64(len(title)))
		b = append(b, title...)
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
	add(flags)
	for _, id := range it.Mentions {
		add(id)
	}
	switch {
	case it.CrowdFolded():
		b = append(b, sets.Sight()...) // of some of them nobody knows here
	case it.LikersFolded():
		// Nor of all of these. Of bans by others nothing is told all the same: who writes a
		// thousand comments beneath one post would hear of each. Likes of comments that
		// are unfolded there may be counted which somebody's ban has hidden since.
		for _, id := range slices.Sorted(maps.Keys(sets.Bans)) {
			add(id)
		}
	}
	return binary.BigEndian.Uint64(s.mac(string(b))) | 1
}

package live

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/web/view"
)

const (
	nonceSize = 8
	tokenSize = nonceSize + 16
)

// sight is what a page was decided with that moves no stamp of its entries.
type Fingerprint struct {
	// people is timelines.Sets.Sight. What becomes of it each entry says by itself (see
	// Renderer.Tag): a page tells nothing by it.
	people string
	// tabs are what stands around the entries. Of an account's page: those of its
	// sub-feeds that its viewer may open, what its header says and offers, and whether
	// one may write there. Of a page with modes: which its viewer chose, and what its
	// list is.
	surroundings string
	// sets are the viewer's, and at is the number the access clock stood at. Where only
	// these are otherwise the page may differ, and is compared with its river at once.
	sets  *timelines.Sets
	clock int64
}

// differs reports whether the page is to be visited again.
func (of Fingerprint) differs(now Fingerprint) bool {
	return of.people != now.people || of.surroundings != now.surroundings
}

// SitePages implements HubPages by what the pages of the site themselves are made with. It
// is safe for concurrent use.
type SitePages struct {
	*view.Renderer
	access    *timelines.AccessCache
	timelines *timelines.Store
}

// NewPages returns the pages of a site: made by r, for viewers as access knows them, of
// posts in store.
func NewPages(r *view.Renderer, access *timelines.AccessCache, store *timelines.Store) *SitePages {
	return &SitePages{r, access, store}
}

// PostIDs resolves the codes of posts; those of no post are left out.
func (s *SitePages) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	return s.timelines.PostIDs(ctx, codes)
}

// sightOf returns what a page of that name is decided with now.
func (s *SitePages) Fingerprint(ctx context.Context, n rivers.Name, sets *timelines.Sets) (Fingerprint, error) {
	sights, err := s.Fingerprints(ctx, []rivers.Name{n}, []*timelines.Sets{sets})
	if err != nil {
		return Fingerprint{}, err
	}
	return sights[0], nil
}

// sightsOf returns what pages of these names are decided with now, each by its
// viewer's sets. It costs no statement while the caches hold, and however many pages
// there are, three when they were dropped.
func (s *SitePages) Fingerprints(ctx context.Context, names []rivers.Name, sets []*timelines.Sets) ([]Fingerprint, error) {
	owners := make([]int64, len(names))
	for i, n := range names {
		owners[i] = ownerOf(n)
	}
	accounts, err := s.access.Accounts(ctx, owners)
	if err != nil {
		return nil, err
	}
	feeds := make([]int64, 0, len(accounts))
	for _, a := range accounts {
		feeds = append(feeds, a.FeedID)
	}
	open, gates, err := s.OpenSubfeeds(ctx, sets, owners, feeds...)
	if err != nil {
		return nil, err
	}
	sights := make([]Fingerprint, len(names))
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
			fmt.Fprintf(&b, "%d %d %q\n", f.TimelineID, f.Access, f.Title)
		}
		sights[i] = Fingerprint{people: sets[i].Sight(), surroundings: b.String(), sets: sets[i]}
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
func hasSurroundings(n rivers.Name) bool { return ownerOf(n) != 0 || n.Kind.HasModes() }

// tabsOf is whose name and sub-feeds stand around a page's entries, 0 for nobody's. What one
// saved stands on one's own page.
func ownerOf(n rivers.Name) int64 {
	if n.Kind == rivers.Faves {
		return n.UserID
	}
	return n.Account()
}

// seal returns the word by which a page remembers what stood around its entries. It is
// another one each time, and who guesses at a sight cannot try.
func (s *SitePages) Token(of Fingerprint) string {
	word := make([]byte, nonceSize, tokenSize)
	_, _ = rand.Read(word) // never fails: crypto/rand crashes the program instead
	return hex.EncodeToString(s.mac(word, of))
}

// isSealed reports whether the word was made, on any node, with the same around.
func (s *SitePages) TokenFits(word string, of Fingerprint) bool {
	given, err := hex.DecodeString(word)
	if err != nil || len(given) != tokenSize {
		return false
	}
	return hmac.Equal(given, s.mac(given[:nonceSize:nonceSize], of))
}

func (s *SitePages) mac(nonce []byte, of Fingerprint) []byte {
	return append(nonce, s.MAC(string(nonce), of.surroundings)[:tokenSize-nonceSize]...)
}

// common is the number of the last change of access that concerns everybody's pages.
func (s *SitePages) LastCommonChange() int64 { return s.access.Common() }

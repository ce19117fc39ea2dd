package live

import (
	"context"
	"crypto/hmac"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view"
)

const (
	nonceSize = 8
	tokenSize = nonceSize + 16
)

// A Fingerprint is what a page was decided with that moves no stamp of its entries.
type Fingerprint struct {
	// people is access.Sets.Fingerprint. Each entry's tag says what comes of it (see Tag of
	// view.Renderer), so the page's token says nothing of it.
	people string
	// surroundings are what stands around the entries. For an account's page these are the
	// sub-feeds that the viewer may open, what the header says and offers, and whether the
	// viewer may write there. For a page with modes it is the mode that the viewer chose, and
	// the list.
	surroundings string
	// sets are the viewer's, and clock is what the access clock stood at. If only these are
	// different, the page may differ and is compared with its river at once.
	sets  *access.Sets
	clock int64
	// readMarks changes when the viewer has read more comments. Then too the page is compared. It
	// is 0 while the node remembers none.
	readMarks uint64
}

// differs reports whether the page is to be visited again.
func (of Fingerprint) differs(now Fingerprint) bool {
	return of.people != now.people || of.surroundings != now.surroundings
}

// SitePages implements [Pages] with what the pages of the site are made of. It is safe for
// concurrent use.
type SitePages struct {
	*view.Renderer
	access    *access.Cache
	timelines *timelines.Store
}

// NewPages returns the pages of a site: r renders them, access knows their viewers, and store
// their posts.
func NewPages(r *view.Renderer, access *access.Cache, store *timelines.Store) *SitePages {
	return &SitePages{r, access, store}
}

// PostIDs resolves the codes of posts. A code of no post is left out.
func (s *SitePages) PostIDs(ctx context.Context, codes []string) (map[string]int64, error) {
	return s.timelines.Posts.IDs(ctx, codes)
}

// ViewerName returns the name of the viewer's account, "" for an anonymous viewer. It also has the
// cache hold the viewer's sets, which a visit needs next. Visits under way are
// few, and share little; here all sockets that come together share statements.
func (s *SitePages) ViewerName(ctx context.Context, v timelines.Viewer) (string, error) {
	if _, err := s.access.Sets(ctx, v.AccountID); err != nil {
		return "", err
	}
	return s.Renderer.ViewerName(ctx, v)
}

// Fingerprint returns what a page of that river is decided with now, by its viewer's sets.
func (s *SitePages) Fingerprint(ctx context.Context, n rivers.Name, sets *access.Sets) (Fingerprint, error) {
	fingerprints, err := s.Fingerprints(ctx, []rivers.Name{n}, []*access.Sets{sets})
	if err != nil {
		return Fingerprint{}, err
	}
	return fingerprints[0], nil
}

// Fingerprints returns what the pages of these rivers are decided with now, each by its viewer's
// sets. While the caches hold this costs no statement; when they were dropped it costs three,
// however many pages there are.
func (s *SitePages) Fingerprints(ctx context.Context, names []rivers.Name, sets []*access.Sets) ([]Fingerprint, error) {
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
	fingerprints := make([]Fingerprint, len(names))
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
		fingerprints[i] = Fingerprint{people: sets[i].Fingerprint(), surroundings: b.String(), sets: sets[i], readMarks: s.ReadVersion(sets[i])}
	}
	return fingerprints, nil
}

// headerOf returns what the header of an account's page is decided with.
func headerOf(who timelines.Account, sets *access.Sets) string {
	about, writers, reads := "", timelines.Writers(""), sets.Reads(who.FeedID, who.Access)
	if reads {
		about, writers = who.About, who.Writers
	}
	return fmt.Sprintf("%d %q %q %q %q %t %t %t %t %t %t %t %t\n", who.Access, writers, who.Title, who.Picture, about, reads,
		sets.Follows.Has(who.ID), sets.Administers.Has(who.ID), sets.BlockedBy.Has(who.ID), sets.Excluded.Has(who.FeedID),
		sets.Hides.Accounts.Has(who.ID), sets.ShowBanned.Has(who.ID), len(sets.Bans) > 0)
}

// choiceOf returns what stands around a page with modes by its viewer's own choice.
func choiceOf(n rivers.Name, sets *access.Sets) string {
	choice := fmt.Sprintf("%t\n", sets.FriendsOnly)
	for _, l := range sets.Lists {
		if n.Kind == rivers.List && l.ID == n.TheirID {
			choice += fmt.Sprintf("%q %d\n", l.Title, len(l.Members))
		}
	}
	return choice
}

// hasSurroundings reports whether anything stands around a page's entries that a fingerprint
// names.
func hasSurroundings(n rivers.Name) bool { return ownerOf(n) != 0 || n.Kind.HasModes() }

// ownerOf returns the account whose name and sub-feeds stand around a page's entries, 0 for
// none. A person's saved posts stand on that person's page.
func ownerOf(n rivers.Name) int64 {
	if n.Kind == rivers.Faves {
		return n.UserID
	}
	return n.Account()
}

// Token returns the word by which a page remembers what stood around its entries. A page that did not
// change has the same word again, and each viewer has words of their own. So a client cannot try out
// what it guesses.
func (s *SitePages) Token(of Fingerprint) string {
	var viewer int64
	if of.sets != nil {
		viewer = of.sets.AccountID
	}
	nonce := s.MAC("token", strconv.FormatInt(viewer, 10), "\n", of.surroundings)[:nonceSize:nonceSize]
	return hex.EncodeToString(s.mac(nonce, of))
}

// TokenFits reports whether a token was made, on any node, of the same surroundings.
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

// Epoch returns the epoch of rivers that this node knows of.
func (s *SitePages) Epoch() int64 { return s.access.Epoch() }

// LastCommonChange returns the number of the last change of access that concerns everybody's
// pages.
func (s *SitePages) LastCommonChange() int64 { return s.access.Common() }

// LastCount returns the number of the last change of how many follow an account or ask to.
func (s *SitePages) LastCount() int64 { return s.access.Counts() }

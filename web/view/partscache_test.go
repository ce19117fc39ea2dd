package view

import (
	"bytes"
	"testing"

	"riverrun/rivers"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/timelines/admin"
	"riverrun/timelines/kinds"
)

// A viewer's own parts look as without a cache, whatever changes that they depend on.
func TestOwnPartsFollowWhatTheyDependOn(t *testing.T) {
	r := testRenderer(t)
	base := func() *Base {
		p := testPresent(t, r, anna, "en")
		p.PageAddress = "/"
		return p
	}
	first := base()
	item := testItem()
	changes := map[string]func(p *Base, it *rivers.Item){
		"nothing":          func(*Base, *rivers.Item) {},
		"liked":            func(_ *Base, it *rivers.Item) { it.Liked = !it.Liked },
		"saved":            func(_ *Base, it *rivers.Item) { it.Faved = !it.Faved },
		"hidden":           func(_ *Base, it *rivers.Item) { it.Hidden = true },
		"muted":            func(_ *Base, it *rivers.Item) { it.Muted = true },
		"full":             func(_ *Base, it *rivers.Item) { it.Full = true },
		"a later version":  func(_ *Base, it *rivers.Item) { it.Stamp.Fold++; it.Fold = &rivers.Fold{Text: it.Fold.Text, Faves: 7} },
		"another page":     func(p *Base, _ *rivers.Item) { p.PageAddress = "/bob" },
		"another language": func(p *Base, _ *rivers.Item) { p.Locale = LocaleOf("ru") },
		"a role":           func(p *Base, _ *rivers.Item) { s := *p.Sets; s.Role = admin.Moderator; p.Sets = &s },
		"nobody signed in": func(p *Base, _ *rivers.Item) { p.Viewer, p.Sets = timelines.Viewer{}, noSets },
		"somebody else":    func(p *Base, _ *rivers.Item) { p.Viewer.AccountID, p.Sets = bob, &access.Sets{AccountID: bob} },
		"a new title":      func(p *Base, _ *rivers.Item) { a := p.Names[dee]; a.Title = "Dee"; p.Names[dee] = a },
		"a new name":       func(p *Base, _ *rivers.Item) { a := p.Names[dee]; a.Name = "didi"; p.Names[dee] = a },
		"why it is here": func(_ *Base, it *rivers.Item) {
			it.Why = []timelines.Timeline{{ID: 99, Kind: kinds.Likes, TheirID: dee}}
		},
		"another place":         func(_ *Base, it *rivers.Item) { it.Place++ },
		"one too many in a row": func(*Base, *rivers.Item) {},
		"a picture of mine, on the post's own page": func(p *Base, it *rivers.Item) {
			a := p.Names[anna]
			a.Picture, it.Full = "other", true
			p.Names[anna] = a
		},
		"blocked by the group": func(p *Base, it *rivers.Item) {
			s := *p.Sets
			s.BlockedBy, p.Sets = access.IDs{chess}, &s
			it.To = []timelines.Timeline{{ID: 98, Kind: kinds.Group, TheirID: chess}}
		},
		"a river of a group": func(p *Base, _ *rivers.Item) { p.RiverName = rivers.Name{Kind: rivers.Group, TheirID: chess} },
	}
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			if _, _, err := r.entryParts(&Entry{Base: first, Item: &item}); err != nil {
				t.Fatal(err)
			}
			p, it := base(), item
			p.Sets = first.Sets
			change(p, &it)
			e := &Entry{Base: p, Item: &it, over: what == "one too many in a row"}
			got, around, err := r.entryParts(e)
			if err != nil {
				t.Fatal(err)
			}
			want, wantAround, err := testRenderer(t).entryParts(e)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := bytes.Join(around.around(got), nil), bytes.Join(wantAround.around(want), nil); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if got.Sums != want.Sums {
				t.Errorf("sums %v, want %v", got.Sums, want.Sums)
			}
		})
	}
	hits := r.own.Use().Hits
	if _, _, err := r.entryParts(&Entry{Base: first, Item: &item}); err != nil || r.own.Use().Hits != hits+1 {
		t.Errorf("the same entry was rendered again: %d hits after %d, %v", r.own.Use().Hits, hits, err)
	}
}

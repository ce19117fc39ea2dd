package view

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/a-h/templ"

	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
	"riverrun/web/view/pieces"
)

// Fragments stand around the entries of a page: the chips of the composer, or the places of the
// site. They depend on the viewer's sets and on names, and those change with the clock of access alone. So
// they are rendered once until that moves, and so are the lists of names that they are made of.

// fragmentsBytes bounds the cache of fragments and lists, in bytes.
const fragmentsBytes = 32 << 20

// fragmentKey is everything that a fragment depends on.
type fragmentKey struct {
	sets         *access.Sets
	epoch, clock int64
	lang         string
	name         string // which fragment it is, and what else it depends on
}

// fragmentOf renders a component that is to be kept.
func fragmentOf(c templ.Component) (pieces.Kept, error) {
	html, err := Bytes(c)
	return pieces.Keep(html), err
}

// groupList are the groups of a viewer.
type groupList struct {
	groups  []timelines.Account
	follows int
}

// Size also counts the sets that the key holds, roughly.
func (l groupList) Size() int {
	return 256 + len(l.groups)*int(unsafe.Sizeof(timelines.Account{})) + 8*l.follows
}

// At says that the names of a page of a river are those of that moment of the clock of access, or later.
func (r *Renderer) At(p *Base, clock int64) {
	p.fragments, p.moment = r.fragments, fragmentKey{sets: p.Sets, epoch: r.epoch(), clock: clock, lang: p.Locale.Lang}
}

// keep returns what made returns, and keeps it until something changes that a page of a river depends on besides its
// entries. It is shared, and must not be changed.
func keep[T bytecache.Value](p *Base, name string, made func() (T, error)) (T, error) {
	if p.fragments == nil || !p.signedIn() {
		return made()
	}
	key := p.keyOfFragment(name)
	if kept, ok := p.fragments.Get(key, nil); ok {
		return kept.(T), nil
	}
	found, err := made()
	if err == nil {
		p.fragments.Put(key, found)
	}
	return found, err
}

func (p *Base) keyOfFragment(name string) fragmentKey {
	key := p.moment
	key.name = name
	return key
}

// kept renders a component of a page of a river, once until something changes that it depends on.
func (p *Base) kept(name string, of templ.Component) templ.Component {
	if p.fragments == nil || !p.signedIn() {
		return of
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		html, err := keep(p, name, func() (pieces.Kept, error) { return fragmentOf(of) })
		if err != nil {
			return err
		}
		return html.Render(ctx, w)
	})
}

// Groups returns the groups that the viewer of these sets is a member of, by title. The list is shared, and must not be
// changed.
func (r *Renderer) Groups(ctx context.Context, sets *access.Sets) ([]timelines.Account, error) {
	if len(sets.Follows) == 0 {
		return nil, nil
	}
	label, _ := r.access.Label()
	key := fragmentKey{sets: sets, epoch: label.Epoch, clock: label.N, name: "groups"}
	if kept, ok := r.fragments.Get(key, nil); ok {
		return kept.(groupList).groups, nil
	}
	names, err := r.access.Accounts(ctx, sets.Follows)
	if err != nil {
		return nil, err
	}
	groups := followed(sets, names, timelines.Group)
	r.fragments.Put(key, groupList{groups, len(sets.Follows)})
	return groups, nil
}

// NameComposer resolves what a composer on a river's page needs. If the list of the people whom the viewer follows is
// rendered already, they are not named again.
func (r *Renderer) NameComposer(ctx context.Context, p *Base, c Composer) error {
	if err := r.NameSubfeeds(ctx, p, []int64{p.Viewer.AccountID}); err != nil {
		return err
	}
	if err := r.NameAudiences(ctx, p, p.AudienceGroups(c.To)); err != nil {
		return err
	}
	if p.fragments != nil {
		if html, ok := p.fragments.Get(p.keyOfFragment(followedName), nil); ok {
			p.followed = html.(pieces.Kept)
			return nil
		}
	}
	return r.NameAccounts(ctx, p, p.Sets.Follows)
}

// followedName names the list of whom the viewer follows.
const followedName = "followed"

// keptFollowed is the list of whom the viewer follows, for the field of names.
func (p *Base) keptFollowed() templ.Component {
	if p.followed != nil {
		return p.followed
	}
	return p.kept(followedName, followedList(p))
}

// keptPlaces are the places that lead to the pages of the site.
func (p *Base) keptPlaces(here string) templ.Component {
	return p.kept("places "+here+" "+strconv.Itoa(p.Unread), places(p, here))
}

// keptChips are the boxes of a composer on a river's page, under a key that has what is chosen.
func (p *Base) keptChips(c Composer) templ.Component {
	to := make([]int64, len(c.To))
	for i, a := range c.To {
		to[i] = a.ID
	}
	return p.kept(fmt.Sprintf("chips %d %v %q", len(p.audiences), to, c.Own), placeChips(p, c))
}

// keptSuggestions are accounts to follow, beside the entries. If they cannot be found, the page does without them, and
// nothing is kept.
func (v *River) keptSuggestions(from Suggestions) templ.Component {
	if len(v.Articles) == 0 {
		return templ.NopComponent // an empty page suggests more itself
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		missing := false
		html, err := keep(v.Base, "suggestions "+from.Version+" "+v.PageAddress, func() (pieces.Kept, error) {
			list, err := from.Make(suggestedBesides)
			if err != nil {
				missing = true
				return pieces.Kept{}, err
			}
			return fragmentOf(suggestedBeside(v.Base, list))
		})
		if missing {
			return nil
		}
		if err != nil {
			return err
		}
		return html.Render(ctx, w)
	})
}

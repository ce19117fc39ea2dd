package view

import (
	"context"
	"io"
	"strconv"
	"unsafe"

	"github.com/a-h/templ"

	"riverrun/rivers/bytecache"
	"riverrun/timelines"
	"riverrun/timelines/access"
)

// Fragments stand around the entries of a page: the destinations of the composer, or the places of the
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

// fragment is rendered bytes. It is immutable.
type fragment []byte

func (f fragment) Size() int { return len(f) + 256 }

// accountList are accounts, whose strings the cache of access has too.
type accountList []timelines.Account

func (l accountList) Size() int { return 256 + len(l)*int(unsafe.Sizeof(timelines.Account{})) }

// At says that the names of a page of a river are those of that moment of the clock of access, or later.
func (r *Renderer) At(p *Base, clock int64) {
	p.fragments, p.moment = r.fragments, fragmentKey{sets: p.Sets, epoch: r.epoch(), clock: clock, lang: p.Locale.Lang}
}

// keep makes something of a page of a river once until something changes that it depends on. The result is shared.
func keep[T bytecache.Value](p *Base, name string, make func() (T, error)) (T, error) {
	if p.fragments == nil || !p.signedIn() {
		return make()
	}
	key := p.keyOfFragment(name)
	if kept, ok := p.fragments.Get(key, nil); ok {
		return kept.(T), nil
	}
	made, err := make()
	if err == nil {
		p.fragments.Put(key, made)
	}
	return made, err
}

func (p *Base) keyOfFragment(name string) fragmentKey {
	key := p.moment
	key.name = name
	return key
}

// kept renders a component of a page of a river once until something changes that it depends on.
func (p *Base) kept(name string, of templ.Component) templ.Component {
	if p.fragments == nil || !p.signedIn() {
		return of
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		html, err := keep(p, name, func() (fragment, error) { return Bytes(of) })
		if err == nil {
			_, err = w.Write(html)
		}
		return err
	})
}

// Groups returns the groups that the viewer of these sets is a member of, by title. The list is shared.
func (r *Renderer) Groups(ctx context.Context, sets *access.Sets) ([]timelines.Account, error) {
	if len(sets.Follows) == 0 {
		return nil, nil
	}
	label, _ := r.access.Label()
	key := fragmentKey{sets: sets, epoch: label.Epoch, clock: label.N, name: "groups"}
	if kept, ok := r.fragments.Get(key, nil); ok {
		return kept.(accountList), nil
	}
	names, err := r.access.Accounts(ctx, sets.Follows)
	if err != nil {
		return nil, err
	}
	made := accountList(followed(sets, names, timelines.Group))
	r.fragments.Put(key, made)
	return made, nil
}

// NameComposer resolves what a composer says that is on the page of a river and where nothing is filled in. If its
// destinations are rendered already, the people whom the viewer follows are not named again.
func (r *Renderer) NameComposer(ctx context.Context, p *Base) error {
	if err := r.NameSubfeeds(ctx, p, []int64{p.Viewer.AccountID}); err != nil {
		return err
	}
	if err := r.NameAudiences(ctx, p, nil); err != nil {
		return err
	}
	if p.fragments != nil {
		if html, ok := p.fragments.Get(p.keyOfFragment(destinationsName(p)), nil); ok {
			p.destinations = html.(fragment)
			return nil
		}
	}
	return r.NameAccounts(ctx, p, p.Sets.Follows)
}

// keptPlaces are the places that lead to the pages of the site.
func (p *Base) keptPlaces(here string) templ.Component {
	return p.kept("places "+here+" "+strconv.Itoa(p.Unread), places(p, here))
}

// keptDestinations are those of a composer. One that was filled in is rendered for itself.
func (p *Base) keptDestinations(c Composer) templ.Component {
	if len(c.To)+len(c.Own) > 0 || c.People != "" || c.Open || c.Direct || c.Listing != nil {
		return destinationsOf(p, c)
	}
	if p.destinations != nil {
		return templ.Raw(string(p.destinations))
	}
	return p.kept(destinationsName(p), destinationsOf(p, c))
}

func destinationsName(p *Base) string { return "destinations " + strconv.Itoa(len(p.audiences)) }

// keptSuggestions are accounts to follow, beside the entries.
func (v *River) keptSuggestions(list Suggestions) templ.Component {
	if len(v.Articles) == 0 {
		return templ.NopComponent // an empty page suggests more itself
	}
	return v.kept("suggestions "+list.Version+" "+v.PageAddress, suggestedBeside(v.Base, list))
}

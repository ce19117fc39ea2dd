package view

import (
	"context"
	"io"
	"strconv"

	"github.com/a-h/templ"

	"riverrun/timelines/access"
)

// Fragments stand around the entries of a page: the destinations of the composer, or the places of the
// site. They depend on the viewer's sets and on names, and those change with the clock of access alone. So
// they are rendered once until that moves.

// fragmentsBytes bounds the cache of fragments, in bytes.
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

// At says that the names of a page of a river are those of that moment of the clock of access, or later.
func (r *Renderer) At(p *Base, clock int64) {
	p.fragments, p.moment = r.fragments, fragmentKey{sets: p.Sets, epoch: r.epoch(), clock: clock, lang: p.Locale.Lang}
}

// kept renders a component of a page of a river once until something changes that it depends on.
func (p *Base) kept(name string, of templ.Component) templ.Component {
	if p.fragments == nil || !p.signedIn() {
		return of
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		key := p.moment
		key.name = name
		html, ok := p.fragments.Get(key, nil)
		if !ok {
			made, err := Bytes(of)
			if err != nil {
				return err
			}
			html = made
			p.fragments.Put(key, html)
		}
		_, err := w.Write(html)
		return err
	})
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
	return p.kept("destinations "+strconv.Itoa(len(p.audiences)), destinationsOf(p, c))
}

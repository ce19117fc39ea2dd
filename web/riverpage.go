package web

import (
	"encoding/json"
	"net/url"
	"time"

	"riverrun/rivers"
)

// riverView is a page of a river as components see it.
type riverView struct {
	*present
	at       riverPage
	page     *rivers.Page
	path     string       // the page's path, with what names its river in the query
	order    rivers.Order // of the river
	mode     string       // what the address says of the mode, "" if there are none
	sight    string       // what it was decided with, sealed
	before   string       // the cursor the page begins after, "" at the top
	next     string       // the cursor older entries begin after, "" if there are none
	articles [][]byte     // whole entries
}

// top reports whether the page begins with the newest entries: only then does
// it follow what happens.
func (v *riverView) top() bool { return v.before == "" }

// address is the page's own, at its top.
func (v *riverView) address() string { return riverAddress(v.path, v.order, v.mode, "") }

// title is what the page is called, empty what stands in place of entries.
func (v *riverView) title() string { return v.titleOf(v.at) }
func (v *riverView) empty() string { return v.text(v.at.empty) }

func orderOf(q url.Values) rivers.Order {
	if q.Get("order") == string(rivers.Created) {
		return rivers.Created
	}
	return rivers.Fresh
}

// visit reads the page of a river that r asks for and renders its entries.
func (s *Server) visit(r *request) (*riverView, error) {
	at, n, err := s.riverAt(r.Context(), r.viewer, r.URL.Path, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return s.visitAt(r, at, n)
}

// visitAt is visit of a river that is known. Every page of a river comes through
// here.
func (s *Server) visitAt(r *request, at riverPage, n rivers.Name) (*riverView, error) {
	n = inMode(n, r.sets, r.URL.Query())
	v, err := s.visitIn(r, at, n)
	if err == nil {
		// The visit brought the sets to the clock: what was chosen just now counts.
		if chosen := inMode(n, v.sets, r.URL.Query()); chosen != n {
			return s.visitIn(r, at, chosen)
		}
	}
	return v, err
}

func (s *Server) visitIn(r *request, at riverPage, n rivers.Name) (_ *riverView, err error) {
	ctx, query := r.Context(), r.URL.Query()
	began := time.Now()
	v := &riverView{at: at, path: at.address(r.URL.Path, query), order: n.Order}
	var before rivers.Cursor
	if v.before = query.Get("before"); v.before != "" {
		if before, err = s.rivers.Cursor(ctx, r.viewer, v.before); err != nil {
			return nil, err
		}
	}
	err = s.rivers.AtOneMoment(ctx, func() (rivers.Moment, error) {
		if v.page, err = s.rivers.Visit(ctx, r.viewer, n, before); err != nil {
			return rivers.Moment{}, err
		}
		v.present, err = s.view.present(ctx, r.viewer, r.loc, n, v.page.Sets, v.page.Items)
		return v.page.At, err
	})
	if err != nil {
		return nil, err
	}
	if v.present.feed, err = s.feedOf(ctx, at, n, v.page, v.path); err != nil {
		return nil, err
	}
	v.mode = sayMode(n)
	now, err := s.seals.sightOf(ctx, n, v.page.Sets)
	if err != nil {
		return nil, err
	}
	v.sight = s.seals.seal(now)
	v.present.page = riverAddress(v.path, v.order, v.mode, v.before)
	v.articles = make([][]byte, 0, len(v.page.Items))
	for _, it := range v.page.Items {
		article, err := s.view.article(v.present, it)
		if err != nil {
			return nil, err
		}
		v.articles = append(v.articles, article)
	}
	if v.page.More {
		v.next = s.rivers.FormatCursor(v.page.Next, codeAt(v.page))
	}
	s.pageTook.WithLabelValues(string(n.Kind)).Observe(time.Since(began).Seconds())
	return v, nil
}

// codeAt is the code of the entry the next page begins after: the last one
// shown, "" if it begins elsewhere.
func codeAt(p *rivers.Page) string {
	if n := len(p.Items); n > 0 && p.Items[n-1].PostID == p.Next.PostID {
		return p.Items[n-1].Fold.Text.Code
	}
	return ""
}

// nameFollows resolves whom the viewer follows and the viewer's own sub-feeds, for
// the composer's destinations.
func (s *Server) nameFollows(r *request, p *present) error {
	ids := make([]int64, 0, len(p.sets.Follows))
	for id := range p.sets.Follows {
		ids = append(ids, id)
	}
	if r.signedIn() {
		if err := s.view.titleSubfeeds(r.Context(), p, []int64{r.viewer.AccountID}); err != nil {
			return err
		}
	}
	return s.view.name(r.Context(), p, ids)
}

// scriptTexts are the texts river.js writes itself, as JSON.
func (v *riverView) scriptTexts() (string, error) {
	texts := map[string]string{}
	for name, key := range map[string]string{
		"older": "river.older", "end": "river.end", "offline": "script.offline", "unsent": "script.unsent", "ended": "script.ended", "left": "script.left",
		"hidden": "script.hidden", "undo": "script.undo", "draft": "script.draft", "lost": "script.lost",
		"now": "time.now", "minutes": "time.minutes", "hours": "time.hours",
	} {
		texts[name] = v.loc.T(key)
	}
	b, err := json.Marshal(texts)
	return string(b), err
}

// digit is a truth as a data attribute has it.
func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

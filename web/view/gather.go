package view

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"riverrun/rivers"
	"riverrun/timelines/notices"
	"riverrun/timelines/reads"
	"riverrun/web/view/pieces"
)

// A river of everything, and that of notifications, may get many entries in a row by one person:
// posts, or mentions of the viewer in different posts. All keep their places, so that rivers,
// pushes and comparisons know nothing of it, and the page shows the first inARow of them. A line
// says how many more there are, and leads to them. river.js does the same after each change (gather).
// It is per page: a row goes on with the next page.

const inARow = 2

// gathered is how an entry stands in a row.
type gathered struct {
	over bool // it is not shown
	// more is how many are not shown from here on, 0 unless this is the first of them, and by the
	// name of their author.
	more int
	by   string
}

// row is the name of the person by whom entries like this one stand in a row, "" if they do not.
func (e *Entry) row() string {
	if n := e.Item.Notice; n != nil {
		if len(n.Groups) == 1 && n.Groups[0].Kind == notices.Mention && len(n.Groups[0].Actors) == 1 {
			return e.actor().Name
		}
		return ""
	}
	if e.RiverName.Kind == rivers.Everything {
		return e.author().Name
	}
	return ""
}

// gathers reports whether entries of the page may stand in a row.
func (v *River) gathers() bool {
	return v.RiverName.Kind == rivers.Everything || v.RiverName.Kind == rivers.Notifications
}

// gather returns how each of the entries stands.
func gather(p *Base, items []rivers.Item) []gathered {
	all := make([]gathered, len(items))
	by, n := "", 0
	for i := range items {
		row := (&Entry{Base: p, Item: &items[i]}).row()
		if row == "" || row != by {
			n = 0
		}
		by = row
		if n++; n > inARow {
			first := &all[i-(n-1-inARow)]
			all[i].over, first.by = true, row
			first.more++
		}
	}
	return all
}

// rowURL leads to what a row does not show.
func rowURL(p *Base, by string) string {
	if p.RiverName.Kind == rivers.Notifications {
		return "/filter/mentions"
	}
	return "/" + by
}

// articlesKey returns the key of a page's articles at an address. While nobody knows what the viewer has read,
// there is none.
func (r *Renderer) articlesKey(page *rivers.Page, lang, address string) (key articlesKey, ok bool) {
	key = articlesKey{page.Decision, lang, address, r.ReadVersion(page.Sets)}
	return key, key.decision != 0 && (key.marks != 0 || page.Sets.AccountID == 0)
}

// Kept returns the articles of the last page of the same decision, in that language and at that address, or
// nil.
func (r *Renderer) Kept(page *rivers.Page, lang, address string) *KeptArticles {
	key, ok := r.articlesKey(page, lang, address)
	if !ok {
		return nil
	}
	kept, _ := r.articles.Get(key, nil)
	return kept
}

// Articles takes the kept articles of a page, or renders its entries.
func (r *Renderer) Articles(v *River, kept *KeptArticles) error {
	if kept != nil {
		v.Articles, v.rows, v.Base.shown = kept.articles, kept.rows, kept.shown
		return nil
	}
	key, keeps := r.articlesKey(v.Page, v.Locale.Lang, v.Base.PageAddress)
	if err := r.makeArticles(v); err != nil {
		return err
	}
	// Somebody may have read more meanwhile, or it was not known what.
	if keeps && key.marks == r.ReadVersion(v.Page.Sets) && (v.marks != (reads.Marks{}) || v.Sets.AccountID == 0) {
		r.articles.Put(key, &KeptArticles{v.Articles, v.rows, v.Base.shown})
	}
	return nil
}

func (r *Renderer) makeArticles(v *River) error {
	v.rows = gather(v.Base, v.Page.Items)
	v.Articles = make([]pieces.Kept, 0, len(v.Page.Items))
	shown := xxhash.New()
	for i, it := range v.Page.Items {
		_, _ = fmt.Fprintln(shown, it.PostID, it.Stamp) // a hash never fails
		article, err := r.article(v.Base, it, v.rows[i].over)
		if err != nil {
			return err
		}
		v.Articles = append(v.Articles, article)
	}
	v.Base.shown = shown.Sum64() | 1
	return nil
}

// rowAt is how the entry at i stands.
func (v *River) rowAt(i int) gathered {
	if i < len(v.rows) {
		return v.rows[i]
	}
	return gathered{}
}

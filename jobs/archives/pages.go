package archives

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"riverrun/timelines/exports"
)

//go:embed pages.html
var pagesText string

// pages are the templates of the pages, which get a page.
var pages = template.Must(template.New("").Parse(pagesText))

// page is what a template gets: the wish, and what it shows.
type page struct {
	exports.Wish
	Is any
}

// year is a page of posts.
type year struct {
	N     int
	File  string
	Posts int
}

func (w *writer) render(out io.Writer, name string, is any) error {
	return pages.ExecuteTemplate(out, name, page{w.wish, is})
}

// T returns a text in the language of the archive.
func (p page) T(key string) string {
	if p.Language == "ru" {
		return texts[key].ru
	}
	return texts[key].en
}

// Kind names a kind of destinations.
func (p page) Kind(kind string) string { return p.T("kind." + kind) }

// Day is an instant as the pages have it.
func (p page) Day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

type text struct{ en, ru string }

var texts = map[string]text{
	"title":        {"Archive", "Архив"},
	"made":         {"Made (UTC)", "Создан (UTC)"},
	"years":        {"Posts by year", "Записи по годам"},
	"posts":        {"Posts", "Записей"},
	"none":         {"There are no posts.", "Записей нет."},
	"data":         {"Everything, for programs: comments, likes, subscriptions, settings and the rest", "Всё для программ: комментарии, лайки, подписки, настройки и остальное"},
	"back":         {"To the beginning", "В начало"},
	"edited":       {"edited", "изменено"},
	"likes":        {"Likes", "Нравится"},
	"comments":     {"Comments", "Комментарии"},
	"kind.feed":    {"feed", "лента"},
	"kind.subfeed": {"sub-feed", "подлента"},
	"kind.eyes":    {"for your eyes only", "только для себя"},
	"kind.directs": {"direct message", "личное сообщение"},
	"kind.group":   {"group", "группа"},
}

package timelines

import (
	"fmt"
	"testing"

	"riverrun/timelines/kinds"
)

// langOf is a post's language and whether its author chose it.
func (w *town) langOf(post int64) string {
	w.Helper()
	return value[string](w, `SELECT lang || CASE WHEN lang_chosen THEN ' chosen' ELSE '' END FROM posts WHERE id = $1`, post)
}

const (
	english = "The council notes with regret that it slept in."
	russian = "Зимородок прилетал к верхней плотине, два раза за утро, и мы его видели."
)

func TestLanguageOfAPost(t *testing.T) {
	w := newTown(t)
	bob := w.user("bob")
	c := w.post(bob, english)
	w.same("found out", w.langOf(c.PostID), "en")
	w.same("of a text in none", w.langOf(w.post(bob, "日本語").PostID), "")
	edit := func(body string) {
		t.Helper()
		w.must(second(w.Posts.Edit(t.Context(), bob.ID, c.Code, body)))
	}
	chosen := func(body, lang string) Change {
		t.Helper()
		c, err := w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{Body: new(body), Language: new(lang)})
		w.must(err)
		return c
	}
	languageChosen := func() string {
		t.Helper()
		lang, err := w.Posts.Language(t.Context(), bob.ID, c.Code)
		w.must(err)
		return lang
	}
	edit(russian)
	w.same("found out again", w.langOf(c.PostID), "ru")
	edited := value[bool](w, `SELECT edited_at IS NOT NULL FROM posts WHERE id = $1`, c.PostID)
	w.same("edited", edited, true)
	w.exec(`UPDATE posts SET edited_at = NULL`)
	chosen(russian, "en")
	w.same("chosen", w.langOf(c.PostID), "en chosen")
	w.same("a choice alone is no edit of the text", value[bool](w, `SELECT edited_at IS NULL FROM posts WHERE id = $1`, c.PostID), true)
	w.same("what was chosen", languageChosen(), "en")
	edit(russian + " Да.")
	w.same("a choice stays", w.langOf(c.PostID), "en chosen")
	version := w.version(c.PostID)
	chosen(russian+" Да.", "en")
	w.same("the same again draws no version", w.version(c.PostID), version)
	chosen(russian, "")
	w.same("left to the text again", w.langOf(c.PostID), "ru")
	w.same("what was chosen", languageChosen(), "")

	made, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hm", Language: "ru"})
	w.must(err)
	w.same("chosen from the start", w.langOf(made.PostID), "ru chosen")
	for _, lang := range []string{"xx", "EN", "\x00"} {
		_, err := w.Posts.Create(t.Context(), NewPost{Author: bob.ID, Body: "hm", Language: lang})
		w.invalid("a post in "+lang, err, "language_unknown")
		_, err = w.Posts.Revise(t.Context(), bob.ID, c.Code, Revision{Body: new("hm"), Language: new(lang)})
		w.invalid("an edit to "+lang, err, "language_unknown")
	}
	_, err = w.Posts.Language(t.Context(), w.user("ann").ID, c.Code)
	w.fails("another's choice", err, ErrForbidden)
	w.must(second(w.Posts.Delete(t.Context(), bob.ID, c.Code)))
	w.same("of a deleted post", w.langOf(c.PostID), "")

	told := tale("1")
	told.Body = russian
	w.importPosts(1, told)
	w.same("of an imported post", w.langOf(w.imported(originPost, "1")), "ru")
	w.sound()
}

// A short text is in the language its author writes in, else its group does, if its
// letters allow.
func TestGuessedLanguages(t *testing.T) {
	w := newTown(t)
	ann, bob, cat := w.user("ann"), w.user("bob"), w.user("cat")
	const short, kratko = "Lunch!", "Обед!"
	w.same("of somebody nobody knows", w.langOf(w.post(ann, short).PostID), "")
	w.post(ann, english)
	first := w.post(ann, short)
	w.same("as ann writes", w.langOf(first.PostID), "en")
	w.same("of letters she does not write", w.langOf(w.post(ann, kratko).PostID), "")
	w.same("a link", w.langOf(w.post(ann, "https://example.org/").PostID), "en")
	w.same("another script", w.langOf(w.post(ann, "日本語").PostID), "")
	w.same("accents", w.langOf(w.post(ann, "Schönes Wetter").PostID), "")
	w.same("that stands among all of the language", w.stands(first.PostID, kinds.Everything, "en"), true)

	// If a text can be in two languages, it is taken to be in that of most of the author's
	// posts.
	w.post(ann, russian)
	w.same("mostly English still, or as often", w.langOf(w.post(ann, "https://example.org/1").PostID), "en")
	w.post(ann, russian+" Да.")
	w.same("mostly Russian", w.langOf(w.post(ann, "https://example.org/2").PostID), "ru")
	w.post(ann, english)
	w.same("and now and then English", w.langOf(w.post(ann, short).PostID), "en")

	// Short texts take nothing from the language of the others, however many they are.
	w.post(bob, english)
	for range 12 {
		w.post(bob, short)
	}
	w.same("one sure among thirteen", w.langOf(w.post(bob, short).PostID), "en")
	// A language that the author hardly ever writes in is no usual one.
	fay := w.user("fay")
	w.post(fay, english)
	for i := range 12 {
		w.post(fay, fmt.Sprint(russian, " ", i))
	}
	w.same("one English among thirteen", w.langOf(w.post(fay, short).PostID), "")

	// The group's, if the author has none.
	w.group(ann, "club", Public)
	w.post(ann, russian, "club")
	w.same("as the club writes", w.langOf(w.post(cat, kratko, "club").PostID), "ru")
	w.same("elsewhere cat is unknown", w.langOf(w.post(cat, kratko).PostID), "")

	// Posts that only some may read tell nothing to all.
	dan := w.user("dan")
	w.post(dan, english, "dan/private")
	w.post(dan, english, "ann")
	w.same("as dan writes in private", w.langOf(w.post(dan, short).PostID), "")
	w.post(dan, english)
	w.setAccess(dan, "", Protected)
	w.same("as dan writes for all who are signed in", w.langOf(w.post(dan, short).PostID), "en")
	w.setAccess(dan, "", Private)
	w.same("as dan wrote for them", w.langOf(w.post(dan, short).PostID), "")

	// An edit guesses anew, the same text does not.
	eve := w.user("eve")
	c := w.post(eve, short)
	w.post(eve, english)
	version := w.version(c.PostID)
	w.must(second(w.Posts.Edit(t.Context(), eve.ID, c.Code, short)))
	w.same("the same text changes nothing", fmt.Sprint(w.langOf(c.PostID), w.version(c.PostID)), fmt.Sprint("", version))
	w.must(second(w.Posts.Edit(t.Context(), eve.ID, c.Code, "Supper!")))
	w.same("an edited one is guessed", w.langOf(c.PostID), "en")
	w.same("and stands there", w.stands(c.PostID, kinds.Everything, "en"), true)
	w.must(second(w.Posts.Edit(t.Context(), eve.ID, c.Code, "Ужин!")))
	w.same("until it cannot be", w.langOf(c.PostID), "")
	w.same("and leaves", w.stands(c.PostID, kinds.Everything, "en"), false)
	w.sound()
}

// stands reports whether the post stands in the aggregate of the kind and language.
func (w *town) stands(post int64, kind, lang string) bool {
	w.Helper()
	return value[bool](w, `
		SELECT EXISTS (
			SELECT FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
			WHERE e.post_id = $1 AND t.kind = $2 AND t.term = $3 AND NOT e.withdrawn)`, post, kind, lang)
}

// The first posts of an import are guessed by the last ones. An import that was cut short
// is completed by the next.
func TestGuessedLanguagesOfAnImport(t *testing.T) {
	w := newTown(t)
	told := func(id, author, body string, likers ...string) Imported {
		p := tale(id)
		p.Author, p.Body = person(author), body
		for _, liker := range likers {
			p.Likes = append(p.Likes, thumb(liker, 1))
		}
		return p
	}
	posts := []Imported{
		told("1", "ann", "Lunch!", "b", "c", "d", "e", "f", "g"),
		told("2", "ann", "Обед!"),
		told("3", "bob", "Supper!"),
		told("4", "bob", "日本語"),
		told("5", "ann", english),
		told("6", "bob", russian),
	}
	im, err := w.Imports.Start(t.Context(), FriendFeedSource)
	w.must(err)
	_, err = im.Add(t.Context(), posts)
	w.must(err)
	w.must(im.Close(t.Context())) // the guesses are still to come
	w.same("before", w.langOf(w.imported(originPost, "1")), "")
	version := w.version(w.imported(originPost, "1"))
	sure := w.version(w.imported(originPost, "5"))

	w.importPosts(2, posts...)
	got := ""
	for _, p := range posts {
		got += fmt.Sprintf("%s:%s ", p.ExternalID, w.langOf(w.imported(originPost, p.ExternalID)))
	}
	w.same("languages", got, "1:en 2:ru 3:en 4: 5:en 6:ru ")
	first := w.imported(originPost, "1")
	w.same("the version of what was guessed", w.version(first), version+1)
	w.same("the version of what was known", w.version(w.imported(originPost, "5")), sure)
	for _, kind := range []string{kinds.Everything, kinds.Best} {
		w.same(kind, w.stands(first, kind, "en"), true)
		w.same(kind+" stands where it does among all", value[bool](w, `
			SELECT count(DISTINCT (e.entered_at, e.fresh_at, e.created_at)) = 1 AND count(*) = 2
			FROM timeline_entries e JOIN timelines t ON t.id = e.timeline_id
			WHERE e.post_id = $1 AND t.kind = $2`, first, kind), true)
	}
	w.same("of a known post", w.stands(first, kinds.Everything, "ru"), false)
	w.sound()

	// Once more, and nothing changes.
	w.importPosts(3, posts...)
	w.same("the version then", w.version(first), version+1)
}

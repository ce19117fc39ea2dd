package timelines

import "testing"

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
	w.same("of a text in none", w.langOf(w.post(bob, "hm").PostID), "")
	edit := func(body string) {
		t.Helper()
		w.must(second(w.EditPost(t.Context(), bob.ID, c.Code, body)))
	}
	chosen := func(body, lang string) Change {
		t.Helper()
		c, err := w.EditPostIn(t.Context(), bob.ID, c.Code, body, lang)
		w.must(err)
		return c
	}
	languageChosen := func() string {
		t.Helper()
		lang, err := w.PostLanguage(t.Context(), bob.ID, c.Code)
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

	made, err := w.CreatePost(t.Context(), NewPost{Author: bob.ID, Body: "hm", Language: "ru"})
	w.must(err)
	w.same("chosen from the start", w.langOf(made.PostID), "ru chosen")
	for _, lang := range []string{"xx", "EN", "\x00"} {
		_, err := w.CreatePost(t.Context(), NewPost{Author: bob.ID, Body: "hm", Language: lang})
		w.invalid("a post in "+lang, err, "language_unknown")
		_, err = w.EditPostIn(t.Context(), bob.ID, c.Code, "hm", lang)
		w.invalid("an edit to "+lang, err, "language_unknown")
	}
	_, err = w.PostLanguage(t.Context(), w.user("ann").ID, c.Code)
	w.fails("another's choice", err, ErrForbidden)
	w.must(second(w.DeletePost(t.Context(), bob.ID, c.Code)))
	w.same("of a deleted post", w.langOf(c.PostID), "")

	told := tale("1")
	told.Body = russian
	w.importPosts(1, told)
	w.same("of an imported post", w.langOf(w.imported(originPost, "1")), "ru")
	w.sound()
}

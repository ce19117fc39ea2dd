package timelines

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"
)

// Texts have the lexemes that they had before migration 0016, so that those stored before are found
// as those stored after.
func TestLexemesAreAsTheyWere(t *testing.T) {
	w := newTown(t)
	was, err := os.ReadFile("../migrations/primary/0016_lexemes.down.sql")
	w.must(err)
	_, former, ok := strings.Cut(string(was), "FUNCTION search_lexemes")
	if !ok {
		t.Fatal("the migration back has no such function")
	}
	w.exec("CREATE FUNCTION former_lexemes" + former)
	same := func(text string) bool {
		return value[bool](w, `SELECT search_lexemes(7, $1) = former_lexemes(7, $1)`, text)
	}
	for _, text := range []string{
		"", "Covid-19 at 5-7", "cats/dogs cats.Dogs <!-- x --> a_b@c.d", strings.Repeat("x", 1000), strings.Repeat("ﷺ", 5000) + " end",
		strings.Repeat("<!--", 5000), "e\u0301 ﬁ ½ ／ ＜ ＠ ＿ ． ＆", strings.Repeat("e\u0301", 300), strings.Repeat("a-", 3000) + "1", "é й ё ё",
	} {
		if !same(text) {
			t.Errorf("%.80q has other lexemes", text)
		}
	}
	signs := []rune("ab яё1 -<>&/.+~@_／＜．＠\u0301ﬁ½①Ⅷ\n'\"\\:*()|!é日")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.OneOf(rapid.SampledFrom(signs), rapid.Rune().Filter(func(r rune) bool { return r != 0 }))).Draw(rt, "text")
		times := rapid.IntRange(1, 200).Draw(rt, "times")
		if text = strings.Repeat(text, times); !same(strings.ToValidUTF8(text, "")) {
			rt.Errorf("%q has other lexemes", text)
		}
	})
}

// Many posts of a source are found by what their trigger would have written, though another connection
// computes it: also where there is no other connection.
func TestManyItemsAreFound(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	signs := []string{"weather it's 5-7 covid-19", `a "quoted" \ word: 'end'`, "Сегодня хорошая погода, ёлка", "", "/", "日本語 é e\u0301 ﬁ ½", "boats boats boats #tag", "x\ny\tz"}
	var posts []ItemPost
	for i := range 3 * lexedApart {
		text := fmt.Sprintf("Number %d %s", i, strings.Repeat(signs[i%len(signs)]+" ", 1+i/10))
		posts = append(posts, ItemPost{Body: text, CreatedAt: time.Date(2026, 1, 1, 0, 0, (i*7)%60, 0, time.UTC)})
	}
	place := ItemPlace{Author: ann.ID, To: "ann", Beside: w.pool}
	check := func(ids []int64) {
		t.Helper()
		w.same("texts", value[int](w, `
			SELECT count(*)::int FROM posts p JOIN texts x ON x.post_id = p.id AND x.comment_id = 0 AND x.author_id = p.author_id
			WHERE p.id = ANY($1) AND x.lexemes = search_lexemes(p.author_id, p.body) || search_tags(p.id, 0)`, ids), len(ids))
	}
	check(w.makeItems(place, posts...))

	// In the same transaction a single post has its trigger's text after many had none of it.
	var last []int64
	w.items(place, func(x *ItemsTx) (err error) {
		if _, err = x.Create(w.Context(), posts); err != nil {
			return err
		}
		last, err = x.Create(w.Context(), posts[:1])
		return err
	})
	check(last)

	var held []*pgxpool.Conn
	for range w.pool.Config().MaxConns - 1 {
		conn, err := w.pool.Acquire(w.Context())
		w.must(err)
		held = append(held, conn)
	}
	ids := w.makeItems(place, posts...)
	for _, conn := range held {
		conn.Release()
	}
	check(ids)
}

package timelines

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/marks"
)

// What search makes of a text.

// Texts are plain: PostgreSQL's parser would see markup, paths, hosts, mail
// addresses and signed numbers in them, and no words.
func TestSearchFindsPlainWords(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	for body, queries := range map[string][]string{
		"my review <spoiler alert> here":        {"spoiler", "alert", "<spoiler", `"review spoiler alert"`, "<spoiler alert>"},
		"3 <pears and 5> apples":                {"pears", "5", "apples"},
		"a <!-- hidden remark":                  {"hidden", "remark", "<!--hidden"},
		"larks/wrens":                           {"larks", "wrens", "larks/wrens", `"larks wrens"`, "lark/wren"},
		"like owls.Rooks too":                   {"owls", "rooks", "owls.rooks", `"owls rooks"`, "like"},
		"see https://geese.example/ducks/?q=27": {"geese.example", "geese", "ducks", "geese.example/ducks", "https://geese.example/ducks/?q=27", "ducks/?q=27", "27"},
		"or swans.example/coots.html":           {"swans.example", "swans", "coots", "coots.html", "example/coots"},
		"write to teal@loons.example":           {"teal", "loons", "loons.example", "teal@loons.example"},
		"on 12.05.2011, 17.4 grebes":            {"2011", "12.05.2011", "05.2011", "17.4", "grebes"},
		"since 1990-1999; vireo-19":             {"1990", "1999", "1990-1999", "19", "vireo-19", "vireo"},
		"&amp; q&a of the finch&co":             {"finch", "co", "finch&co"},
		"the ~/stork and +7 916":                {"stork", "~/stork", "7", "+7", `"7 916"`},
		"snake_case_words":                      {"snake", "snake_case", "snake_case_words", "words"},
		"full＜width＞egrets／ibises．herons":       {"egrets", "width", "ibises", "egrets/ibises.herons"},
		"кот/пёс и так.Далее":                   {"кот", "пёс", "кот/пёс", "далее"},
	} {
		w.post(ann, body)
		for _, q := range queries {
			w.finds(0, q, body)
		}
	}
	// Whatever stands between two words, both are found, and the two as written.
	for c := rune('!'); c <= '~'; c++ {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			continue
		}
		first, last := fmt.Sprintf("bird%d", c), fmt.Sprintf("nest%d", c)
		body := fmt.Sprintf("%[1]c%[2]s%[1]c%[3]s%[1]c (%[2]s) %[1]c", c, first, last)
		w.post(ann, body)
		queries := []string{first, last, first + " " + last, `"` + first + " " + last + `"`}
		if c != '"' && c != '-' {
			queries = append(queries, first+string(c)+last, string(c)+first+string(c))
		}
		if c == '#' || c == '-' {
			queries = slices.DeleteFunc(queries, func(q string) bool { return q[0] == byte(c) })
		}
		for _, q := range queries {
			w.finds(0, q, body)
		}
	}
}

// What somebody writes is read while the post's lock is held: no text takes much
// longer than any other of its length.
func TestNoTextIsSlowToIndex(t *testing.T) {
	w := newTown(t)
	const most = 20 // times as long as plain text
	var plain time.Duration
	read := func(body string) (took time.Duration, err error) {
		err = pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT set_config('statement_timeout', $1, true)`, strconv.FormatInt((most*plain).Milliseconds(), 10))
			w.must(err)
			begin := time.Now()
			_, err = tx.Exec(t.Context(), `SELECT search_lexemes(7, $1)`, body)
			took = time.Since(begin)
			return err
		})
		return took, err
	}
	fill := func(s string, part int) string { return strings.Repeat(s, MaxPostBytes/part/len(s)) }
	for range 3 {
		took, err := read(fill("the white cats, sleeping on sofas; ", 1))
		w.must(err)
		plain = max(plain, took.Round(time.Millisecond))
	}
	texts := []string{fill("\u0301", 2) + fill("\u0316", 2)} // which are sorted
	for _, text := range []string{
		"<!--", "<", "<a", "<a ", "<a href='", "</", "&amp;", "&", "&#", "a_", "_", "a-b-", "a-", "-", "a-1-", "ж-", "@", "a@", "a@b.c-", "a.", ".", "/", "/a",
		"a/", "~", "://", "http://", "http://a.", "1", "1e1", "e1e1", "1.", "+1", "-1", "1-", "1a", "a1-", "#", "#a", "%20", "?a=b", "a:", "a", "ж", "ａ．",
		"\u0301\u0316", "\u0344", "\ufdfa", "㌖", "<!--a_b-c@d.e/f&amp;g1e1://",
	} {
		texts = append(texts, fill(text, 1))
	}
	for _, text := range texts {
		if took, err := read(text); err != nil || took > most*plain {
			t.Errorf("%.20q…: %v after %v; as much plain text takes %v", text, err, took, plain)
		}
	}
}

// What has a tag here has it on the tag's own page.
func TestSearchTags(t *testing.T) {
	w := newTown(t)
	for _, text := range []string{
		"C# a#b # ## #-x, see no. 5", "#river and (#weir), «#лес»", "#River #RIVER #Весна #ВЕСНА", "#spring-time #весна. #a#b",
		"#1 #year_2011 #_x", "#ｒｉｖｅｒ #ﬁsh #x²", "#\u0439ога #\u0438\u0306ога", "#ёлка #елка", "either/#or (#and) \"#not\" ,#xor",
		"https://example.org/a#top http://x.org/#y #z", "one\n#two\n\n#three", "&#39; &#tag;",
	} {
		want := []string{"@7"}
		for _, tag := range marks.Tags(text) {
			want = append(want, "#"+tag)
		}
		slices.Sort(want)
		got := value[[]string](w, `
			SELECT array_agg(l ORDER BY l COLLATE "C") FROM unnest(tsvector_to_array(search_lexemes(7, $1))) l
			WHERE l ~ '^[#@]'`, text)
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Whatever people write can be kept, and found.
func TestSearchTakesAnyText(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	numbers := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < MaxPostBytes-200; i++ {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	for _, text := range []string{
		"#" + strings.Repeat("x", MaxPostBytes-100), strings.Repeat("ж", MaxPostBytes/2-100), numbers("#t%d "), numbers("%x.io/%[1]x-%[1]x "),
		numbers("%d-%[1]x-"), numbers("https://%d.example/%[1]d/?%[1]d#%[1]d "), numbers("<a href='%d'>&amp;</a>"), numbers("\ufdfa%d"), numbers("\u0344%d "),
	} {
		c := w.post(ann, text+" needle")
		w.must(second(w.EditPost(t.Context(), ann.ID, c.Code, text+" needles")))
		out, _, err := w.search(0, "needle", Scan{Limit: 1})
		w.must(err)
		if len(out.Posts) != 1 || out.Posts[0].PostID != c.PostID {
			t.Errorf("%.20q…: found %+v, want post %d", text, out.Posts, c.PostID)
		}
	}
}

package timelines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riverrun/migrations/testdb"
	"riverrun/timelines/marks"
	"riverrun/timelines/snapshot"
)

// The form in which search stores a text.

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
	// Any characters may stand between two words: both words are found, and the two as
	// written.
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

// A text is parsed while the post's lock is held, so none may take much longer than any
// other of its length. The time is the database's processor time, which what else runs
// on the machine hardly changes.
func TestNoTextIsSlowToIndex(t *testing.T) {
	w := newTown(t)
	const most = 20 // times as long as plain text
	var used time.Duration
	config := w.pool.Config().ConnConfig
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		var user, system float64 // seconds
		if _, err := fmt.Sscanf(n.Detail, "! system usage stats:\n!\t%f s user, %f s system", &user, &system); err == nil {
			used += time.Duration((user + system) * float64(time.Second))
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	w.must(err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, set := range []string{"log_statement_stats = on", "client_min_messages = log", "statement_timeout = '30s'"} {
		_, err := conn.Exec(t.Context(), "SET "+set)
		w.must(err)
	}
	read := func(body string) (time.Duration, error) {
		used = 0
		_, err := conn.Exec(t.Context(), `SELECT search_lexemes(7, $1)`, body)
		if err == nil && used == 0 {
			err = errors.New("the database does not say what the statement used")
		}
		return used, err
	}
	fill := func(s string, part int) string { return strings.Repeat(s, MaxPostRunes/part/utf8.RuneCountInString(s)) }
	var plain time.Duration
	readPlain := func() {
		took, err := read(fill("the white cats, sleeping on sofas; ", 1))
		w.must(err)
		plain = max(plain, took)
	}
	for range 3 {
		readPlain()
	}
	texts := []string{fill("\u0301", 2) + fill("\u0316", 2)} // which are sorted
	for _, text := range []string{
		"<!--", "<", "<a", "<a ", "<a href='", "</", "&amp;", "&", "&#", "a_", "_", "a-b-", "a-", "-", "a-1-", "ж-", "@", "a@", "a@b.c-", "a.", ".", "/", "/a",
		"a/", "~", "://", "http://", "http://a.", "1", "1e1", "e1e1", "1.", "+1", "-1", "1-", "1a", "a1-", "#", "#a", "%20", "?a=b", "a:", "a", "ж", "ａ．",
		"\u0301\u0316", "\u0344", "\ufdfa", "㌖", "€", "\U00020000", "\U00020000-", "\U0001d400", "\U0001d15f", "\U0001f600", "<!--a_b-c@d.e/f&amp;g1e1://",
	} {
		texts = append(texts, fill(text, 1))
	}
	for i, text := range texts {
		if i%5 == 0 {
			readPlain()
		}
		if took, err := read(text); err != nil || took > most*plain {
			t.Errorf("%.20q…: %v after %v; as much plain text takes %v", text, err, took, plain)
		}
	}
}

// A text is found by the tags in whose timelines it brings its post, and by no
// others.
func TestSearchTags(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	var many strings.Builder
	for i := range marks.Most + 5 {
		fmt.Fprintf(&many, "#tag%d ", i)
	}
	texts := []string{
		"C# a#b # ## #-x, see no. 5", "#river and (#weir), «#лес»", "#River #RIVER #Весна #ВЕСНА", "#spring-time #весна. #a#b",
		"#1 #year_2011 #_x", "#ｒｉｖｅｒ #ﬁsh #x²", "#\u0439ога #\u0438\u0306ога", "#ёлка #елка", "either/#or (#and) \"#not\" ,#xor",
		"https://example.org/a#top http://x.org/#y #z", "one\n#two\n\n#three", "&#39; &#tag;", "#हिन्दी #தமிழ்", strings.TrimSpace(many.String()), "@ann and no tag",
	}
	indexed := func(post, comment int64, text string) {
		t.Helper()
		want := []string{"@" + strconv.FormatInt(ann.ID, 10)}
		for _, tag := range marks.Tags(text) {
			want = append(want, "#"+tag)
		}
		slices.Sort(want)
		got := value[[]string](w, `
			SELECT array_agg(l ORDER BY l COLLATE "C") FROM texts, unnest(tsvector_to_array(lexemes)) l
			WHERE post_id = $1 AND comment_id = $2 AND l ~ '^[#@]'`, post, comment)
		if !slices.Equal(got, want) {
			t.Errorf("comment %d, %q: got %q, want %q", comment, text, got, want)
		}
	}
	c := w.post(ann, "nothing yet")
	said := w.remark(ann, c.Code, "nothing yet")
	for _, text := range texts {
		indexed(w.post(ann, text).PostID, ownText, text)
		indexed(c.PostID, w.remark(ann, c.Code, text).CommentID, text)
		w.must(second(w.Posts.Edit(t.Context(), ann.ID, c.Code, text)))
		indexed(c.PostID, ownText, text)
		w.must(second(w.Comments.Edit(t.Context(), ann.ID, c.Code, said.CommentID, text)))
		indexed(c.PostID, said.CommentID, text)
	}
	w.followBumps()
	w.sound()
	w.must(second(w.Posts.Delete(t.Context(), ann.ID, c.Code)))
	w.finds(0, "#हिन्दी", texts[12])
	w.finds(0, "#tag19", texts[13])
	w.finds(0, "#tag24")
}

// squares are as many of what form makes of eight squared words as a post may
// hold, no two the same. Normalized most of the words are six characters, the
// others five.
func squares(form string) string {
	others := []rune("㌖㌙㌚㌇㌕㌠㌫㌗㌮")
	var b strings.Builder
	for i, runes := 0, 0; runes+len(form)+8 < MaxPostRunes-20; i++ {
		word := []rune(strings.Repeat("㌖", 8))
		changed := 0
		for j, n := 0, i; n > 0; j, n = j+1, n/len(others) {
			if word[j] = others[n%len(others)]; word[j] != '㌖' {
				changed++
			}
		}
		if changed <= 3 {
			fmt.Fprintf(&b, form, string(word))
			runes += len(form) - len("%s") + len(word)
		}
	}
	return b.String()
}

// Every text that people write can be stored and found. A run tries a third of the texts,
// which the seed chooses, or all if RIVERRUN_SOAK is set.
func TestSearchTakesAnyText(t *testing.T) {
	w := newTown(t)
	ann := w.user("ann")
	numbers := func(form string) string {
		var b strings.Builder
		for i, runes := 0, 0; runes < MaxPostRunes-200; i++ {
			part := fmt.Sprintf(form, i)
			b.WriteString(part)
			runes += utf8.RuneCountInString(part)
		}
		return b.String()
	}
	// words are as many words of that length, of the letters from first on, as a post may
	// hold, no two the same before all are there.
	words := func(first rune, letters, length int, end string) string {
		var b strings.Builder
		for i := range (MaxPostRunes - 20) / (length + len(end)) {
			for j, n := 0, i; j < length; j, n = j+1, n/letters {
				b.WriteRune(first + rune(n%letters))
			}
			b.WriteString(end)
		}
		return b.String()
	}
	texts := []string{
		"#" + strings.Repeat("x", MaxPostRunes-100), strings.Repeat("ж", MaxPostRunes-100), strings.Repeat("\U00020000", MaxPostRunes-100), numbers("#t%d "), numbers("%x.io/%[1]x-%[1]x "),
		numbers("%d-%[1]x-"), numbers("https://%d.example/%[1]d/?%[1]d#%[1]d "), numbers("<a href='%d'>&amp;</a>"),
		numbers("a%x-"), numbers("ж%x"), numbers("ж%x-"), numbers("\U00020000%x-"),
	}
	// In the index words joined by hyphens stand whole and in parts: what takes most of it
	// are letters of four bytes each.
	const most = 42_000
	for _, end := range []string{" ", "-"} {
		for _, length := range []int{1, 10, 254} {
			texts = append(texts, words('\U00020000', most, length, end))
		}
		texts = append(texts, words('а', 32, 3, end), words('а', 32, 20, end))
	}
	// These characters stand for much longer texts. Only the beginnings of those are read.
	long := []string{numbers("\u0344%d "), numbers("\ufdfa%d"), numbers("\ufdfa-%d"), squares("#%s "), squares("%s "), squares("%s-"), squares("%s")}
	seed, times := testdb.Chance(t)
	for i, text := range slices.Concat(texts, long) {
		if times == 1 && (uint64(i)+seed)%3 != 0 {
			continue
		}
		if text += " needle"; i >= len(texts) {
			text = "needle " + text
		}
		c := w.post(ann, text)
		w.must(second(w.Posts.Edit(t.Context(), ann.ID, c.Code, text+"s")))
		out, _, err := w.search(0, "needle", snapshot.Scan{Limit: 1})
		w.must(err)
		if len(out.Posts) != 1 || out.Posts[0].PostID != c.PostID {
			t.Errorf("%.20q…: found %+v, want post %d", text, out.Posts, c.PostID)
		}
	}
	p := tale("1")
	p.Body = long[3]
	w.importPosts(1, p)
	w.sound()
}

package sources_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"riverrun/timelines"
	"riverrun/timelines/marks"
	"riverrun/timelines/markup"
	"riverrun/timelines/rules"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// The files of an item are links that say what they are, and no item becomes an empty post.
func TestFilesAreLinks(t *testing.T) {
	const mp3 = "https://a.example/1.mp3"
	for _, tt := range []struct {
		what string
		item formats.Item
		want string
	}{
		{"a podcast", formats.Item{Title: "Episode *1*", URL: "https://a.example/1", Files: []formats.File{{URL: mp3, Type: "audio/mpeg", Bytes: 38_200_000, Seconds: 2530}}}, "Episode \\*1\\*\n\nhttps://a.example/1\n\n[Audio, 42 min, 38 MB](" + mp3 + ")"},
		{"files alone", formats.Item{URL: mp3, Files: []formats.File{{URL: mp3, Bytes: 1}, {URL: "https://a.example/b_(c).zip", Bytes: 1_250_000_000}}}, "[Audio](" + mp3 + ")\n[ZIP, 1.2 GB](https://a.example/b_%28c%29.zip)"},
		{"in Russian", formats.Item{Title: "Выпуск", Language: "ru-RU", Files: []formats.File{{URL: mp3, Seconds: 3900}, {URL: "https://a.example/v", Type: "video", Seconds: 20, Bytes: 1500}}}, "Выпуск\n\n[Аудио, 1 ч 5 мин](" + mp3 + ")\n[Видео, 20 с, 2 КБ](https://a.example/v)"},
		{"its title and a type", formats.Item{Title: "T", Files: []formats.File{{URL: "https://a.example/1", Type: "application/pdf; x", Title: "Minutes [1]", Bytes: 2_000_000}, {URL: "https://a.example/2"}}}, "T\n\n[Minutes \\[1\\] (PDF, 2 MB)](https://a.example/1)\n[File](https://a.example/2)"},
		{"a player", formats.Item{Title: "T", Files: []formats.File{{URL: "https://v.example/e/1", Type: formats.Player}}}, "T\n\n[Player](https://v.example/e/1)"},
		{"an address that is too long for a link", formats.Item{Title: "T", Files: []formats.File{{URL: "https://a.example/" + strings.Repeat("x", 2020)}}}, "T\n\nFile: https://a.example/" + strings.Repeat("x", 2020)},
		{"a picture alone", formats.Item{Pictures: []formats.Picture{{URL: "https://a.example/1.jpg"}}, Categories: []string{"Boats"}}, "[Picture](https://a.example/1.jpg)\n\n#boats"},
		{"a picture with its text", formats.Item{Pictures: []formats.Picture{{URL: "https://a.example/1.jpg", Text: "A quay"}}}, "[A quay](https://a.example/1.jpg)"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			source := w.source(w.person("ann"), "Log book", sources.Append, `{"rules": {"all_tags": true}}`)
			tt.item.ID, tt.item.At = "1", time.Now().UTC().Truncate(time.Microsecond)
			w.same("counts", w.load(source, 10, &tt.item).Counts, sources.Counts{Added: 1})
			w.same("body", value[string](w, `SELECT body FROM posts`), tt.want)
			w.same("markup", value[bool](w, `SELECT markup FROM posts`), true)
			w.same("the same again", w.load(source, 10, &tt.item).Counts, sources.Counts{Same: 1})
		})
	}
}

// The @names and #tags in a source's text are of another site: nobody is mentioned, the post gets no
// tag, and pages show no links. Tags that rules give are real, and so are the tags that a person
// writes when editing the post.
func TestTextsOfSourcesNameNobody(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	w.person("bob")
	source := w.source(ann, "Log #book", sources.Append, `{"rules": {"title": "#log {source}: {title}", "all_tags": true}}`)
	marks := func() []string {
		return w.list(`SELECT t.kind || ' ' || t.term FROM text_marks m JOIN timelines t ON t.id = m.timeline_id ORDER BY 1`)
	}
	links := func() []string {
		var all []string
		for _, part := range strings.Split(markup.HTML(value[string](w, `SELECT body FROM posts`)), `<a href="`)[1:] {
			address, _, _ := strings.Cut(part, `"`)
			all = append(all, address)
		}
		return all
	}
	it := item("1", "Fix #77 for @bob", time.Hour)
	it.Text, it.Categories = "Thanks @bob, see https://example.org/@bob#77\n#done", []string{"Boats"}
	w.same("counts", w.load(source, 10, it).Counts, sources.Counts{Added: 1})
	w.same("marks", marks(), []string{"hashtag boats", "hashtag log"})
	w.same("links", links(), []string{"/tag/log", "https://example.org/@bob#77", "https://example.org/1", "/tag/boats"})
	w.same("what is shown", strings.Contains(markup.Plain(value[string](w, `SELECT body FROM posts`)), "Fix #77 for @bob"), true)
	w.same("search", value[bool](w, `SELECT search_lexemes(author_id, body) = search_lexemes(author_id, replace(body, '\', '')) FROM posts`), true)

	it.Title, it.Categories = "Fix #78 for @bob", []string{"Harbour"}
	w.same("counts of a change", w.load(source, 10, it).Counts, sources.Counts{Changed: 1})
	w.same("marks of a change", marks(), []string{"hashtag harbour", "hashtag log"})
	w.same("links of a change", links(), []string{"/tag/log", "https://example.org/@bob#77", "https://example.org/1", "/tag/harbour"})

	codes, err := w.posts.Posts.Codes(t.Context(), []int64{value[int64](w, `SELECT id FROM posts`)})
	w.must(err)
	for _, code := range codes {
		_, err = w.posts.Posts.Edit(t.Context(), ann.ID, code, "For @bob #here")
		w.must(err)
	}
	w.same("marks by hand", marks(), []string{"hashtag here", "mentions "})
}

// An item under a new id is found again, whether its post is written as markup or plain, as older
// posts with files and names are.
func TestRenamedIsFoundBehindMarkup(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "Log", sources.Append, `{}`)
	it := item("1", "Fix #77", time.Hour)
	w.load(source, 10, it)
	_, err := w.pool.Exec(t.Context(), `UPDATE posts SET body = E'Fix #77\n\nhttps://example.org/1', markup = false`)
	w.must(err)
	it.ID = "another"
	w.same("counts", w.load(source, 10, it).Counts, sources.Counts{Changed: 1})
	it.ID = "a third"
	w.same("counts of markup", w.load(source, 10, it).Counts, sources.Counts{Skipped: 1})
	w.same("posts", value[int64](w, `SELECT count(*) FROM posts`), int64(1))
}

// A long text leaves room for what stands below it.
func TestLongTextLeavesRoom(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "Log", sources.Append, `{"rules": {"text": "whole", "all_tags": true}}`)
	it := item("1", "T", time.Hour)
	it.Text, it.Categories = "@a "+strings.Repeat("*", timelines.MaxPostRunes-10), []string{"boats"}
	// The owner is told, with the code that a form has for a post that is too long (G6).
	w.same("counts", w.load(source, 10, it).Counts, sources.Counts{Added: 1, Warnings: 1})
	w.same("problem", value[string](w, `SELECT code FROM load_problems`), rules.PostLong.Code)
	body := value[string](w, `SELECT body FROM posts`)
	if n := utf8.RuneCountInString(body); n > timelines.MaxPostRunes || n < timelines.MaxPostRunes-3 || !strings.HasSuffix(body, "*\n\nhttps://example.org/1\n\n#boats") {
		t.Errorf("%d characters that end with %q", n, body[len(body)-60:])
	}
}

// Where nothing leaves room for a text, none is written.
func TestNoRoomForText(t *testing.T) {
	for _, room := range []int{-1, 0, 1, 2} {
		if s, cut := sources.Written("*a", markup.Escape, room); utf8.RuneCountInString(s) > max(room, 0) || !cut {
			t.Errorf("%q in a room of %d, cut: %v", s, room, cut)
		}
	}
}

// Files whose links would make a post too long are left out.
func TestFilesLeaveRoom(t *testing.T) {
	w := newWorld(t)
	source := w.source(w.person("ann"), "Log", sources.Append, `{"rules": {"text": "whole"}}`)
	it := item("1", "T", time.Hour)
	it.Text = "Again."
	for i := range rules.ItemFileMany.Most {
		it.Files = append(it.Files, formats.File{URL: fmt.Sprintf("https://e.example/%d%s", i, strings.Repeat("(", 2000))})
	}
	w.same("counts", w.load(source, 10, it).Counts, sources.Counts{Added: 1, Warnings: 1})
	w.same("problem", value[string](w, `SELECT code FROM load_problems`), rules.PostLong.Code)
	if n := utf8.RuneCountInString(value[string](w, `SELECT body FROM posts`)); n > timelines.MaxPostRunes {
		t.Errorf("%d characters", n)
	}
}

// A source that was added since there is that rule makes the title of an item the link to its address.
func TestLinkedTitles(t *testing.T) {
	const mp3 = "https://a.example/1.mp3"
	for _, tt := range []struct {
		what, form string
		item       formats.Item
		want       string
		plain      bool
	}{
		{what: "a blog", item: formats.Item{Title: "The *ferry* is late", URL: "https://a.example/1", Text: "Again."}, want: "[The \\*ferry\\* is late](https://a.example/1)\n\nAgain."},
		{what: "a podcast", item: formats.Item{Title: "Episode 1", URL: "https://a.example/1", Files: []formats.File{{URL: mp3, Type: "audio/mpeg", Seconds: 2530}}}, want: "[Episode 1](https://a.example/1)\n\n[Audio, 42 min](" + mp3 + ")"},
		{what: "a podcast whose address is the file", item: formats.Item{Title: "Episode 1", URL: mp3, Files: []formats.File{{URL: mp3, Seconds: 2530}}}, want: "Episode 1\n\n[Audio, 42 min](" + mp3 + ")"},
		{what: "no title", item: formats.Item{URL: "https://a.example/1", Text: "Again."}, want: "Again.\n\nhttps://a.example/1", plain: true},
		{what: "no address", item: formats.Item{Title: "T", Text: "Again."}, want: "T\n\nAgain.", plain: true},
		{what: "an address alone", item: formats.Item{URL: "https://a.example/1"}, want: "https://a.example/1", plain: true},
		{what: "an address as the title", item: formats.Item{Title: "https://a.example/1", URL: "https://a.example/1"}, want: "https://a.example/1", plain: true},
		{what: "an address as the text", item: formats.Item{Title: "T", Text: "https://a.example/1", URL: "https://a.example/1"}, want: "[T](https://a.example/1)"},
		{what: "an address that is too long", item: formats.Item{Title: "T", URL: "https://a.example/" + strings.Repeat("x", 2020)}, want: "T\n\nhttps://a.example/" + strings.Repeat("x", 2020), plain: true},
		{what: "a form", form: "#log {source}, {author}: {title}!", item: formats.Item{Title: "Fix #77", Author: "@bob", URL: "https://a.example/(1)"}, want: "#log Log \\#book, \\@bob: [Fix \\#77](https://a.example/%281%29)!"},
		{what: "tags", item: formats.Item{Title: "T", URL: "https://a.example/1", Categories: []string{"Boats"}}, want: "[T](https://a.example/1)\n\n#boats"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			ann := w.person("ann")
			w.person("bob")
			s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Mode: sources.Append, Title: "Log #book", Settings: sources.Settings{
				Rules: sources.Rules{AllTags: true, Title: tt.form},
			}})
			tt.item.ID, tt.item.At = "1", time.Now().UTC().Truncate(time.Microsecond)
			w.same("counts", w.load(s.ID, 10, &tt.item).Counts, sources.Counts{Added: 1})
			w.same("body", value[string](w, `SELECT body FROM posts`), tt.want)
			w.same("markup", value[bool](w, `SELECT markup FROM posts`), !tt.plain)
			w.same("the same again", w.load(s.ID, 10, &tt.item).Counts, sources.Counts{Same: 1})
			w.same("cards asked for", value[int64](w, `SELECT count(*) FROM links`), int64(0))
			w.same("mentions", value[int64](w, `SELECT count(*) FROM text_marks m JOIN timelines t ON t.id = m.timeline_id WHERE t.kind = 'mentions'`), int64(0))
		})
	}
}

// Whatever a title has in it, the post has one link, to the item's address, and shows the title.
func TestHostileTitles(t *testing.T) {
	w := newWorld(t)
	s := w.add(w.person("ann"), sources.New{Owner: "ann", Way: sources.File, Mode: sources.Append, Title: "Log"})
	titles := []string{
		"](javascript:alert(1))", "a](https://evil.example)[b", "[x](https://evil.example)", "![x](https://evil.example)", "a]", "[", "]", `\`, `a\`, `\]`, "`a`](", "```", "a ` b",
		"**a", "_a_", "~~a~~", "||a||", "> a", "- a", "1. a", "# a", "@bob #tag", "<b>a</b>&amp;<script>", "a\nb", "a\n\nb", "\n- a\n- b", "https://evil.example", "see https://evil.example/a)[b](c",
		"https://evil.example/[a]", "https://evil.example/[a](https://x.example)", "see https://evil.example/*a*", "https://a.example/1 again", "evil.example", "\u202egnp.exe", strings.Repeat("x", rules.ItemTitle.Most),
		strings.Repeat("[", 500), strings.Repeat("]", 500), strings.Repeat("*", 500),
	}
	var list []*formats.Item
	for i, title := range titles {
		it := item(fmt.Sprint(i), title, time.Hour)
		it.Text = "Below."
		list = append(list, it)
	}
	w.same("counts", w.load(s.ID, 100, list...).Counts, sources.Counts{Added: int64(len(titles))})
	for i, title := range titles {
		body := value[string](w, `SELECT p.body FROM posts p JOIN source_items i ON i.post_id = p.id WHERE i.external_id = $1`, fmt.Sprint(i))
		out := markup.HTML(body)
		if strings.Count(out, "<a ") != 1 || !strings.HasPrefix(out, `<p dir="auto"><a href="https://example.org/`+fmt.Sprint(i)+`" rel="nofollow noopener ugc">`) || !strings.HasSuffix(out, `<p dir="auto">Below.</p>`) {
			t.Errorf("%q is %q, and shown as\n%s", title, body, out)
		}
		first, _, _ := strings.Cut(markup.Plain(body), "\n")
		shown, host, _ := strings.Cut(first, " (example.org)")
		if want := markup.Unturned(strings.Join(strings.Fields(title), " ")); shown != want || host != "" {
			t.Errorf("%q is %q, and shown as %q", title, body, first)
		}
		for _, sign := range []string{"<em", "<strong", "<del", "<code", "<pre", "<li", "<blockquote", "<input", "<script", "<img"} {
			if strings.Contains(out, sign) {
				t.Errorf("%q has %s…>: %s", title, sign, out)
			}
		}
	}
}

// Search and the language of a post go by the words of a linked title, not by the address.
func TestWordsOfLinkedTitles(t *testing.T) {
	w := newWorld(t)
	s := w.add(w.person("ann"), sources.New{Owner: "ann", Way: sources.File, Mode: sources.Append, Title: "Log"})
	it := item("1", "[Весна] идёт: первые пароходы на Неве", time.Hour)
	it.URL = "https://example.org/the-first-steamers-of-this-spring-are-on-the-river-and-everybody-is-out"
	w.load(s.ID, 10, it)
	w.same("language", value[string](w, `SELECT lang FROM posts`), "ru")
	for _, word := range []string{"весна", "пароход", "нева"} {
		if !value[bool](w, `SELECT lexemes @@ plainto_tsquery('russian', $1) FROM texts WHERE comment_id = 0`, word) {
			t.Errorf("search does not find %q", word)
		}
	}
}

// A source from before there were linked titles keeps the form of its posts until its owner chooses the
// other, and an item under a new id is found again in both.
func TestLinkedTitlesOfFormerSources(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	source := w.source(ann, "Log", sources.Append, `{}`)
	hash := func() string { return value[string](w, `SELECT encode(hash, 'hex') FROM source_items`) }
	it := item("1", "example.com is down", time.Hour)
	w.load(source, 10, it)
	w.same("body", value[string](w, `SELECT body FROM posts`), "example.com is down\n\nhttps://example.org/1")
	code := value[string](w, `SELECT code FROM sources`)
	before := hash()
	_, err := w.sources.Change(t.Context(), ann.ID, code, "Log", sources.Settings{Rules: sources.Rules{LinkedTitle: true}})
	w.must(err)
	it.ID = "another"
	w.same("counts of another id and another form", w.load(source, 10, it).Counts, sources.Counts{Changed: 1})
	w.same("body", value[string](w, `SELECT body FROM posts`), "[example.com is down](https://example.org/1)")
	w.same("the same", w.load(source, 10, it).Counts, sources.Counts{Same: 1})
	_, err = w.sources.Change(t.Context(), ann.ID, code, "Log", sources.Settings{})
	w.must(err)
	it.ID = "1"
	w.same("counts of the way back", w.load(source, 10, it).Counts, sources.Counts{Changed: 1})
	w.same("hash as before", hash(), before)
	w.same("posts", value[int64](w, `SELECT count(*) FROM posts`), int64(1))
}

// Whatever the addresses of an item have in them, they mention nobody, make no tag, and each is one link
// that leads to the same place. Ordinary addresses stay as they are.
func TestHostileAddresses(t *testing.T) {
	long := "https://e.example/" + strings.Repeat("x", 2000)
	for _, tt := range []struct{ address, want string }{
		{"https://e.example/(@bob", "https://e.example/%28@bob"},
		{"https://e.example/?(@bob", "https://e.example/?%28@bob"},
		{"https://e.example/a_(b)_(#tag", "https://e.example/a_%28b%29_%28#tag"},
		{"https://e.example/)[x](https://evil.example/)", "https://e.example/%29%5Bx%5D%28https://evil.example/%29"},
		{"https://e.example/?a=<b>&c=\"@bob\"", "https://e.example/?a=%3Cb%3E&c=%22@bob%22"},
		{"https://e.example/?a`b` **@bob** #\u3000#tag", ""},
		{"https://e.example/Inc.", "https://e.example/Inc%2E"},
		{"https://e.example/a?", "https://e.example/a"},
		{"https://e.example/a(?", "https://e.example/a%28"},
		{"https://e.example.", "https://e.example"},
		{"https://e.example.?", "https://e.example"},
		{"https://e.example/a?(b)?", "https://e.example/a?%28b%29%3F"},
		{long + "(@bob", long + "%28@bob"},
		{"https://e.example/wiki/River_(film)", "https://e.example/wiki/River_(film)"},
		{"https://e.example/a/@bob?b=[c]&d='#e", "https://e.example/a/@bob?b=[c]&d='#e"},
		{"https://e.example/%D0%B0_", "https://e.example/%D0%B0_"},
		{"https://e.example/[x](https://evil.example/)", "https://e.example/[x](https://evil.example/)"},
		{"https://e.example/*~~*_", "https://e.example/%2A%7E%7E%2A%5F"},
		{"https://[::1]:8080/~", "https://[::1]:8080/~"},
	} {
		written := sources.BareAddress(tt.address)
		if tt.want != "" && written != tt.want {
			t.Errorf("%.90q is written %.90q, want %.90q", tt.address, written, tt.want)
		}
		if again := sources.BareAddress(written); again != written {
			t.Errorf("%q is written %q, and then %q", tt.address, written, again)
		}
		if in := marks.In(written); len(in) != 1 || in[0] != (marks.Mark{To: len(written), Kind: marks.Link}) {
			t.Errorf("%q is written %q with %+v", tt.address, written, in)
		}
		if out := markup.HTML(written + "\n\nFile: " + written); strings.Count(out, "<a ") != 2 || strings.Contains(out, "<em") || strings.Contains(out, "<del") || strings.Contains(out, "<code") {
			t.Errorf("%q is shown as\n%s", tt.address, out)
		}
	}
}

// The address of an item and those of its files, where they are too long for links, are written so in
// plain posts and in markup.
func TestAddressesNameNobody(t *testing.T) {
	w := newWorld(t)
	w.person("bob")
	source := w.source(w.person("ann"), "Log", sources.Append, `{}`)
	const second = "https://e.example/)[x](https://evil.example/)"
	long := "https://e.example/" + strings.Repeat("x", 1950) + strings.Repeat("(", 20) + "@bob"
	plain, file, linked := item("1", "Title", time.Hour), item("2", "Title", time.Hour), item("3", "For *you* @all", time.Hour)
	plain.URL, linked.URL = "https://e.example/(@bob", second
	file.URL, file.Files = "https://e.example/a_(b)_(#tag", []formats.File{{URL: long}}
	w.same("counts", w.load(source, 10, plain, file, linked).Counts, sources.Counts{Added: 3})
	body := func(id string) string {
		return value[string](w, `SELECT p.body FROM posts p JOIN source_items i ON i.post_id = p.id WHERE i.external_id = $1`, id)
	}
	w.same("plain", body("1"), "Title\n\nhttps://e.example/%28@bob")
	w.same("file", body("2"), "Title\n\nhttps://e.example/a_%28b%29_%28#tag\n\nFile: https://e.example/"+strings.Repeat("x", 1950)+strings.Repeat("%28", 20)+"@bob")
	w.same("markup", strings.Count(markup.HTML(body("3")), "<a "), 1)
	w.same("marks", value[int64](w, `SELECT count(*) FROM text_marks`), int64(0))
}

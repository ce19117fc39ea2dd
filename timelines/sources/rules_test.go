package sources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/dictionary"
	"riverrun/timelines/sources/formats"
)

// F16, F17: rules decide how items become posts: their first line, how much of the text, the tags of
// categories, and which items come in at all.
func TestRules(t *testing.T) {
	long := strings.Repeat("word ", 200)
	for _, tt := range []struct {
		what  string
		rules string
		item  formats.Item
		want  string // empty: it does not come in
	}{
		{"no rules", `{}`, formats.Item{Title: "A day out", Text: "It was fine.", URL: "https://example.org/1", Categories: []string{"Boats"}}, "A day out\n\nIt was fine.\n\nhttps://example.org/1"},
		{"a long text is cut between words", `{}`, formats.Item{Title: "T", Text: long}, "T\n\n" + strings.TrimSpace(long[:400]) + " …"},
		{"a whole text", `{"text": "whole"}`, formats.Item{Title: "T", Text: long}, "T\n\n" + strings.TrimSpace(long)},
		{"no text", `{"text": "none"}`, formats.Item{Title: "T", Text: "x"}, "T"},
		{"a text without a title is shown", `{"text": "none"}`, formats.Item{Text: "x"}, "x"},
		{"the same twice", `{}`, formats.Item{Title: "same", Text: "same"}, "same"},
		{"a form of the title", `{"title": "{author} in {source}: {title}"}`, formats.Item{Title: "{author}", Author: "Ann"}, "Ann in Log book: {author}"},
		{"all tags", `{"all_tags": true}`, formats.Item{Title: "T", Categories: []string{"Open science", "open Science", "Привет, мир", "!!"}}, "T\n\n#open_science #привет_мир"},
		{"some tags", `{"tags": [{"category": "boats", "tag": "#Sailing"}, {"category": "x", "tag": ""}], "all_tags": true}`, formats.Item{Title: "T", Categories: []string{"BOATS", "X", "y"}}, "T\n\n#sailing #y"},
		{"only some words", `{"only": ["art", "open  science"]}`, formats.Item{Title: "A party", Text: "of OPEN science."}, "A party\n\nof OPEN science."},
		{"only whole words", `{"only": ["art"]}`, formats.Item{Title: "A party"}, ""},
		{"only categories too", `{"only": ["ARTÉ"]}`, formats.Item{Title: "T", Categories: []string{"arté"}}, "T"},
		{"without some words", `{"without": ["реклама"]}`, formats.Item{Title: "Внимание: Реклама!"}, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t)
			source := w.source(w.person("ann"), "Log book", sources.Append, `{"rules": `+tt.rules+`}`)
			tt.item.ID, tt.item.At = "1", time.Now().UTC().Truncate(time.Microsecond)
			l := w.load(source, 10, &tt.item)
			if tt.want == "" {
				w.same("counts", l.Counts, sources.Counts{Skipped: 1})
				w.same("the same again", w.load(source, 10, &tt.item).Counts, sources.Counts{Same: 1})
				return
			}
			w.same("counts", l.Counts, sources.Counts{Added: 1})
			w.same("post", value[string](w, `SELECT body FROM posts`), tt.want)
		})
	}
}

// With other rules, items are applied again. Items that the rules keep out now keep their posts.
func TestOtherRulesApplyAgain(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Title: "Log book"})
	list := items("entry", 3)
	w.load(s.ID, 10, list...)
	_, err := w.sources.Change(t.Context(), ann.ID, s.Code, "Log book", sources.Settings{Rules: sources.Rules{Title: "Log: {title}"}})
	w.must(err)
	w.same("counts", w.load(s.ID, 10, list...).Counts, sources.Counts{Changed: 3})
	w.same("posts", w.shown(), []string{"Log: entry number 0", "Log: entry number 1", "Log: entry number 2"})
	for _, bad := range []sources.Rules{
		{Title: "no place"}, {Text: "some"}, {Tags: []sources.TagRule{{Category: "x", Tag: "!!"}}}, {Only: []string{""}}, {Without: []string{strings.Repeat("x", 101)}},
	} {
		_, err := w.sources.Change(t.Context(), ann.ID, s.Code, "Log book", sources.Settings{Rules: bad})
		var invalid *timelines.InvalidError
		if !errors.As(err, &invalid) || invalid.Code != "rules_invalid" {
			t.Errorf("%+v: got %v, want rules_invalid", bad, err)
		}
	}
}

// F17: the owner's dictionary gives tags. Its newest tags are applied to the posts that are there,
// even from a file that was loaded before.
func TestDictionary(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	words := dictionary.Open(w.posts)
	write := func(owner timelines.Account, text string) {
		t.Helper()
		entries, err := dictionary.Parse(text)
		w.must(err)
		w.must(words.Write(t.Context(), owner.ID, owner.Name, entries))
	}
	write(ann, "boats: ship, vessel\nweather: rain")
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Settings: sources.Settings{Rules: sources.Rules{AllTags: true}}})
	other := w.add(bob, sources.New{Owner: "bob", Way: sources.File})
	list := []*formats.Item{item("1", "The SHIP came", time.Hour), item("2", "No boat", 2*time.Hour), item("3", "A day", 3*time.Hour)}
	list[0].Categories = []string{"Boats", "Harbour"}
	list[1].Categories = []string{"Vessel"}
	list[2].Text = "In the rain."
	w.load(s.ID, 2, list...)
	w.load(other.ID, 2, list...)
	tags := func(s sources.Source) []string {
		return w.list(`SELECT coalesce(substring(p.body from E'\n\n(#.*)$'), '') FROM source_items i JOIN posts p ON p.id = i.post_id
			WHERE i.source_id = $1 ORDER BY i.external_id`, s.ID)
	}
	w.same("tags", tags(s), []string{"#boats #harbour", "#vessel #boats", "#weather"})
	w.same("those of another owner", tags(other), []string{"", "", ""})
	w.same("the same again", w.load(s.ID, 2, list...).Counts, sources.Counts{Same: 3})

	content := func(s sources.Source) string {
		return value[string](w, `SELECT format('v%s %s', version, content) FROM sources WHERE id = $1`, s.ID)
	}
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET content = 'x'`)
	w.must(err)
	write(ann, "weather: rain, ship")
	w.same("a file is loaded again", []string{content(s), content(other)}, []string{"v2 ", `v1 \x78`})
	w.same("counts", w.load(s.ID, 2, list...).Counts, sources.Counts{Changed: 2, Same: 0, Skipped: 1})
	w.same("other tags", tags(s), []string{"#boats #harbour #weather", "#vessel", "#weather"})
	write(ann, " #weather : rain,ship")
	w.same("nothing changed", content(s), "v2 ")
	write(ann, "")
	w.load(s.ID, 2, list...)
	w.same("no dictionary", tags(s), []string{"#boats #harbour", "#vessel", ""})
}

// F16: a category sends new items to a group. If their author may not post there any more, they are
// not posted at all, since they are meant for the readers of the group, and the load says so. Posts
// that are there stay.
func TestCategoriesLeadToGroups(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(ann, "sailing")
	w.group(bob, "rowing")
	rules := sources.Rules{Groups: []sources.GroupRule{{Category: "Boats", Group: "sailing"}, {Category: "oars", Group: "rowing"}, {Category: "boats", Group: "rowing"}}}
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Settings: sources.Settings{Rules: rules}})
	in := func(i int, categories ...string) *formats.Item {
		it := item(fmt.Sprint(i), fmt.Sprint("entry ", i), time.Duration(i)*time.Hour)
		it.Categories = categories
		return it
	}
	where := func() []string {
		return w.list(`SELECT i.external_id || ' ' || a.name FROM source_items i JOIN posts p ON p.id = i.post_id JOIN timelines t ON t.id = p.decisive[1]
			JOIN accounts a ON a.id = t.their_id WHERE i.source_id = $1 ORDER BY i.external_id`, s.ID)
	}
	list := []*formats.Item{in(1, "BOATS"), in(2), in(3, "x", "Oars", "boats"), in(4, "sails")}
	w.same("counts", w.load(s.ID, 3, list...).Counts, sources.Counts{Added: 4})
	w.same("places", where(), []string{"1 sailing", "2 ann", "3 rowing", "4 ann"})

	_, err := w.posts.Groups.Block(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	list[0].Categories, list[3].Categories = nil, []string{"boats"}
	l := w.load(s.ID, 3, append(list, in(5, "oars"), in(6, "boats"))...)
	w.same("counts", l.Counts, sources.Counts{Added: 1, Same: 2, Skipped: 3, Errors: 1})
	w.same("places later", where(), []string{"1 sailing", "2 ann", "3 rowing", "4 ann", "6 sailing"})
	troubles, err := w.sources.Troubles(t.Context(), l.ID, sources.Which{}, sources.FirstTrouble, 10)
	w.must(err)
	w.same("problems", troubles, []sources.Trouble{{Line: 4, Error: true, Code: "to_forbidden", Field: "categories", Value: "rowing", ExternalID: "5", Title: "entry 5"}})
	w.same("codes", value[string](w, `SELECT codes::text FROM loads WHERE id = $1`, l.ID), `{"to_forbidden": 1}`)

	var bad *timelines.InvalidError
	if _, err := w.sources.Add(t.Context(), ann.ID, sources.New{Owner: "sailing", Way: sources.File, Settings: sources.Settings{Rules: rules}}); !errors.As(err, &bad) || bad.Code != "rules_invalid" {
		t.Errorf("a source of a group: got %v, want rules_invalid", err)
	}
	rules.Groups[1].Group = "bob"
	if _, err := w.sources.Change(t.Context(), ann.ID, s.Code, "Log", sources.Settings{Rules: rules}); !errors.As(err, &bad) || bad.Code != "to_unknown" || bad.Value != "bob" {
		t.Errorf("no group: got %v, want to_unknown", err)
	}
	s, err = w.sources.Find(t.Context(), ann.ID, s.Code)
	w.must(err)
	w.same("version after a change that is refused", s.Version, int64(1))
}

// F33: a form that is saved unchanged, and rules that say the same in other words, change nothing:
// neither the source, nor any post when the same file is loaded again.
func TestSavedUnchanged(t *testing.T) {
	w := newWorld(t)
	ann := w.person("ann")
	list := items("entry", 20)
	versions := func(s sources.Source) string {
		return value[string](w, `SELECT format('source %s, posts %s', s.version, (SELECT string_agg(DISTINCT version::text, ' ') FROM posts))
			FROM sources s WHERE s.id = $1`, s.ID)
	}
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Format: formats.CSV, Title: "A list"})
	for _, same := range []sources.Settings{
		{Rules: sources.Rules{LinkedTitle: true}},
		{Gone: sources.Delete, MostGone: sources.DefaultMostGone, Rules: sources.Rules{LinkedTitle: true, Text: sources.TextBeginning, Title: " {title} ", Tags: []sources.TagRule{}}},
	} {
		w.load(s.ID, 7, list...)
		if _, err := w.sources.Change(t.Context(), ann.ID, s.Code, "A list", same); err != nil {
			t.Fatal(err)
		}
		w.same("counts of the same file", w.load(s.ID, 7, list...).Counts, sources.Counts{Same: 20})
		_, err := w.sources.SetFrom(t.Context(), ann.ID, s.Code, sources.From{Mode: s.Mode})
		w.must(err)
		w.same("versions", versions(s), "source 1, posts 1")
	}
	rules := sources.Settings{Gone: sources.Keep, Rules: sources.Rules{
		Only: []string{" Entry "}, Tags: []sources.TagRule{{Category: "open  science ", Tag: " #Science"}}, Groups: []sources.GroupRule{},
	}}
	for range 2 {
		changed, err := w.sources.Change(t.Context(), ann.ID, s.Code, "A list", rules)
		w.must(err)
		w.same("rules", changed.Settings.Rules, sources.Rules{Only: []string{"Entry"}, Tags: []sources.TagRule{{Category: "open science", Tag: "Science"}}})
		rules = changed.Settings
	}
	w.same("versions after other rules", versions(s), "source 2, posts 1")

	// The settings of a source, and of a load that waits, may be from before.
	_, err := w.pool.Exec(t.Context(), `UPDATE sources SET settings = '{"gone": "delete", "rules": {"text": "beginning", "linked_title": true}}'`)
	w.must(err)
	w.same("counts by former settings", w.load(s.ID, 7, list...).Counts, sources.Counts{Same: 20})
	_, err = w.sources.Change(t.Context(), ann.ID, s.Code, "A list", sources.Settings{Rules: sources.Rules{LinkedTitle: true}})
	w.must(err)
	w.same("versions of former settings", versions(s), "source 2, posts 1")
}

// An item changes where its author may not post any more: its post and its pictures stay as they are.
// The load says so, and so does the answer to the program that pushed it. When the author may post
// there again, the same item is applied.
func TestItemsWhereTheirAuthorMayNotPost(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(bob, "rowing")
	_, _, err := w.posts.Subscriptions.Subscribe(t.Context(), ann.ID, "rowing")
	w.must(err)
	_, err = w.posts.Feeds.SetAccess(t.Context(), bob.ID, "rowing", timelines.Private)
	w.must(err)
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.Push, Title: "Log", Mode: sources.Append, Settings: sources.Settings{
		Rules: sources.Rules{Groups: []sources.GroupRule{{Category: "oars", Group: "rowing"}}},
	}})
	push := func(list ...*formats.Item) (results []string, counts sources.Counts) {
		t.Helper()
		w.announces(func() {
			l, err := w.sources.Receive(t.Context(), s.ID)
			w.must(err)
			k, err := w.sources.Take(t.Context(), s.ID)
			w.must(err)
			got, _, err := k.Push(t.Context(), l.No, sources.Batch{No: 1, Lines: w.lines(list...)})
			w.must(err)
			w.must(k.Close(t.Context()))
			l, err = w.sources.Load(t.Context(), s.ID, l.No)
			w.must(err)
			for _, r := range got {
				results = append(results, fmt.Sprint(r.ID, " ", r.Result, " ", r.Codes))
			}
			counts = l.Counts
		})
		return results, counts
	}
	there, own := with(item("there", "In the group", time.Hour), "a.png", "b.png"), item("own", "At home", 2*time.Hour)
	there.Categories = []string{"oars"}
	results, _ := push(there, own)
	w.same("results", results, []string{"there added []", "own added []"})
	w.fetchAll("img.example", asNamed)
	shown, pictures := w.shown(), w.attached()

	_, err = w.posts.Groups.RemoveMember(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	_, err = w.posts.Groups.Block(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	there.Title, there.Pictures, own.Title = "Read this, all of you", there.Pictures[:1], "At home again"
	for range 2 {
		results, counts := push(there, own)
		w.same("results", results[0], "there rejected [to_forbidden]")
		w.same("counts", []int64{counts.Errors, counts.Skipped}, []int64{1, 1})
	}
	w.same("in the group", w.shown(), []string{shown[0], "At home again"})
	w.same("its pictures", w.attached(), pictures)
	w.same("problems", w.list(`SELECT DISTINCT format('%s %s', code, value) FROM load_problems`), []string{"to_forbidden rowing"})

	_, err = w.posts.Groups.Unblock(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	_, err = w.posts.Groups.Admit(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	results, _ = push(there, own)
	w.same("results", results, []string{"there changed []", "own same []"})
	w.same("posts", w.shown(), []string{"Read this, all of you", "At home again"})
}

// A preview counts and warns as the load does, of items that may not be posted as well, and writes
// nothing.
func TestPreviewWhereTheAuthorMayNotPost(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	w.group(bob, "rowing")
	rules := sources.Rules{Groups: []sources.GroupRule{{Category: "oars", Group: "rowing"}}}
	s := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Mode: sources.Append, Settings: sources.Settings{Rules: rules}})
	other := w.add(ann, sources.New{Owner: "ann", Way: sources.File, Mode: sources.Append})
	list := items("entry", 8)
	for _, i := range []int{0, 1, 2, 5, 6} {
		list[i].Categories = []string{"oars"}
	}
	w.load(s.ID, 10, list[:5]...)
	w.load(other.ID, 10, items("entry", 8)[5:]...)
	_, err := w.posts.Posts.Edit(t.Context(), ann.ID, value[string](w, `SELECT p.code FROM source_items i JOIN posts p ON p.id = i.post_id WHERE i.external_id = 'entry-1'`), "my own words")
	w.must(err)
	_, err = w.posts.Groups.Block(t.Context(), bob.ID, "rowing", "ann")
	w.must(err)
	for _, it := range list[:4] {
		it.Title += ", and more of it"
	}
	list[2].Title = items("entry", 8)[2].Title
	list[2].Author = "only the hash is another one"

	rows := func() []string {
		return w.list(`SELECT p::text || p.xmax FROM posts p UNION ALL SELECT i::text || i.xmax FROM source_items i ORDER BY 1`)
	}
	said := func(l sources.Load) []string {
		t.Helper()
		troubles, err := w.sources.Troubles(t.Context(), l.ID, sources.Which{}, sources.FirstTrouble, 10)
		w.must(err)
		all := []string{fmt.Sprintf("%+v", l.Counts), fmt.Sprint(l.Codes)}
		for _, p := range troubles {
			all = append(all, fmt.Sprint(p.ExternalID, " ", p.Code, " ", p.Value))
		}
		return all
	}
	before := rows()
	w.dry = true
	preview := w.load(s.ID, 3, list...)
	w.dry = false
	w.same("rows after a preview", rows(), before)
	w.same("preview", said(preview), []string{
		fmt.Sprintf("%+v", sources.Counts{Added: 1, Changed: 1, Same: 1, Skipped: 5, Errors: 4, Warnings: 1}), "map[elsewhere:1 to_forbidden:4]",
		"entry-0 to_forbidden rowing", "entry-2 to_forbidden rowing", "entry-5 to_forbidden rowing", "entry-6 to_forbidden rowing", "entry-7 elsewhere file",
	})
	w.same("load", said(w.load(s.ID, 3, list...)), said(preview))
}

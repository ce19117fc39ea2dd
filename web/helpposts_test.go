package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"riverrun/timelines"
	"riverrun/timelines/drafts"
	"riverrun/timelines/files"
	"riverrun/timelines/listings"
	"riverrun/timelines/rules"
	"riverrun/timelines/sources"
	"riverrun/web"
	"riverrun/web/view"
	"riverrun/web/webtest"
)

// TestRulesHoldInForms: G6. Each rule that holds for a form is met by a form: its answer has the code of
// the row, and the text with the bound. A rule without an example here fails.
func TestRulesHoldInForms(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Server.SetLimits(web.Limits{Writes: 1000})
	ann, bob := s.Person("ann"), s.Person("bob")
	v, eve, nobody := ann.Visitor(), newcomer(s, "eve"), s.Visitor()
	nobody.Get("/posts/new")
	owner := bob.Visitor()
	owner.Post("/groups", "name", "closed-club", "title", "Club", "access", "private").Wants(303)
	owner.Post("/groups", "name", "boats", "title", "Boats", "access", "public").Wants(303)
	v.Post("/boats/follow")
	barred := ann.Post("In the club", "boats")
	owner.Post("/boats/block", "name", "ann").Wants(303)
	owner.Post("/groups", "name", "gate", "title", "Gate", "access", "public").Wants(303)
	bob.Act(func(ctx context.Context) (timelines.Change, error) {
		return s.Store.Groups.SetApproval(ctx, bob.Account.ID, "gate", true)
	})
	held := ann.Post("It waits", "gate")
	post := ann.Post("A post")
	for _, visitor := range []*webtest.Visitor{v, eve, nobody} {
		visitor.Header.Set("Accept", "application/json")
	}
	v.Post("/posts", "body", "first", "key", "used")
	v.Post("/p/"+post.Code+"/comments", "body", "first", "key", "used-too")
	for i := range drafts.Most {
		if _, err := s.Store.Drafts.Save(t.Context(), ann.Account.ID, drafts.Draft{Place: fmt.Sprintf("/p/%010d", i), Body: "x"}, 10, ""); err != nil {
			t.Fatal(err)
		}
	}
	var wide bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&wide, image.NewGray(image.Rect(0, 0, 20_001, 2_600))); err != nil {
		t.Fatal(err)
	}
	comment := func(pairs ...string) *webtest.Answer { return v.Post("/p/"+post.Code+"/comments", pairs...) }
	draft := func(pairs ...string) *webtest.Answer {
		return v.Post("/drafts", append(pairs, view.DraftField, "/p/0000000001")...)
	}
	file := func(name string, content []byte) *webtest.Answer {
		return v.PostFiles("/posts", []webtest.Upload{{Name: name, Content: content}}, "body", "x")
	}
	many := func(n int) []webtest.Upload {
		list := make([]webtest.Upload, n)
		for i := range list {
			list[i] = webtest.Upload{Name: fmt.Sprintf("%d.txt", i), Content: []byte{byte(i)}}
		}
		return list
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := s.DB.Primary.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	soon := time.Now().UTC().Add(time.Hour).Format(timelines.DueForm)
	later := func(pairs ...string) *webtest.Answer { return v.Post("/posts", append(pairs, "body", "a")...) }
	offer := func(pairs ...string) *webtest.Answer {
		return v.Post("/posts", append(pairs, "body", "a lamp", "to", "flea", "listing", "1")...)
	}
	offered := func() timelines.Change {
		t.Helper()
		c, err := s.Store.Posts.Create(t.Context(), timelines.NewPost{
			Author: ann.Account.ID, Body: "a lamp", To: []string{"flea"}, Listing: &listings.Fields{Currency: "EUR"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	market(s, ann, "public")
	lamp, closed := offered(), offered()
	if _, err := s.Store.Posts.Close(t.Context(), ann.Account.ID, closed.Code, listings.Sale{How: listings.Given}); err != nil {
		t.Fatal(err)
	}
	long := func(r rules.Rule) string { return strings.Repeat("я", r.Most+1) }
	crowd := make([]string, rules.ToMany.Most+1)
	for i := range crowd {
		crowd[i] = fmt.Sprintf("person-%d", i)
	}
	examples := map[string]func() *webtest.Answer{
		"post body_empty":       func() *webtest.Answer { return v.Post("/posts", "body", " \n") },
		"post body_long":        func() *webtest.Answer { return v.Post("/posts", "body", long(rules.PostLong)) },
		"post text_invalid":     func() *webtest.Answer { return v.Post("/posts", "body", "a\x00") },
		"post language_unknown": func() *webtest.Answer { return v.Post("/posts", "body", "a", "language", "xx") },
		"post key_long":         func() *webtest.Answer { return v.Post("/posts", "body", "a", "key", long(rules.KeyLong)) },
		"post key_used":         func() *webtest.Answer { return v.Post("/posts", "body", "second", "key", "used") },
		"post files_many":       func() *webtest.Answer { return v.PostFiles("/posts", many(21), "body", "a") },

		"post due_format":  func() *webtest.Answer { return later("due", "soon") },
		"post due_zone":    func() *webtest.Answer { return later("due", soon, "zone", "Mars/Olympus") },
		"post due_past":    func() *webtest.Answer { return later("due", "2020-01-01T12:00") },
		"post due_far":     func() *webtest.Answer { return later("due", "2999-01-01T12:00") },
		"post due_listing": func() *webtest.Answer { return offer("due", soon, "currency", "EUR") },
		"post scheduled_many": func() *webtest.Answer {
			exec(`INSERT INTO scheduled_posts (account_id, due_at, saved_at, code, zone, place, language, body, destinations, uploads)
				SELECT $1, now() + interval '1 hour', now(), 'c' || n, 'UTC', '/', '', 'x', '{}', '{}' FROM generate_series(1, $2::int) n`,
				ann.Account.ID, rules.ScheduledMany.Most)
			return later("due", soon)
		},

		"listing listing_place": func() *webtest.Answer {
			return v.Post("/posts", "body", "a", "listing", "1", "currency", "EUR", "to", "ann")
		},
		"listing price_format":      func() *webtest.Answer { return offer("currency", "EUR", "price", "a lot") },
		"listing price_range":       func() *webtest.Answer { return offer("currency", "EUR", "price", "1000000000") },
		"listing currency_unknown":  func() *webtest.Answer { return offer("currency", "QQQ") },
		"listing place_long":        func() *webtest.Answer { return offer("currency", "EUR", "place", long(rules.PlaceLong)) },
		"listing text_invalid":      func() *webtest.Answer { return offer("currency", "EUR", "place", "a\x00") },
		"listing condition_unknown": func() *webtest.Answer { return offer("currency", "EUR", "condition", "odd") },
		"listing until_format":      func() *webtest.Answer { return offer("currency", "EUR", "until", "tomorrow") },
		"listing until_past":        func() *webtest.Answer { return offer("currency", "EUR", "until", "2020-01-01") },
		"listing until_far":         func() *webtest.Answer { return offer("currency", "EUR", "until", "2999-01-01") },
		"listing listing_none":      func() *webtest.Answer { return v.Post("/p/" + post.Code + "/renew") },
		"listing listing_closed":    func() *webtest.Answer { return v.Post("/p/" + closed.Code + "/renew") },
		"listing how_unknown":       func() *webtest.Answer { return v.Post("/p/"+lamp.Code+"/close", "how", "lost") },
		"listing sold price_format": func() *webtest.Answer { return v.Post("/p/"+lamp.Code+"/close", "how", "sold", "sold", "a lot") },
		"listing sold price_range":  func() *webtest.Answer { return v.Post("/p/"+lamp.Code+"/close", "how", "sold", "sold", "1000000000") },
		"listing state_unknown":     func() *webtest.Answer { return v.Get("/flea?state=lost") },

		"comment body_empty":   func() *webtest.Answer { return comment("body", "\u200b") },
		"comment body_long":    func() *webtest.Answer { return comment("body", long(rules.CommentLong)) },
		"comment text_invalid": func() *webtest.Answer { return comment("body", "a\x00") },
		"comment key_long":     func() *webtest.Answer { return comment("body", "a", "key", long(rules.KeyLong)) },
		"comment key_used":     func() *webtest.Answer { return comment("body", "second", "key", "used-too") },
		"comment files_many": func() *webtest.Answer {
			return v.PostFiles("/p/"+post.Code+"/comments", many(5), "body", "a")
		},

		"draft text_invalid":     func() *webtest.Answer { return draft("body", "a\x00") },
		"draft language_unknown": func() *webtest.Answer { return draft("body", "a", "language", "xx") },
		"draft to_many":          func() *webtest.Answer { return draft("body", "a", "to", strings.Join(crowd, " ")) },
		"draft visitor_long": func() *webtest.Answer {
			return nobody.Post("/drafts", "body", long(rules.VisitorLong), view.DraftField, "/")
		},
		"draft drafts_many": func() *webtest.Answer { return v.Post("/drafts", "body", "a", view.DraftField, "/") },

		"destination to_many":      func() *webtest.Answer { return v.Post("/posts", "body", "a", "to", strings.Join(crowd, " ")) },
		"destination to_unknown":   func() *webtest.Answer { return v.Post("/posts", "body", "a", "to", "nobody-here") },
		"destination to_empty":     func() *webtest.Answer { return v.Post("/posts", "body", "a", "direct", "1") },
		"destination to_none":      func() *webtest.Answer { return v.Post("/p/"+post.Code+"/edit", "body", "a", "was", "ann", "to", "") },
		"destination to_eyes":      func() *webtest.Answer { return v.Post("/posts", "body", "a", "to", "~eyes", "to", "ann") },
		"destination to_forbidden": func() *webtest.Answer { return v.Post("/posts", "body", "a", "to", "closed-club") },
		"destination to_stranger":  func() *webtest.Answer { return eve.Post("/posts", "body", "a", "to", "bob", "direct", "1") },
		"destination to_approval": func() *webtest.Answer {
			return v.Post("/p/"+post.Code+"/edit", "body", "a", "was", "ann", "to", "gate")
		},
		"destination post_held": func() *webtest.Answer {
			return v.Post("/p/"+held.Code+"/edit", "body", "It waits", "was", "~eyes", "to", "ann")
		},
		"destination to_closed": func() *webtest.Answer { return v.Post("/p/"+barred.Code+"/edit", "body", "changed") },

		"file files_many":   func() *webtest.Answer { return v.PostFiles("/posts", many(21), "body", "a") },
		"file file_large":   func() *webtest.Answer { return file("huge.bin", make([]byte, 10_000_001)) },
		"file file_empty":   func() *webtest.Answer { return file("empty.txt", nil) },
		"file file_pixels":  func() *webtest.Answer { return file("wide.png", wide.Bytes()) },
		"file file_damaged": func() *webtest.Answer { return file("cut.jpg", []byte("\xff\xd8\xff\xe0\x00\x10JFIF")) },
		"file file_form": func() *webtest.Answer {
			return file("odd.jpg", []byte("\xff\xd8\xff\xc9\x00\x0b\x08\x00\x08\x00\x08\x01\x01\x11\x00"))
		},
		"file file_unknown": func() *webtest.Answer { return v.Post("/posts", "body", "a", "upload", "0000000000") },
		"file alt_long": func() *webtest.Answer {
			return v.Post("/posts", "body", "a", "upload", "0000000000", "alt.0000000000", long(rules.AltLong))
		},
		"file files_loose": func() *webtest.Answer {
			exec(`
				INSERT INTO files (owner_id, code, state, bytes, name, sum)
				SELECT $1, 'zz' || translate(lpad(n::text, 8, '0'), 'ilou', ''), 'download', 1, 'x', sha256('x') FROM generate_series(1, $2::int) n`,
				ann.Account.ID, files.Loose)
			a := file("one.txt", []byte("one"))
			exec(`DELETE FROM files WHERE code LIKE 'zz%'`)
			return a
		},

		"account title_long": func() *webtest.Answer { return v.Post("/settings", "title", long(rules.TitleLong)) },
		"account body_long":  func() *webtest.Answer { return v.Post("/settings", "title", "Ann", "about", long(rules.AboutLong)) },
		"account file_picture": func() *webtest.Answer {
			return v.PostFiles("/settings", []webtest.Upload{{Name: "notes.txt", Content: []byte("no")}}, "title", "Ann")
		},
	}
	set := map[string]int{rules.SetFileSize: 10, rules.SetPostFiles: 20, rules.SetCommentFiles: 4}
	met := 0
	for _, of := range rules.Things {
		if of == rules.Item { // items have no form
			continue
		}
		for _, r := range rules.For(of) {
			name := string(of) + " " + r.Code
			if r.Field == rules.SoldFormat.Field {
				name = "listing sold " + r.Code // as of the price that a listing asks for
			}
			example, ok := examples[name]
			if !ok {
				t.Errorf("no form breaks %q", name)
				continue
			}
			met++
			var said struct{ Field, Code, Error string }
			a := example()
			if r.Field == rules.StateUnknown.Field { // a filter, which answers with its page
				a.Wants(400).Has(view.InvalidText(view.LocaleOf("en"), r.Broken("")))
				continue
			}
			if err := json.Unmarshal([]byte(a.Body), &said); err != nil || a.Status != 422 || said.Code != r.Code || said.Field != r.Field {
				t.Errorf("%s: %d %.300s, want 422 with the field %q and the code %s", name, a.Status, a.Body, r.Field, r.Code)
				continue
			}
			if r.Set != "" {
				r = r.With(set[r.Set])
			}
			want := view.InvalidText(view.LocaleOf("en"), r.Broken("…"))
			for part := range strings.SplitSeq(want, "…") { // around the value
				if !strings.Contains(said.Error, part) {
					t.Errorf("%s says %q, want %q", name, said.Error, want)
				}
			}
		}
	}
	if met != len(examples) {
		t.Errorf("%d of %d examples are of rules of forms", met, len(examples))
	}
}

// ruleItems are items that break each rule of items, as lines of NDJSON.
func ruleItems() map[string]string {
	fill := func(n int) string { return strings.Repeat("я", n) }
	line := func(fields map[string]any) string {
		if _, ok := fields["id"]; !ok {
			fields["id"] = fmt.Sprint(len(fields), fields["title"])
		}
		b, err := json.Marshal(fields)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	addresses := func(n, long int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("https://a.example/%d%s", i, strings.Repeat("(", long))
		}
		return list
	}
	with := func(code, field string, value any) string {
		return line(map[string]any{"id": code, "title": code, field: value})
	}
	return map[string]string{
		"id_missing":             `{"title":"a"}`,
		"id_long":                line(map[string]any{"id": strings.Repeat("x", rules.ItemIDLong.Most+1), "title": "a"}),
		"id_control":             line(map[string]any{"id": "a\u0001b", "title": "a"}),
		"id_repeated":            with("twice", "text", "a") + "\n" + with("twice", "text", "b"),
		"title_and_text_missing": line(map[string]any{"id": "nothing", "title": "\u3164"}),
		"title_long":             with("title_long", "title", fill(rules.ItemTitle.Most+1)),
		"text_long":              with("text_long", "text", fill(rules.ItemText.Most+1)),
		"url_invalid":            with("url_invalid", "url", "ftp://a.example/"),
		"url_long":               with("url_long", "url", "https://a.example/"+strings.Repeat("x", rules.ItemURLLong.Most)),
		"date_invalid":           with("date_invalid", "date", "soon"),
		"date_future":            with("date_future", "date", "2999-01-01"),
		"date_old":               with("date_old", "date", "1960-01-01"),
		"author_long":            with("author_long", "author", fill(rules.ItemAuthor.Most+1)),
		"language_unknown":       with("language_unknown", "language", "no such one"),
		"category_long":          with("category_long", "categories", []string{fill(rules.ItemCategoryLong.Most + 1)}),
		"category_many":          with("category_many", "categories", addresses(rules.ItemCategoryMany.Most+1, 0)),
		"place_invalid":          with("place_invalid", "place", fill(rules.ItemPlace.Most+1)),
		"picture_invalid":        with("picture_invalid", "pictures", []string{"ftp://a.example/a.png"}),
		"picture_many":           with("picture_many", "pictures", addresses(rules.ItemPictureMany.Most+1, 0)),
		"file_invalid":           with("file_invalid", "files", []string{"ftp://a.example/a.mp3"}),
		"file_many":              with("file_many", "files", addresses(rules.ItemFileMany.Most+1, 0)),
		"body_long":              with("body_long", "files", addresses(rules.ItemFileMany.Most, 2000)),
		"to_forbidden":           with("to_forbidden", "categories", []string{"Boats"}),
	}
}

// TestRulesHoldForItems: G6. Each rule that holds for items gives its code to an item that is pushed and
// to the same item in a file, with the effect that the row names.
func TestRulesHoldForItems(t *testing.T) {
	t.Parallel()
	f := newFlow(t)
	ann, bob := f.Person("ann"), f.Person("bob")
	owner := bob.Visitor()
	owner.Post("/groups", "name", "boats", "title", "Boats", "access", "public").Wants(303)
	v := ann.Visitor()
	v.Post("/boats/follow")
	settings := sources.Settings{Rules: sources.Rules{Text: sources.TextWhole, Groups: []sources.GroupRule{{Category: "Boats", Group: "boats"}}}}
	p := newPusher(f.Site, ann, sources.New{Title: "Pushed", Settings: settings})
	p.base = strings.TrimSuffix(p.base, "/loads")
	byFile, err := p.store.Add(t.Context(), ann.Account.ID, sources.New{Title: "File", Owner: "ann", Way: sources.File, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	owner.Post("/boats/block", "name", "ann").Wants(303)

	items := ruleItems()
	var file []string
	for _, r := range rules.For(rules.Item) {
		lines, ok := items[r.Code]
		if !ok || r.Ways&rules.Items != rules.Items {
			t.Errorf("no item breaks %s, which holds by %b", r.Code, r.Ways)
			continue
		}
		file = append(file, lines)
		var said struct{ Results []sources.Result }
		if err := json.Unmarshal([]byte(p.wants(200, "POST", "/items", lines)), &said); err != nil || len(said.Results) == 0 {
			t.Fatal(err)
		}
		last := said.Results[len(said.Results)-1]
		if got := string(slices.Concat(last.Codes)[0]); len(last.Codes) != 1 || got != r.Code {
			t.Errorf("%s: an item that is pushed has the codes %v", r.Code, last.Codes)
		}
		if rejected := last.Result == sources.ResultRejected; rejected != (r.AtSource == rules.Refused) {
			t.Errorf("%s: an item that is pushed is %s, and the rule says %s", r.Code, last.Result, r.AtSource)
		}
	}
	if len(items) != len(rules.For(rules.Item)) {
		t.Errorf("%d items for %d rules", len(items), len(rules.For(rules.Item)))
	}

	at := "/sources/" + byFile.Code
	v.PostFiles(at+"/file", upload("file", "rules.ndjson", strings.Join(file, "\n")+"\n")).LeadsTo(at)
	f.work()
	for _, l := range view.Locales {
		v.Header.Set("Accept-Language", l.Lang)
		page := v.Get(at + "/loads/1.csv").Wants(200)
		for _, r := range rules.For(rules.Item) {
			what, _ := view.ProblemText(l, r.Code)
			page.Has(","+r.Code+",", what)
		}
	}
}

// TestPostHelp: G6. The page of what a post can have is made from the table, in both languages.
func TestPostHelp(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	nobody := s.Visitor()
	for lang, words := range map[string][]string{
		"en": {"What a post can have", "At most 100,000 characters.", "At most 10 MB each.", "From 0 to 999,999,999.99.", "JPEG, PNG, GIF, WebP", "is posted with what fits"},
		"ru": {"Что может быть в записи", "Не больше 100\u00a0000 знаков.", "Не больше 10 МБ каждый.", "От 0 до 999\u00a0999\u00a0999,99.", "Публикуется то, что помещается"},
	} {
		nobody.Header.Set("Accept-Language", lang)
		page := nobody.Get(view.PostHelpPath).Wants(200).Has(words...)
		if _, main, _ := strings.Cut(page.Body, "<main"); strings.Contains(main, "{") || strings.Contains(main, "posthelp.") {
			t.Errorf("%s: a text is not filled in:\n%s", lang, main)
		}
		for _, of := range rules.Things {
			page.Has(`id="` + string(of) + `"`)
		}
		for _, r := range rules.Table {
			page.Has("<code>" + r.Code + "</code>")
			for _, l := range view.Locales {
				if _, ok := l.Texts["invalid."+r.Code]; !ok && r.Ways&rules.Form != 0 {
					t.Errorf("%s has no text in %s", r.Code, l.Lang)
				}
			}
		}
		nobody.Get("/help/feeds").Has(`href="` + view.PostHelpPath + `#item"`)
	}
	s.Person("ann").Visitor().Get("/posts/new").Has(`href="`+view.PostHelpPath+`"`, `maxlength="`+rules.PostLong.Maxlength()+`"`)
	if rules.PostLong.Most != timelines.MaxPostRunes {
		t.Error("two bounds of a post")
	}
}

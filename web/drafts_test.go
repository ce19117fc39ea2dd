package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"riverrun/web/webtest"
)

// TestDraftsOfTwoDevices: a form touches only the draft that it has. Without scripts, what another
// device keeps is there in no form, so it is neither removed nor replaced unseen.
func TestDraftsOfTwoDevices(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	phone, desk := ann.Visitor(), ann.Visitor()
	code := bob.Post("words of bob").Code
	for place, send := range map[string]string{"/": "/posts", "/p/" + code: "/p/" + code + "/comments"} {
		phone.Post("/drafts", "draft", place, "body", "a long essay").Wants(303)
		desk.Get(place).Wants(200).Has(`<input type="hidden" name="saved" value="">`)
		desk.Post(send, "draft", place, "saved", "", "body", "just a note").Wants(303)
		desk.Post(send, "draft", place, "saved", "junk", "body", "a second note").Wants(303)
		desk.Post("/drafts", "draft", place, "saved", "", "body", " ").Wants(303)
		desk.Post("/drafts/discard", "draft", place, "saved", "").Wants(303)
		// Kept by the button, it says that there is another, and shows it beside the text.
		answer := desk.Post(send, "keep", "1", "draft", place, "saved", "", "body", "just a thought").Wants(409).
			Has("a long essay", "just a thought", "There is a newer draft", `name="saved" value=""`)
		was := savedAt(desk, place)
		if draftAt(desk, place).Body != "a long essay" {
			t.Fatalf("the draft of %s is %+v", place, draftAt(desk, place))
		}
		// Sent from there, the newer one stays. Kept again, it is replaced, and then it goes.
		desk.Post(send, "draft", place, "saved", "", "body", "a third note").Wants(303)
		answer.Has(`name="keep" value="` + was + `"`)
		desk.Post(send, "keep", was, "draft", place, "saved", "", "body", "just a thought").LeadsTo("/drafts")
		desk.Get("/drafts/edit?place="+url.QueryEscape(place)).Wants(200).Has("just a thought", `name="saved" value="`+savedAt(desk, place)+`"`)
		desk.Get("/drafts").Wants(200).Has("just a thought", `name="saved" value="`+savedAt(desk, place)+`"`)
		phone.Post(send, "draft", place, "saved", was, "body", "a long essay").Wants(303)
		if got := draftAt(desk, place).Body; got != "just a thought" {
			t.Errorf("what an older form left of %s is %q", place, got)
		}
		desk.Post(send, "draft", place, "saved", savedAt(desk, place), "body", "just a thought").Wants(303)
		if got := draftAt(desk, place).Body; got != "" {
			t.Errorf("what was sent from %s is still there: %q", place, got)
		}
	}
	phone.Post("/drafts", "draft", "/", "body", "a long essay").Wants(303)
	desk.Get("/posts/new").Wants(200).Has("a long essay", `name="saved" value="`+savedAt(desk, "/")+`"`)
	desk.Post("/posts", "draft", "/", "saved", savedAt(desk, "/"), "body", "x", "to", "nobody-there").Wants(422).Has(`name="saved" value="` + savedAt(desk, "/") + `"`)
	// A script is told the same.
	desk.Header.Set("Accept", "application/json")
	desk.Post("/drafts", "draft", "/", "saved", "17", "body", "other words").Wants(409).Has(`{"t":"newer","saved":"` + savedAt(desk, "/") + `","body":"a long essay"}`)
	answer := desk.Post("/drafts", "draft", "/", "saved", savedAt(desk, "/"), "body", "other words").Wants(200)
	answer.Has(`{"t":"done","saved":"` + savedAt(desk, "/") + `"}`)
	desk.Post("/drafts", "draft", "/", "saved", savedAt(desk, "/"), "body", "").Wants(200).Has(`{"t":"done","saved":""}`)
}

// savedAt names the draft of a place as forms do, "" if there is none.
func savedAt(v *webtest.Visitor, place string) string { return draftAt(v, place).Saved }

// draft is what river.js gets of a draft.
type draft struct {
	Body, Language string
	To, Uploads    []string
	Saved          string
}

func draftAt(v *webtest.Visitor, place string) (d draft) {
	v.T.Helper()
	was := v.Header
	defer func() { v.Header = was }()
	v.Header = http.Header{"Accept": {"application/json"}}
	a := v.Get("/drafts?place=" + url.QueryEscape(place)).Wants(200)
	if err := json.Unmarshal([]byte(a.Body), &d); err != nil {
		v.T.Fatalf("%s: %v", a.Body, err)
	}
	return d
}

// A draft is a form that was not sent: without scripts it is kept by a button, stands in a
// list, goes on where it was left, and goes when it is sent or discarded.
func TestDraftsWithoutScripts(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Visitor().Post("/groups", "name", "chess-club", "title", "Chess Club", "access", "public").Wants(303)
	v := ann.Visitor()
	v.Get("/drafts").Wants(200).Has("You have no drafts")
	v.Get("/posts/new").Wants(200).Has(`name="draft" value="/"`, `name="keep"`)
	v.PostFiles("/posts", []webtest.Upload{{Name: "notes.txt", Content: []byte("notes")}},
		"keep", "1", "draft", "/", "body", "half a <thought>", "to", "chess-club", "to", "bob, cat", "language", "ru").LeadsTo("/drafts")
	var code string
	if err := s.DB.Primary.QueryRow(t.Context(), `SELECT code FROM files`).Scan(&code); err != nil {
		t.Fatal(err)
	}
	want := draft{"half a <thought>", "ru", []string{"chess-club", "bob", "cat"}, []string{code}, savedAt(v, "/")}
	if d := cmp.Diff(want, draftAt(v, "/")); d != "" {
		t.Errorf("the draft (-kept +found):\n%s", d)
	}
	v.Get("/drafts").Wants(200).Has("half a &lt;thought&gt;", "/drafts/edit?place=%2F")
	for _, address := range []string{"/posts/new", "/drafts/edit?place=%2F"} {
		v.Get(address).Wants(200).Has("half a &lt;thought&gt;", `value="bob cat"`, `value="chess-club" checked`, `value="ru" lang="ru" selected`, `name="upload" value="`+code+`"`, "notes.txt")
	}
	// It does not go with a form that is refused, nor with another's, and goes with its own.
	v.Post("/posts", "draft", "/", "body", "half a <thought>", "to", "nobody-there").Wants(422).Has(`name="draft" value="/"`, `name="keep"`)
	bob.Visitor().Post("/posts", "draft", "/", "body", "of bob").Wants(303)
	if draftAt(v, "/").Body == "" {
		t.Error("the draft went with a form that made nothing of it")
	}
	v.Post("/posts", "draft", "/", "saved", savedAt(v, "/"), "body", "a whole thought").Wants(303)
	if d := draftAt(v, "/"); d.Body != "" {
		t.Errorf("the draft of a post that was sent is still there: %+v", d)
	}
	v.Get("/drafts/edit?place=%2F").Wants(404)

	// A comment.
	code = bob.Post("words of bob").Code
	v.Get("/p/" + code).Wants(200).Has(`name="draft" value="/p/` + code + `"`)
	v.Post("/p/"+code+"/comments", "keep", "1", "draft", "/p/"+code, "body", "half a comment").LeadsTo("/drafts")
	v.Get("/drafts").Wants(200).Has("Comment on bob: words of bob", "half a comment")
	v.Get("/drafts/edit?place=%2Fp%2F"+code).Wants(200).Has("half a comment", `action="/p/`+code+`/comments"`)
	v.Post("/p/"+code+"/comments", "draft", "/p/"+code, "saved", savedAt(v, "/p/"+code), "body", "a whole comment").Wants(303)
	v.Get("/drafts").Wants(200).Lacks("half a comment")

	v.Post("/drafts", "draft", "/filter/messages?to=bob", "body", "psst", "to", "bob").LeadsTo("/drafts")
	v.Get("/drafts").Wants(200).Has("Message to @bob")
	v.Get("/drafts/edit?place=%2Ffilter%2Fmessages%3Fto%3Dbob").Wants(200).Has("psst", `name="direct"`, `value="bob"`)
	v.Get("/filter/messages?to=bob").Wants(200).Has(`name="draft" value="/filter/messages?to=bob"`)
	v.Post("/drafts/discard", "draft", "/filter/messages?to=bob", "saved", savedAt(v, "/filter/messages?to=bob")).LeadsTo("/drafts")
	v.Get("/drafts").Wants(200).Lacks("psst")
}

// A request that no form of ours sends is refused, with an answer that says why.
func TestDraftsRefused(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	v := ann.Visitor()
	v.Post("/drafts", "draft", "/settings/../x", "body", "x").Wants(400)
	v.Post("/drafts", "body", "x").Wants(400)
	v.Post("/drafts", "draft", "/p/0123456789", "body", strings.Repeat("x", 20_001)).Wants(422).Has("20,000")
	v.Post("/drafts", "draft", "/", "body", strings.Repeat("x", 20_001)).Wants(303)
	v.Post("/drafts", "draft", "/", "body", "a\x00b").Wants(422).Has("characters that can’t be saved")
	v.Post("/drafts", "draft", "/", "body", "x", "viewer", "bob").Wants(409)
	s.Visitor().Get("/drafts").LeadsTo("/login?back=%2Fdrafts")
	s.Visitor().Post("/drafts", "draft", "/", "body", "typed before signing in").Wants(401).Has("typed before signing in")
}

// Nobody but its author finds a draft, and one about a post that was closed meanwhile says
// nothing of the post.
func TestDraftsAreTheirAuthors(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	open := bob.Post("zqopen words").Code
	closing := bob.Post("zqsecret words").Code
	v := ann.Visitor()
	for _, code := range []string{open, closing} {
		v.Post("/drafts", "draft", "/p/"+code, "body", "my own words").Wants(303)
		v.Get("/drafts/edit?place=%2Fp%2F"+code).Wants(200).Has("my own words", "/comments")
	}
	v.Get("/drafts").Wants(200).Has("zqopen", "zqsecret")
	other := bob.Visitor()
	other.Get("/drafts").Wants(200).Lacks("my own words")
	other.Get("/drafts/edit?place=%2Fp%2F" + open).Wants(404)
	if d := draftAt(other, "/p/"+open); d.Body != "" {
		t.Errorf("bob got %+v", d)
	}
	other.Post("/drafts/discard", "draft", "/p/"+open).Wants(303)
	other.Post("/drafts", "draft", "/p/"+open, "body", "of bob").Wants(303)
	if d := draftAt(v, "/p/"+open); d.Body != "my own words" {
		t.Errorf("after bob tried, ann has %+v", d)
	}

	other.Post("/p/"+closing+"/edit", "body", "zqsecret words", "to", "~eyes", "was", "bob").Wants(303)
	list := v.Get("/drafts").Wants(200).Has("zqopen", "my own words", "see any more").Lacks("zqsecret")
	if strings.Count(list.Body, "my own words") < 2 {
		t.Error("the text about the closed post is gone")
	}
	v.Get("/drafts/edit?place=%2Fp%2F"+closing).Wants(200).Has("my own words").Lacks("zqsecret", "/comments", "bob")
	// Text typed while it closes is kept all the same.
	v.Post("/drafts", "draft", "/p/"+closing, "saved", savedAt(v, "/p/"+closing), "body", "my own words, and more").Wants(303)
	if d := draftAt(v, "/p/"+closing); d.Body != "my own words, and more" {
		t.Errorf("the draft is %+v", d)
	}
}

// G3: from a form that has a draft an empty one is reached. The draft, with what the form had, is put aside
// and opened again from the list; it is not the current one any more.
func TestStartsAnother(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann := s.Person("ann")
	market(s, ann, "public")
	v := ann.Visitor()
	const button = `value="another"`
	v.Get("/posts/new").Lacks(button)
	for _, tt := range []struct{ place, form, list string }{
		{"/", "/posts/new?place=%2F", "New post"},
		{"/flea", "/posts/new?place=%2Fflea", "Post to"},
		{"/flea?listing", "/posts/new?listing=1&to=flea", "Listing in"},
		{"/filter/only-me", "/filter/only-me", "Only you"},
	} {
		words := "words of " + tt.place
		fields := []string{"draft", tt.place, "body", words}
		if tt.place == "/flea?listing" {
			fields = append(fields, "listing", "1", "price", "7")
		}
		v.Post("/posts", append(fields, "keep", "1")...).LeadsTo("/drafts")
		v.Get("/drafts/edit?place="+url.QueryEscape(tt.place)).Has(words, button)
		v.Post("/posts", append(fields, "keep", "another", "saved", savedAt(v, tt.place), "body", words+", and more")...).LeadsTo(tt.form)
		v.Get(tt.form).Wants(200).Lacks(words)
		v.Get("/posts/new").Lacks(words)
		if got := draftAt(v, tt.place); got.Body != "" {
			t.Errorf("%s has %q", tt.place, got.Body)
		}
		v.Get("/drafts").Has(words, "Put aside").Lacks("Current")
	}
	// Words of another tab are never put aside unseen, and no words make no draft.
	v.Post("/posts", "keep", "1", "draft", "/", "body", "another tab").Wants(303)
	v.Post("/posts", "keep", "another", "draft", "/", "saved", "", "body", "this tab").Wants(409).Has("another tab", "this tab").Lacks(button)
	v.Post("/posts", "keep", "another", "draft", "/", "saved", savedAt(v, "/"), "body", " ").LeadsTo("/posts/new?place=%2F")
	v.Get("/drafts").Lacks("another tab", "this tab", "Current")
}

// The same for somebody who is not signed in. A draft that was put aside comes along when they sign in.
func TestVisitorStartsAnother(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	s.Person("ann")
	v, other := s.Visitor(), s.Visitor()
	saved := func() string {
		t.Helper()
		_, after, _ := strings.Cut(v.Get("/posts/new").Wants(200).Body, `name="saved" value="`)
		value, _, _ := strings.Cut(after, `"`)
		return value
	}
	if is := saved(); is != "" {
		t.Fatalf("an empty form has the draft %q", is)
	}
	v.Get("/posts/new").Lacks(`value="another"`)
	v.Post("/posts/new", "keep", "1", "draft", "/", "saved", "", "body", "first words").Wants(303)
	v.Get("/posts/new").Has(`value="another"`)
	v.Post("/posts/new", "keep", "another", "draft", "/", "saved", saved(), "body", "first words, and more").LeadsTo("/posts/new?place=%2F")
	page := v.Get("/posts/new?place=%2F").Wants(200).Has("first words, and more", "/drafts/open", `name="saved" value=""`).Lacks(`value="another"`)
	_, after, _ := strings.Cut(page.Body, `action="/drafts/open"`)
	_, after, _ = strings.Cut(after, `name="saved" value="`)
	aside, _, _ := strings.Cut(after, `"`)
	v.Post("/posts/new", "keep", "1", "draft", "/", "saved", "", "body", "second words").Wants(303)
	// A tab that still has the draft goes on with it where it is.
	v.Header.Set("Accept", "application/json")
	answer := v.Post("/drafts", "draft", "/", "saved", aside, "body", "first words, whole").Wants(200)
	v.Header.Del("Accept")
	_, after, _ = strings.Cut(answer.Body, `"saved":"`)
	aside, _, _ = strings.Cut(after, `"`)
	if n := visitorRows(s); n != 2 {
		t.Errorf("%d drafts are kept, want 2", n)
	}
	other.Get("/posts/new")
	other.Post("/drafts/open", "draft", "/", "saved", aside).Wants(404)
	v.Post("/drafts/open", "draft", "/", "saved", "1").Wants(404)
	v.Post("/drafts/open", "draft", "/p/0123456789", "saved", aside).Wants(404)
	v.Post("/drafts/open", "draft", "/", "saved", aside).LeadsTo("/posts/new?place=%2F")
	v.Get("/posts/new").Has(">first words, whole</textarea>", "second words")
	v.Post("/login", "username", "ann", "password", webtest.Password, "back", "/posts/new?place=%2F").Wants(303)
	v.Get("/posts/new").Has(">first words, whole</textarea>").Lacks("second words")
	v.Get("/drafts").Has("first words, whole", "second words", "Put aside")
}

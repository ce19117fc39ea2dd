package web_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"riverrun/web/view"
	"riverrun/web/webtest"
)

// formTo returns what a browser sends with the form of that action, untouched.
func formTo(a *webtest.Answer, action string) url.Values {
	a.T.Helper()
	page, err := html.Parse(strings.NewReader(a.Body))
	if err != nil {
		a.T.Fatal(err)
	}
	attr := func(n *html.Node, name string) (string, bool) {
		for _, at := range n.Attr {
			if at.Key == name {
				return at.Val, true
			}
		}
		return "", false
	}
	var sent url.Values
	for form := range page.Descendants() {
		if to, _ := attr(form, "action"); form.Data != "form" || to != action {
			continue
		}
		sent = url.Values{}
		for n := range form.Descendants() {
			name, ok := attr(n, "name")
			if !ok {
				continue
			}
			value, _ := attr(n, "value")
			kind, _ := attr(n, "type")
			_, checked := attr(n, "checked")
			switch {
			case n.Data == "textarea":
				value = ""
				for text := range n.Descendants() {
					value += text.Data
				}
			case n.Data == "select":
				for option := range n.Descendants() {
					if _, chosen := attr(option, "selected"); chosen {
						value, _ = attr(option, "value")
					}
				}
			case kind == "checkbox" && !checked, n.Data == "button": // another one is pressed
				continue
			}
			sent.Add(name, value)
		}
	}
	if sent == nil {
		a.T.Fatalf("%s: no form that goes to %s in\n%s", a.What, action, a.Body)
	}
	return sent
}

// send sends the form of that action, with some fields filled in.
func send(v *webtest.Visitor, from *webtest.Answer, action string, pairs ...string) *webtest.Answer {
	v.T.Helper()
	form := formTo(from, action)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.Do("POST", action, form)
}

// ended returns a browser of the person in which a session ended elsewhere.
func ended(p *webtest.Person) *webtest.Visitor {
	p.Site.T.Helper()
	token, _, err := p.Site.Store.Accounts.SignIn(p.Site.T.Context(), p.Account.Name, webtest.Password)
	if err != nil {
		p.Site.T.Fatal(err)
	}
	other := *p
	other.Token = token
	v := other.Visitor()
	other.Visitor().Post("/logout").LeadsTo("/")
	return v
}

// TestBlockedTextIsKept: whom a group blocks is offered no box, and one that was
// offered before loses nothing.
func TestBlockedTextIsKept(t *testing.T) {
	s := webtest.New(t, nil)
	anna, bob := s.Person("anna").Visitor(), s.Person("bob").Visitor()
	anna.Post("/groups", "access", "public", "name", "chess-club", "title", "Chess Club").LeadsTo("/chess-club")
	anna.Post("/posts", "body", "In the club", "to", "chess-club").LeadsTo("/")
	inside := anna.Get("/chess-club").Code()
	anna.Post("/posts", "body", "Here and there", "to", "chess-club", "to", "anna", "back", "/anna").LeadsTo("/anna")
	both := anna.Get("/anna").Code()
	bob.Get("/p/" + inside).Has(`/comments" data-live`)
	anna.Post("/chess-club/block", "name", "bob").Wants(303)

	bob.Get("/p/"+inside).Wants(200).Has("In the club", "blocked you from writing").Lacks(`/comments" data-live`)
	bob.Get("/chess-club").Wants(200).Has(`class="open" href="/p/` + both).Lacks(`class="open" href="/p/` + inside)
	bob.Get("/p/" + both).Wants(200).Has(`/comments" data-live`).Lacks("blocked you from writing")
	anna.Get("/p/" + inside).Has(`/comments" data-live`)

	at := "/p/" + inside + "/comments"
	refused := bob.Post(at, "body", "Long thought over", "key", "k1", "back", "/chess-club").Wants(403).Has("blocked you from writing")
	anna.Post("/chess-club/unblock", "name", "bob").Wants(303)
	send(bob, refused, at).LeadsTo("/chess-club")
	bob.Get("/p/"+inside).Has("Long thought over", `/comments" data-live`)
}

// TestTextOfARefusedForm checks that a page that refuses a form gives back the words
// that were typed, whatever it was about.
func TestTextOfARefusedForm(t *testing.T) {
	s := webtest.New(t, nil)
	annas := s.Person("anna")
	anna, bob := annas.Visitor(), s.Person("bob").Visitor()
	gone := annas.Post("Soon gone").Code
	said := annas.Comment(gone, "So it is")
	annas.Remove(gone)
	const text = "Long <thought> over"
	const shown = `readonly>Long &lt;thought&gt; over</textarea>`
	for address, status := range map[string]int{
		"/p/" + gone + "/comments":                            404,
		"/p/" + gone + "/edit":                                404,
		string(view.CommentURL(gone, said.CommentID, "edit")): 404,
		"/p/0000000000/comments":                              404,
		"/p/" + annas.Post("Not theirs").Code + "/edit":       403,
	} {
		a := bob.Post(address, "body", text).Wants(status).Has(shown)
		if strings.Contains(a.Header.Get("Location"), "thought") {
			t.Errorf("%s: leads to %s", address, a.Header.Get("Location"))
		}
	}
	bob.Post("/p/"+gone+"/comments", "body", " ").Wants(422)
	bob.Post("/p/" + gone + "/like").Wants(404).Lacks("<textarea")
	anna.Header.Set("Accept", "application/json")
	anna.Post("/p/"+gone+"/comments", "body", text).Wants(404).Lacks("thought")
	// Nothing of a form from another site is shown.
	bob.Header.Set("Origin", "https://elsewhere.example")
	bob.Post("/p/"+gone+"/comments", "body", text).Wants(403).Lacks("thought")
}

// TestTextOutlivesTheSession sends forms after the session ended: the sign-in page has
// all of each, and after it the form is there again, for the person who signed in to
// send.
func TestTextOutlivesTheSession(t *testing.T) {
	s := webtest.New(t, nil)
	bobs := s.Person("bob")
	post, mine := s.Person("anna").Post("To comment on").Code, bobs.Post("Before").Code
	said := string(view.CommentURL(post, bobs.Comment(post, "So it was").CommentID, "edit"))
	for i, tt := range []struct {
		address string
		fields  []string
		page    string
	}{
		{"/posts", []string{"to", "anna", "direct", "1", "key", "k1"}, "/filter/messages"},
		{"/posts", []string{"to", "bob/private", "to", "anna", "language", "ru", "key", "k2"}, "/bob/private"},
		{"/p/" + post + "/comments", []string{"key", "k3"}, "/p/" + post},
		{"/p/" + mine + "/edit", []string{"language", "en"}, "/p/" + mine},
		{said, nil, "/p/" + post},
	} {
		text := "Long <thought> over " + strconv.Itoa(i)
		seen := html.EscapeString(text)
		shown := ">" + seen + "</textarea>"
		v := ended(bobs)
		asked := v.Post(tt.address, append(tt.fields, "body", text, "back", tt.page)...).Wants(401).Has(shown, "not signed in")
		send(v, asked, tt.address, "username", "bob", "password", "wrong one").Wants(422).Has(shown, "Wrong username or password", `value="bob"`).Lacks("wrong one")
		again := send(v, asked, tt.address, "username", " Bob", "password", "a long enough one").Wants(200).Has(shown, "You’re signed in")
		again.Lacks(`name="password"`, "a long enough one")
		v.Get(tt.page).Wants(200).Lacks(seen)
		// Loaded again it is what it was.
		send(v, asked, tt.address, "username", "bob", "password", "a long enough one").Wants(200).Has(shown)
		send(v, again, tt.address).LeadsTo(tt.page)
		v.Get(tt.page).Wants(200).Has(seen)
	}
	// A form without a text leads to the sign-in page as ever.
	v := ended(bobs)
	v.Post("/p/" + post + "/like").LeadsTo("/login?back=%2F")
	v.Post("/p/"+post+"/comments", "body", " ").LeadsTo("/login?back=%2F")

	// A form that is not shown again is not done either.
	bobs.Visitor().Post("/p/"+post+"/like", "resume", "1").Wants(400)

	// Nor is what comes from a page that was made for somebody else, and it is told so.
	other := bobs.Visitor()
	for _, address := range []string{"/p/" + post + "/like", "/p/" + post + "/comments", "/p/" + mine + "/delete", "/posts", "/anna/ban"} {
		other.Post(address, "viewer", "anna", "body", "From anna's page", "key", "k9", "to", "bob").Wants(409).
			Has("Someone else", "readonly>From anna&#39;s page</textarea>")
	}
	other.Get("/").Wants(200).Has(mine).Lacks("From anna")
	other.Get("/p/"+post).Wants(200).Lacks("From anna", "/unlike")
	other.Post("/p/"+post+"/like", "viewer", "bob").LeadsTo("/p/" + post)
	other.Get("/p/" + post).Wants(200).Has("/unlike")
	other.Post("/logout", "viewer", "anna").Wants(409)
	other.Get("/settings").Wants(200)
	// A form that is shown again is anybody's who signs in.
	asked := v.Post("/p/"+post+"/comments", "body", "Who says it", "viewer", "anna", "key", "k8").Wants(401).Lacks(`name="viewer"`)
	send(v, asked, "/p/"+post+"/comments", "username", "bob", "password", "a long enough one").Wants(200).Has("You’re signed in")
	v = ended(bobs)

	// Someone else signs in: what they may not do stays undone, and the text is there.
	asked = v.Post("/p/"+mine+"/edit", "body", "Theirs").Wants(401)
	send(v, asked, "/p/"+mine+"/edit", "username", "anna", "password", "a long enough one").Wants(403).Has("readonly>Theirs</textarea>")
}

package web

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"riverrun/web/view"

	"golang.org/x/net/html"
)

// form returns what a browser sends with the form of that action, untouched.
func (a *answer) form(action string) url.Values {
	a.t.Helper()
	page, err := html.Parse(strings.NewReader(a.body))
	if err != nil {
		a.t.Fatal(err)
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
			case kind == "checkbox" && !checked:
				continue
			}
			sent.Add(name, value)
		}
	}
	if sent == nil {
		a.t.Fatalf("%s: no form that goes to %s in\n%s", a.what, action, a.body)
	}
	return sent
}

// send sends the form of that action, with some fields filled in.
func (v *visitor) send(from *answer, action string, pairs ...string) *answer {
	v.t.Helper()
	form := from.form(action)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.do("POST", action, form)
}

// ended returns a browser of the person in which a session ended elsewhere.
func (p *person) ended() *visitor {
	p.site.t.Helper()
	token, _, err := p.site.store.SignIn(p.site.t.Context(), p.account.Name, password)
	if err != nil {
		p.site.t.Fatal(err)
	}
	other := *p
	other.token = token
	v := other.visitor()
	other.visitor().post("/logout").leadsTo("/")
	return v
}

// TestBlockedTextIsKept: whom a group blocks is offered no box, and one that was
// offered before loses nothing.
func TestBlockedTextIsKept(t *testing.T) {
	s := newLiveSite(t, nil)
	anna, bob := s.person("anna").visitor(), s.person("bob").visitor()
	anna.post("/groups", "access", "public", "name", "chess-club", "title", "Chess Club").leadsTo("/chess-club")
	anna.post("/posts", "body", "In the club", "to", "chess-club").leadsTo("/")
	inside := anna.get("/chess-club").code()
	anna.post("/posts", "body", "Here and there", "to", "chess-club", "to", "anna", "back", "/anna").leadsTo("/anna")
	both := anna.get("/anna").code()
	bob.get("/p/" + inside).has(`/comments" data-live`)
	anna.post("/chess-club/block", "name", "bob").wants(303)

	bob.get("/p/"+inside).wants(200).has("In the club", "blocked you from writing").lacks(`/comments" data-live`)
	bob.get("/chess-club").wants(200).has("/p/" + both + `/comments" data-live`).lacks("/p/" + inside + `/comments" data-live`)
	bob.get("/p/" + both).wants(200).has(`/comments" data-live`).lacks("blocked you from writing")
	anna.get("/p/" + inside).has(`/comments" data-live`)

	at := "/p/" + inside + "/comments"
	refused := bob.post(at, "body", "Long thought over", "key", "k1", "back", "/chess-club").wants(403).has("blocked you from writing")
	anna.post("/chess-club/unblock", "name", "bob").wants(303)
	bob.send(refused, at).leadsTo("/chess-club")
	bob.get("/p/"+inside).has("Long thought over", `/comments" data-live`)
}

// TestTextOfARefusedForm: a page that says no gives back what was typed, whatever it
// was about.
func TestTextOfARefusedForm(t *testing.T) {
	s := newLiveSite(t, nil)
	annas := s.person("anna")
	anna, bob := annas.visitor(), s.person("bob").visitor()
	gone := annas.post("Soon gone").Code
	said := annas.comment(gone, "So it is")
	annas.remove(gone)
	const text = "Long <thought> over"
	const shown = `readonly>Long &lt;thought&gt; over</textarea>`
	for address, status := range map[string]int{
		"/p/" + gone + "/comments":                            404,
		"/p/" + gone + "/edit":                                404,
		string(view.CommentURL(gone, said.CommentID, "edit")): 404,
		"/p/0000000000/comments":                              404,
		"/p/" + annas.post("Not theirs").Code + "/edit":       403,
	} {
		a := bob.post(address, "body", text).wants(status).has(shown)
		if strings.Contains(a.header.Get("Location"), "thought") {
			t.Errorf("%s: leads to %s", address, a.header.Get("Location"))
		}
	}
	bob.post("/p/"+gone+"/comments", "body", " ").wants(422)
	bob.post("/p/" + gone + "/like").wants(404).lacks("<textarea")
	anna.header.Set("Accept", "application/json")
	anna.post("/p/"+gone+"/comments", "body", text).wants(404).lacks("thought")
	// Of a form that came from another site nothing is shown.
	bob.header.Set("Origin", "https://elsewhere.example")
	bob.post("/p/"+gone+"/comments", "body", text).wants(403).lacks("thought")
}

// TestTextOutlivesTheSession sends forms after the session ended: the sign-in page
// has all of each, and after it the form is there again, to be sent by whoever
// signed in.
func TestTextOutlivesTheSession(t *testing.T) {
	s := newLiveSite(t, nil)
	bobs := s.person("bob")
	post, mine := s.person("anna").post("To comment on").Code, bobs.post("Before").Code
	said := string(view.CommentURL(post, bobs.comment(post, "So it was").CommentID, "edit"))
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
		v := bobs.ended()
		asked := v.post(tt.address, append(tt.fields, "body", text, "back", tt.page)...).wants(401).has(shown, "not signed in")
		v.send(asked, tt.address, "username", "bob", "password", "wrong one").wants(422).has(shown, "Wrong username or password", `value="bob"`).lacks("wrong one")
		again := v.send(asked, tt.address, "username", " Bob", "password", "a long enough one").wants(200).has(shown, "You’re signed in")
		again.lacks(`name="password"`, "a long enough one")
		v.get(tt.page).wants(200).lacks(seen)
		// Loaded again it is what it was.
		v.send(asked, tt.address, "username", "bob", "password", "a long enough one").wants(200).has(shown)
		v.send(again, tt.address).leadsTo(tt.page)
		v.get(tt.page).wants(200).has(seen)
	}
	// What has no text leads to the sign-in page as ever.
	v := bobs.ended()
	v.post("/p/" + post + "/like").leadsTo("/login?back=%2F")
	v.post("/p/"+post+"/comments", "body", " ").leadsTo("/login?back=%2F")

	// A form that is not shown again is not done either.
	bobs.visitor().post("/p/"+post+"/like", "resume", "1").wants(400)

	// Nor is what comes from a page that was made for somebody else, and it is told so.
	other := bobs.visitor()
	for _, address := range []string{"/p/" + post + "/like", "/p/" + post + "/comments", "/p/" + mine + "/delete", "/posts", "/anna/ban"} {
		other.post(address, "viewer", "anna", "body", "From anna's page", "key", "k9", "to", "bob").wants(409).
			has("Someone else", "readonly>From anna&#39;s page</textarea>")
	}
	other.get("/").wants(200).has(mine).lacks("From anna")
	other.get("/p/"+post).wants(200).lacks("From anna", "unlike")
	other.post("/p/"+post+"/like", "viewer", "bob").leadsTo("/p/" + post)
	other.get("/p/" + post).wants(200).has("unlike")
	other.post("/logout", "viewer", "anna").wants(409)
	other.get("/settings").wants(200)
	// A form that is shown again is anybody's who signs in.
	asked := v.post("/p/"+post+"/comments", "body", "Who says it", "viewer", "anna", "key", "k8").wants(401).lacks(`name="viewer"`)
	v.send(asked, "/p/"+post+"/comments", "username", "bob", "password", "a long enough one").wants(200).has("You’re signed in")
	v = bobs.ended()

	// Someone else signs in: what they may not do stays undone, and the text is there.
	asked = v.post("/p/"+mine+"/edit", "body", "Theirs").wants(401)
	v.send(asked, "/p/"+mine+"/edit", "username", "anna", "password", "a long enough one").wants(403).has("readonly>Theirs</textarea>")
}

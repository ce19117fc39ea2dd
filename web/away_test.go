package web_test

import (
	"strings"
	"testing"

	"riverrun/rivers"
	"riverrun/web/webtest"
)

// The home page tells somebody who comes back after more than an hour how much is new, and marks
// where the entries begin that they have seen, on another device too.
func TestHomeAfterAWhile(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, nil)
	ann, bob := s.Person("ann"), s.Person("bob")
	ann.Subscribe("bob")
	seen := bob.Post("seen before").Code
	const since, below = `class="since"`, `class="below"`
	v := ann.Visitor()
	s.FollowUp()
	v.Get("/").Wants(200).Has("seen before").Lacks(since, below)
	bob.Post("new words")
	s.FollowUp()
	v.Get("/").Wants(200).Has("new words").Lacks(since, below) // a moment later
	at := func(shift string) *webtest.Visitor {
		t.Helper()
		webtest.Await(t, "the visit to be written", func() bool {
			tag, err := s.DB.Primary.Exec(t.Context(), `UPDATE home_visits SET seen = (SELECT max(fresh_at) FROM posts WHERE `+shift+`)`)
			return err == nil && tag.RowsAffected() == 1
		})
		node := webtest.NewNode(t, s.DB, 0, rivers.DefaultOptions(), nil) // it remembers nothing
		other := node.Visitor()
		other.Client.Jar = v.Client.Jar
		return other
	}
	// As if everything had been an hour and more ago.
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE posts SET fresh_at = fresh_at - 7200000000, created_at = created_at - interval '2 hours'`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DB.Primary.Exec(t.Context(), `UPDATE timeline_entries SET fresh_at = fresh_at - 7200000000, entered_at = entered_at - 7200000000, created_at = created_at - 7200000000`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DB.Secondary.Exec(t.Context(), `TRUNCATE entries`); err != nil {
		t.Fatal(err)
	}
	other := at(`code = '` + seen + `'`)
	page := other.Get("/").Wants(200).Has(since, "1 change while you were away", "You have seen what is below")
	if i := strings.Index(page.Body, below); i < strings.Index(page.Body, "new words") || i > strings.Index(page.Body, "seen before") {
		t.Error("the line does not stand between what is new and what was seen")
	}
	other.Get("/").Wants(200).Lacks(since, below) // now it was seen

	// Nothing came: there is nothing to say.
	at(`true`).Get("/").Wants(200).Lacks(since, below)
}

package access_test

import (
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/access"
)

// Those who ask at the same time share a load, so each load answers for all of them, whoever is among them.
func TestLoadsAnswerForAll(t *testing.T) {
	w := newTown(t)
	people := []timelines.Account{w.user("ann"), w.user("bob"), w.user("cat")}
	w.group(people[0], "club", timelines.Public)
	follow := func(who timelines.Account, whom ...string) {
		for _, name := range whom {
			_, _, err := w.Subscriptions.Subscribe(t.Context(), who.ID, name)
			w.must(err)
		}
	}
	follow(people[0], "bob", "cat")
	follow(people[1], "cat", "club")
	var sessions []timelines.Session
	for _, a := range people {
		token, _, err := w.Accounts.SignIn(t.Context(), a.Name, password)
		w.must(err)
		session, _ := timelines.SessionOf(token)
		sessions = append(sessions, session)
	}
	for _, wrong := range access.New(w.Store).CheckLoads(t.Context(), people, sessions, "nobody", "no\x00body", "No Body", "\xff") {
		t.Error(wrong)
	}
}

package main

import (
	"regexp"
	"strings"
	"testing"

	"riverrun/timelines"
	"riverrun/timelines/doors"
)

// TestDoorsByCommand invites somebody, lets somebody in and refuses somebody.
func TestDoorsByCommand(t *testing.T) {
	vars, db := onDatabase(t)
	vars["RIVERRUN_SIGNUP"], vars["RIVERRUN_URL"] = "approval", "https://river.example"
	out, err := once(t, vars, "correct horse\n", "account", "create", "bob")
	must(t, "created bob\n", out, err)

	out, err = once(t, vars, "", "invite", "-uses", "2", "-note", "for the club")
	link := regexp.MustCompile(`^https://river\.example/signup\?invitation=([A-Z2-7]{26})\n$`).FindStringSubmatch(out)
	if err != nil || link == nil {
		t.Fatalf("invite: got %q, %v", out, err)
	}
	options := timelines.DefaultOptions()
	options.SignUp = "approval"
	door := doors.Open(timelines.Open(db.Primary, nil, options))
	for name, invitation := range map[string]string{"ann": link[1], "dan": "", "eve": ""} {
		_, waits, _, err := door.SignUp(t.Context(), doors.SignUp{
			SignUp: timelines.SignUp{Name: name, Password: "correct horse"}, Invitation: invitation, Sentence: "It is " + name,
		})
		if err != nil || waits != (invitation == "") {
			t.Fatalf("%s: waits %t, %v", name, waits, err)
		}
	}
	if out, err = once(t, vars, "", "invitations"); err != nil || !strings.Contains(out, link[1]) || !strings.Contains(out, "good  1 of 2") || !strings.Contains(out, "ann") {
		t.Errorf("invitations: got %q, %v", out, err)
	}
	out, err = once(t, vars, "", "invite", "withdraw", link[1])
	must(t, "invitation "+link[1]+" is withdrawn\n", out, err)

	if out, err = once(t, vars, "", "signups", "list"); err != nil || !strings.Contains(out, `"It is dan"`) || !strings.Contains(out, `"It is eve"`) || strings.Contains(out, "ann") {
		t.Errorf("signups list: got %q, %v", out, err)
	}
	out, err = once(t, vars, "", "signups", "admit", "dan")
	must(t, "dan is let in\n", out, err)
	out, err = once(t, vars, "", "signups", "refuse", "-answer", "No.", "eve")
	must(t, "eve is refused\n", out, err)

	for want, args := range map[string][]string{
		"does not wait":              {"signups", "admit", "dan"},
		"there is no user nobody":    {"signups", "refuse", "nobody"},
		"there is no invitation ABC": {"invite", "withdraw", "ABC"},
		"there is no such group":     {"invite", "-group", "bob"},
		"-uses: want a number":       {"invite", "-uses", "0"},
		"-days: want a number":       {"invite", "-days", "1000"},
		"say list, admit or refuse":  {"signups", "dance"},
		"says closed":                {"invite", "-signup", "closed"},
	} {
		if out, err := once(t, vars, "", args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %q, %v, want an error that says %q", args, out, err, want)
		}
	}
}

package timelines

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// The administrator of an imported group may be signed in here. Their rights are read
// again, and their home feed is built anew.
func TestImportMakesExistingAccountsAdmins(t *testing.T) {
	w := newTown(t)
	im, err := w.Imports.Start(w.Context(), "town")
	w.must(err)
	defer func() { w.must(im.Close(context.Background())) }()
	ids, _, err := im.Accounts(w.Context(), []ImportedAccount{person("ann"), person("ben")})
	w.must(err)
	w.must(second(w.Accounts.ChangePassword(w.Context(), "ann", "correct horse")))
	before := w.clock()
	w.heard.take()
	g, h, other := club("club"), club("den"), club("hall")
	g.Admin, h.Admin, other.Admin = "ann", "ann", "cid" // cid is new
	_, c, err := im.Accounts(w.Context(), []ImportedAccount{g, h, other, person("ann"), person("ben"), person("cid")})
	w.must(err)
	w.same("change", c, Change{Clock: before + 1, Replace: myHome(ids["ann"])})
	w.same("announced", w.heard.take(), replacements(myHome(ids["ann"])))
	if rows := w.logged(before); len(rows) != 1 || rows[0].Kind != InvalidSets || rows[0].AccountID != ids["ann"] {
		t.Errorf("logged: got %+v, want ann's rights alone", rows)
	}
	w.sound()
}

// A key is a person's or a group's. A mention that knows less than the others says person.
func TestImportKinds(t *testing.T) {
	w := newTown(t)
	vague, said := tale("1"), tale("2")
	vague.To = []ImportedAccount{person("club")}
	w.importPosts(10, vague, said)
	group := w.importedAccount("club")
	w.same("kind", group.Kind, Group)
	w.same("posts in it", all(w, pgx.RowTo[int64], `SELECT post_id FROM timeline_entries WHERE timeline_id = $1 ORDER BY 1`, group.FeedID),
		ids(w.imported(originPost, "1"), w.imported(originPost, "2")))

	// Known as a group, it stays one.
	late := tale("3")
	late.To = []ImportedAccount{person("club")}
	w.importPosts(10, late)
	w.row(group.FeedID, w.imported(originPost, "3"))

	// An account that is a person here is no group.
	before := w.dump()
	wrong := tale("4")
	wrong.To = []ImportedAccount{club("ann")}
	wrong.Author = person("ben")
	im, err := w.Imports.Start(w.Context(), FriendFeedSource)
	w.must(err)
	defer func() { w.must(im.Close(context.Background())) }()
	_, err = im.Add(w.Context(), []Imported{wrong})
	w.invalid("a person as a group", err, "kind_other")
	if diff := cmp.Diff(before, w.dump()); diff != "" {
		t.Errorf("after what was refused: -before +after\n%s", diff)
	}
	w.sound()
}

package timelines

import (
	"context"
	"testing"
)

// Whoever administers an imported group may be signed in here: their rights are
// read anew, and their home is made anew.
func TestImportAppointsTheLiving(t *testing.T) {
	w := newTown(t)
	im, err := w.StartImport(w.Context(), "town")
	w.must(err)
	defer func() { w.must(im.Close(context.Background())) }()
	ids, _, err := im.Accounts(w.Context(), []ImportedAccount{person("ann"), person("ben")})
	w.must(err)
	w.must(second(w.ChangePassword(w.Context(), "ann", "correct horse")))
	before := w.clock()
	w.heard.take()
	g, h, other := club("club"), club("den"), club("hall")
	g.Admin, h.Admin, other.Admin = "ann", "ann", "cid" // cid is new
	_, c, err := im.Accounts(w.Context(), []ImportedAccount{g, h, other, person("ann"), person("ben"), person("cid")})
	w.must(err)
	w.same("change", c, Change{Clock: before + 1, Replace: myHome(ids["ann"])})
	w.same("announced", w.heard.take(), replacements(myHome(ids["ann"])))
	if rows := w.logged(before); len(rows) != 1 || rows[0].Kind != logViewer || rows[0].AccountID != ids["ann"] {
		t.Errorf("logged: got %+v, want ann's rights alone", rows)
	}
	w.sound()
}

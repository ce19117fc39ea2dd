package timelines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func (w *town) titled(name, title string) Account {
	w.Helper()
	a := w.user(name)
	w.must(second(w.Accounts.SetProfile(w.Context(), a.ID, title, "", "")))
	return a
}

// findsAccounts asks for people and groups, and compares their names.
func (w *town) findsAccounts(text string, want ...string) {
	w.Helper()
	found, err := w.Accounts.Find(w.Context(), "", w.query(text), 10)
	w.must(err)
	var names []string
	for _, a := range found {
		names = append(names, a.Name)
	}
	w.same(text, strings.Join(names, " "), strings.Join(want, " "))
}

func TestFindAccounts(t *testing.T) {
	w := newTown(t)
	w.titled("ann", "Zoë Lee")
	w.titled("annabel-lee", "Annabel")
	w.titled("bob", "Ann O'Brien-Smith")
	w.titled("fedor", "Фёдор Ежов")
	w.titled("peter", "ПЁТР <Великий>")
	ann := w.titled("zed", "ann.example.org")
	w.group(ann, "ann-club", Private)
	w.group(ann, "anna", Public)

	w.findsAccounts("ann", "ann", "ann-club", "anna", "annabel-lee", "bob", "zed")
	w.findsAccounts("ANN", "ann", "ann-club", "anna", "annabel-lee", "bob", "zed")
	w.findsAccounts("@anna", "anna", "annabel-lee")
	w.findsAccounts("annabel-lee", "annabel-lee")
	w.findsAccounts("lee", "ann", "annabel-lee")
	w.findsAccounts("lee ann", "ann", "annabel-lee")
	w.findsAccounts("bri smi", "bob")
	w.findsAccounts("o'brien", "bob")
	w.findsAccounts("smith-an", "bob")
	w.findsAccounts(`"ann br"`, "bob")
	w.findsAccounts("a&b", "bob")
	w.findsAccounts("club", "ann-club")
	w.findsAccounts("zoë", "ann")
	w.findsAccounts("example", "zed")
	// Russian, with ё or without, in capitals or not.
	for _, text := range []string{"фёдор", "федор", "ФЕД", "Фё еж"} {
		w.findsAccounts(text, "fedor")
	}
	w.findsAccounts("петр", "peter")
	w.findsAccounts("вел", "peter")

	// Queries that ask for more than words, or that match nobody.
	for _, text := range []string{"", "#ann", "from:ann", "ann from:bob", "ann -bob", "nnabel", "'", `\`, "ann zz"} {
		w.findsAccounts(text)
	}

	// A title that changes is found by its new words at once.
	w.must(second(w.Accounts.SetProfile(t.Context(), ann.ID, "Vera", "", "")))
	w.findsAccounts("vera", "zed")
	w.findsAccounts("example")
}

// If very many people match, the best ones come, no more than were asked for, and the index
// finds them.
func TestFindAccountsAmongMany(t *testing.T) {
	w := newTown(t)
	_, err := w.pool.Exec(t.Context(), `
		INSERT INTO accounts (kind, name, title) SELECT 'user', 'person-' || i, 'Ann ' || i FROM generate_series(1, 3000) i`)
	w.must(err)
	rows, err := w.pool.Query(t.Context(), `SELECT id FROM accounts`)
	ids, err := collectIDs(rows, err, "people")
	w.must(err)
	_, err = inTx(t.Context(), w.core, func(tx pgx.Tx) (struct{}, error) {
		return struct{}{}, insertTimelinesTx(t.Context(), tx, ids)
	})
	w.must(err)
	w.titled("ann", "Zoë")
	_, err = w.pool.Exec(t.Context(), `ANALYZE accounts`)
	w.must(err)
	found, err := w.Accounts.Find(t.Context(), "", w.query("ann"), 10)
	w.must(err)
	w.same("how many", len(found), 10)
	w.same("the first", found[0].Name, "ann")

	heard := &statements{}
	store := w.traced(heard)
	found, err = store.Accounts.Find(t.Context(), "", w.query("ann 2345"), 10)
	w.must(err)
	w.same("the one of two words", fmt.Sprintf("%d %s", len(found), found[0].Name), "1 person-2345")
	for _, said := range heard.take() {
		rows, err := w.pool.Query(t.Context(), "EXPLAIN "+said.sql, said.args...)
		w.must(err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		w.must(err)
		if text := strings.Join(plan, "\n"); !strings.Contains(text, "accounts_lexemes_idx") {
			t.Errorf("not by the index:\n%s", text)
		}
	}
}

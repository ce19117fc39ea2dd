package leaving_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/migrations/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Each column that refers to an account is in the list of what is deleted, or stays for the reason that
// the package's comment gives.
func TestEveryReferenceIsDeleted(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("rows.go")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := testdb.New(t).Primary.Query(t.Context(), `
		SELECT c.conrelid::regclass::text || ' ' || a.attname FROM pg_constraint c
		JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
		WHERE c.contype = 'f' AND c.confrelid = 'accounts'::regclass ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(columns) < 50 {
		t.Fatalf("%d columns", len(columns))
	}
	elsewhere := map[string]string{
		"posts author_id": "stays", "comments author_id": "stays", "leaving account_id": "the last step",
		"likes account_id": "a removal", "comment_likes account_id": "a removal", "faves account_id": "a removal", "removals account_id": "a removal",
		"acts account_id": "on a line of its own",
	}
	for _, is := range columns {
		table, column, _ := strings.Cut(is, " ")
		found := elsewhere[is] != ""
		for line := range strings.Lines(string(list)) {
			found = found || strings.Contains(line, `ing("`+table+`"`) && strings.Contains(line, column+" = @account")
		}
		if !found {
			t.Errorf("%s is not in parts", is)
		}
	}
}

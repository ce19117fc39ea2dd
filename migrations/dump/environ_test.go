package dump

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Programs connect as riverrun does, whichever form its setting has.
func TestEnvironment(t *testing.T) {
	for text, want := range map[string][]string{
		"postgres://me:a%2Fb@one.example:5433/river?sslmode=require&jit=off&pool_max_conns=3": {
			"PGHOST=one.example", "PGPORT=5433", "PGUSER=me", "PGPASSWORD=a/b", "PGDATABASE=river", "PGSSLMODE=require",
		},
		`host=one.example,two.example port=5433,5434 user=me password='it\'s ours' dbname=river sslmode = disable`: {
			"PGHOST=one.example,two.example", "PGPORT=5433,5434", "PGPASSWORD=it's ours", "PGDATABASE=river", "PGSSLMODE=disable",
		},
		"postgres:///river?host=/run/postgresql&user=me": {"PGHOST=/run/postgresql", "PGUSER=me", "PGDATABASE=river"},
	} {
		cfg, err := pgx.ParseConfig(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := environ(cfg)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no %s in %q", text, w, got)
			}
		}
	}
}

package rivers

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// One search is far behind, and is updated together with others that are a little behind.
// Those get all they lack, old or new.
func TestASearchFarBehindHidesNothingFromOthers(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	far := w.visit(ann, Search, "cat")
	w.foldsWritten(1_000_000, maxUpdated+100)
	var names []Name
	for i := range 3 {
		names = append(names, w.visit(ann, Search, fmt.Sprint("cat -dog", i)).Name)
		w.says(ann, fmt.Sprint("cat and dog", i))
	}
	if _, err := w.rivers.BringUp(w.ctx, append(names, far.Name)); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"cat and dog2", "cat and dog1"}, {"cat and dog2", "cat and dog0"}, {"cat and dog1", "cat and dog0"},
	} {
		raw, err := w.rivers.readPage(w.ctx, names[i], Cursor{}, PageSize)
		must(w, raw, err)
		sets, err := w.rivers.access.Sets(w.ctx, ann.AccountID)
		must(w, sets, err)
		items, _, err := w.rivers.decide(w.ctx, names[i], sets, raw.label(), raw.entries)
		w.shows(&Page{Name: names[i], Items: must(w, items, err)}, want...)
	}
	if n := w.count(`SELECT count(*) FROM rivers WHERE id = $1 AND state = 'live'`, far.River); n != 0 {
		t.Error("the search far behind still stands")
	}
	w.sound()
}

// plan is a node of EXPLAIN (ANALYZE, FORMAT JSON). Rows are averages of its loops.
type plan struct {
	Relation string  `json:"Relation Name"`
	Loops    float64 `json:"Actual Loops"`
	Rows     float64 `json:"Actual Rows"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Lossy    float64 `json:"Rows Removed by Index Recheck"`
	Plans    []plan
}

// looksAt returns how many rows of a table are read.
func (p plan) looksAt(table string) int {
	n := 0
	if p.Relation == table {
		n = int(p.Loops * (p.Rows + p.Filtered + p.Lossy))
	}
	for _, inner := range p.Plans {
		n += inner.looksAt(table)
	}
	return n
}

// explained runs a statement and returns its plan.
func (w *town) explained(sql string, args ...any) plan {
	w.t.Helper()
	return w.explainedIn("force_custom_plan", sql, args...)
}

// explainedIn is explained of the prepared statement, in one of the server's
// plan_cache_modes.
func (w *town) explainedIn(mode, sql string, args ...any) plan {
	w.t.Helper()
	var doc []byte
	err := pgx.BeginFunc(w.ctx, w.db.Secondary, func(tx pgx.Tx) (err error) {
		if len(args) == 1 {
			if named, ok := args[0].(pgx.StrictNamedArgs); ok {
				if sql, args, err = named.RewriteQuery(w.ctx, tx.Conn(), sql, nil); err != nil {
					return err
				}
			}
		}
		execute := `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained`
		for i := range args {
			execute += map[bool]string{true: ` ($`, false: `, $`}[i == 0] + strconv.Itoa(i+1)
		}
		if len(args) > 0 {
			execute += `)`
		}
		for _, sql := range []string{`SET LOCAL plan_cache_mode = ` + mode, `PREPARE explained AS ` + sql} {
			if _, err := tx.Exec(w.ctx, sql); err != nil {
				return err
			}
		}
		if err := tx.QueryRow(w.ctx, execute, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...).Scan(&doc); err != nil {
			return err
		}
		_, err = tx.Exec(w.ctx, `DEALLOCATE explained`)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	var did []struct{ Plan plan }
	if err := json.Unmarshal(doc, &did); err != nil {
		w.t.Fatal(err)
	}
	return did[0].Plan
}

// foldsWritten writes folds of posts that do not exist.
func (w *town) foldsWritten(first, n int) {
	w.t.Helper()
	w.exec(`INSERT INTO folds (post_id, version, decisive, text_folded, likes_folded, comments_folded, attachments_folded)
		SELECT i, 1, '{}', '{}', '{}', '{}', '[]' FROM generate_series($1::int, $1::int + $2::int - 1) i`, first, n)
}

// The folds that searches lack are found by reading those alone, once for all searches that
// have seen the same. That is so while a transaction is open, in any database, that keeps
// the server from telling which rows are old, and after it, whatever is known of the table.
func TestSearchesReadNoFoldTwice(t *testing.T) {
	for name, db := range map[string]func(w *town) *pgxpool.Pool{
		"secondary": func(w *town) *pgxpool.Pool { return w.db.Secondary },
		"primary":   func(w *town) *pgxpool.Pool { return w.db.Primary },
	} {
		t.Run("open in the "+name+" store", func(t *testing.T) {
			w := newTown(t)
			ann := w.person("ann")
			tx, err := db(w).Begin(w.ctx)
			must(w, tx, err)
			defer func() { _ = tx.Rollback(w.ctx) }()
			if _, err := tx.Exec(w.ctx, `SELECT pg_current_xact_id()`); err != nil {
				t.Fatal(err)
			}
			const many, few, searches = 20_000, 100, 5
			w.foldsWritten(1_000_000, many)
			var names []Name
			for i := range searches {
				names = append(names, w.visit(ann, Search, fmt.Sprint("word", i)).Name)
			}
			var asked questions
			rivers := Open(traced(t, w.db.SecondaryURL, &asked), w.store, slog.New(slog.DiscardHandler), DefaultOptions())
			broughtUp := func() pgx.TraceQueryStartData {
				t.Helper()
				asked.take()
				if _, err := rivers.BringUp(w.ctx, names); err != nil {
					t.Fatal(err)
				}
				return asked.take()[0]
			}
			w.foldsWritten(3_000_000, few)
			look := broughtUp() // and all have seen the same
			if !strings.Contains(look.SQL, "folds") {
				t.Fatalf("begins with %s, want a look at the folds", look.SQL)
			}
			looksAt := func(when string, want int) {
				t.Helper()
				// Averages are rounded. If each search read them for itself, it would be
				// searches*few.
				if got := w.explained(look.SQL, look.Args...).looksAt("folds"); got < want/2 || got > 2*want {
					t.Errorf("%s: %d searches look at %d folds, want %d", when, searches, got, want)
				}
			}
			next := 2_000_000
			both := func(when string) {
				t.Helper()
				looksAt(when+", nothing new", 0)
				w.foldsWritten(next, few)
				next += few
				looksAt(when+", a few new", few)
				broughtUp()
				looksAt(when+", brought up", 0)
			}
			both("open")
			w.exec(`ANALYZE`)
			both("open and analyzed")
			if err := tx.Rollback(w.ctx); err != nil {
				t.Fatal(err)
			}
			both("closed")
		})
	}
}

package timelines

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/snapshot"
)

// plan is what EXPLAIN (ANALYZE, FORMAT JSON) says of a node; rows are on average of
// its loops.
type plan struct {
	Node      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Loops     float64 `json:"Actual Loops"`
	Rows      float64 `json:"Actual Rows"`
	Filtered  float64 `json:"Rows Removed by Filter"`
	Joined    float64 `json:"Rows Removed by Join Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Plans     []plan
}

// looksAt returns how many rows of a table are looked at.
func (p plan) looksAt(table string) int {
	n := 0
	if p.Relation == table {
		n = int(p.Loops * (p.Rows + p.Filtered + p.Rechecked))
	}
	for _, inner := range p.Plans {
		n += inner.looksAt(table)
	}
	return n
}

// busiest returns how many rows the node that handles most has to do with.
func (p plan) busiest() int {
	most := int(p.Loops * (p.Rows + p.Filtered + p.Joined + p.Rechecked))
	for _, inner := range p.Plans {
		most = max(most, inner.busiest())
	}
	return most
}

// explained runs a statement in a plan made in that mode (plan_cache_mode), and returns
// how the server did.
func (w *town) explained(mode, sql string, args ...any) plan {
	w.Helper()
	if len(args) == 1 {
		if named, ok := args[0].(pgx.StrictNamedArgs); ok {
			var err error
			sql, args, err = named.RewriteQuery(w.Context(), nil, sql, nil)
			w.must(err)
		}
	}
	execute := `EXECUTE explained`
	if len(args) > 0 {
		literals := make([]string, len(args))
		for i, v := range args {
			literals[i] = literal(v)
		}
		execute += ` (` + strings.Join(literals, ", ") + `)`
	}
	var doc []byte
	w.must(w.InSnapshot(w.Context(), func(sn *snapshot.Snapshot) error {
		tx := sn.Tx()
		for _, sql := range []string{`SET LOCAL plan_cache_mode = ` + mode, `PREPARE explained AS ` + sql} {
			if _, err := tx.Exec(w.Context(), sql); err != nil {
				return err
			}
		}
		err := tx.QueryRow(w.Context(), `EXPLAIN (ANALYZE, FORMAT JSON) `+execute).Scan(&doc)
		if err != nil {
			return err
		}
		_, err = tx.Exec(w.Context(), `DEALLOCATE explained`)
		return err
	}))
	var did []struct{ Plan plan }
	w.must(json.Unmarshal(doc, &did))
	return did[0].Plan
}

// literal is a value as a statement spells it.
func literal(v any) string {
	quote := func(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }
	switch v := v.(type) {
	case *int64:
		if v == nil {
			return `NULL`
		}
		return fmt.Sprint(*v)
	case []*int64:
		bounds := make([]string, len(v))
		for i, bound := range v {
			bounds[i] = literal(bound)
		}
		return quote(`{` + strings.Join(bounds, ",") + `}`)
	case string:
		return quote(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return quote(`{` + strings.Join(quoted, ",") + `}`)
	case []int64:
		return quote(`{` + strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]") + `}`)
	}
	return fmt.Sprint(v)
}

// A scan looks at the rows it meets and at those of the posts that may be read, and at
// nothing else again and again: neither in a store so small that reading a table whole
// looks cheap, nor in the plan that the server makes without knowing what is asked.
func TestScanLooksAtLittle(t *testing.T) {
	for _, size := range []struct{ followed, own, posts, fans int }{
		{10, 7, 3, 50},
		{20, 20, 4, 2 * snapshot.MaxMemberships},
	} {
		t.Run(fmt.Sprint(size.fans, " fans"), func(t *testing.T) {
			w := newTown(t)
			timelines, viewer := w.celebrated(size.followed, size.own, size.posts, size.fans)
			w.exec(`VACUUM ANALYZE`)
			w.pool.Reset()
			all := value[int](w, `SELECT count(*) FROM timeline_entries`)
			readable := size.followed * size.own
			const round = 300 // rows of a scan for 150 posts
			heard := &statements{}
			w.must(w.traced(heard).InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
				return second(sn.Scan(t.Context(), snapshot.Scan{
					Viewer: viewer.ID, Timelines: timelines, BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
					Limit: round / 2, Down: math.MaxInt64,
				}))
			}))
			asked := heard.take()[0]
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				p := w.explained(mode, asked.sql, asked.args...)
				got := p.looksAt("timeline_entries")
				// The rows that are met, and those by which the frontier is found; each
				// post's rows, or, for a celebrated post, as many as are read before they
				// are looked up, and those.
				most := 3*round + readable + size.posts*(min(size.fans, snapshot.MaxMemberships+1)+len(timelines))
				if got > most {
					t.Errorf("%s: of %d rows %d are looked at, want at most %d", mode, all, got, most)
				}
				if got := p.busiest(); got > 10*most {
					t.Errorf("%s: a node handles %d rows, want it in proportion to %d", mode, got, most)
				}
			}
		})
	}
}

// The first scan of a home costs the same, however many posts stand in its timelines, and in
// however many timelines of others they stand.
func TestScanDoesNotGrow(t *testing.T) {
	const followed, few, many = 20, 20, 60
	modes := []string{"force_custom_plan", "force_generic_plan"}
	looked := map[int][]int{few: make([]int, len(modes)), many: make([]int, len(modes))}
	t.Run("towns", func(t *testing.T) { // which returns when both are done
		for size, counts := range looked {
			t.Run(fmt.Sprint(size, " posts and fans"), func(t *testing.T) {
				w := newTown(t)
				timelines, viewer := w.celebrated(followed, size, followed*size, size)
				w.exec(`VACUUM ANALYZE`)
				w.pool.Reset()
				heard := &statements{}
				w.must(w.traced(heard).InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
					return second(sn.Scan(t.Context(), snapshot.Scan{
						Viewer: viewer.ID, Timelines: timelines[:followed], BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64,
						Limit: 50, Down: math.MaxInt64,
					}))
				}))
				asked := heard.take()[0]
				for i, mode := range modes {
					counts[i] = w.explained(mode, asked.sql, asked.args...).looksAt("timeline_entries")
				}
			})
		}
	})
	for i, mode := range modes {
		if got, was := looked[many][i], looked[few][i]; was == 0 || got > was+was/10 {
			t.Errorf("%s: with %d times the posts and the fans, %d rows are looked at, want %d", mode, many/few, got, was)
		}
	}
}

// A search for a word that all posts have looks at the newest posts and their texts, however
// many there are.
func TestCommonSearchDoesNotGrow(t *testing.T) {
	const few, many = 1000, 3000
	looked := map[int]map[string]int{few: {}, many: {}}
	t.Run("towns", func(t *testing.T) { // which returns when both are done
		for size, counts := range looked {
			t.Run(fmt.Sprint(size, " posts"), func(t *testing.T) {
				w := newTown(t)
				w.celebrated(1, size, 1, 1)
				w.exec(`VACUUM ANALYZE`)
				w.pool.Reset()
				heard := &statements{}
				w.must(w.traced(heard).InSnapshot(t.Context(), func(sn *snapshot.Snapshot) error {
					out, err := sn.Search(t.Context(), w.query("hello"), snapshot.Scan{
						BeforePlace: math.MaxInt64, BeforePost: math.MaxInt64, Limit: 50, Down: math.MaxInt64,
					})
					if err == nil && len(out.Posts) != 50 {
						err = fmt.Errorf("found %d posts, want 50", len(out.Posts))
					}
					return err
				}))
				for _, asked := range heard.take() {
					w.explained("force_custom_plan", asked.sql, asked.args...).addLooks(counts)
				}
			})
		}
	})
	for table, was := range looked[few] {
		if got := looked[many][table]; got > was+was/10 {
			t.Errorf("of %d times the %s, %d are looked at, want %d", many/few, table, got, was)
		}
	}
	if looked[few]["posts"] == 0 || looked[few]["texts"] == 0 {
		t.Errorf("looks at %v, want posts and texts", looked[few])
	}
}

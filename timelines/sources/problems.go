package sources

import (
	"github.com/jackc/pgx/v5"

	"riverrun/timelines/sources/formats"
)

// MostProblems is how many problems of a load are stored; all of them are counted.
const MostProblems = 10_000

// problems are rows of load_problems, column by column.
type problems struct {
	lines, rawLines       []int64
	nos                   []int16
	errors                []bool
	codes, fields, values []string
	keys, titles          []string
}

// note counts the problems of an item, and stores them as long as there is room.
func (b *batch) note(i int, it *formats.Item) {
	b.noteFrom(i, it, 0)
}

// warn adds a problem to an item that is posted all the same.
func (b *batch) warn(it entry, p formats.Problem) {
	it.Problems = append(it.Problems, p)
	b.noteFrom(it.at, it.Item, len(it.Problems)-1)
	b.pushed.warned(it.at, p.Code)
}

// noteFrom notes the problems of an item, beginning with the one at first.
func (b *batch) noteFrom(i int, it *formats.Item, first int) {
	for no, p := range it.Problems {
		if no < first {
			continue
		}
		b.codes[p.Code]++
		failed := p.Level == formats.LevelError
		if failed {
			b.counts.Errors++
		} else {
			b.counts.Warnings++
		}
		if b.load.Errors+b.load.Warnings+int64(len(b.problems.lines)) >= MostProblems {
			continue
		}
		r := &b.problems
		r.lines, r.nos, r.errors = append(r.lines, b.load.Cursor+int64(i)), append(r.nos, int16(no)), append(r.errors, failed)
		line := p.Line
		if line == 0 {
			line = it.Line
		}
		r.rawLines, r.codes = append(r.rawLines, int64(line)), append(r.codes, string(p.Code))
		r.fields, r.values = append(r.fields, p.Field), append(r.values, p.Value)
		r.keys, r.titles = append(r.keys, it.ID), append(r.titles, it.Title)
	}
}

// queue adds the statement that stores them.
func (p *problems) queue(all *pgx.Batch, load int64) {
	if len(p.lines) == 0 {
		return
	}
	all.Queue(`
		INSERT INTO load_problems (load_id, line, raw_line, no, error, code, field, value, external_id, title)
		SELECT @load, * FROM unnest(@lines::bigint[], @raw::bigint[], @nos::smallint[], @errors::boolean[], @codes::text[],
			@fields::text[], @values::text[], @keys::text[], @titles::text[])`,
		pgx.StrictNamedArgs{
			"load": load, "lines": p.lines, "raw": p.rawLines, "nos": p.nos, "errors": p.errors, "codes": p.codes,
			"fields": p.fields, "values": p.values, "keys": p.keys, "titles": p.titles,
		})
}

package web

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
	"riverrun/web/view"
)

const (
	// troublesShown is how many problems a page lists, and troublesRead how many a file reads at a time.
	troublesShown = 50
	troublesRead  = 1000
)

// load is the page of a load, or a file of its problems if the address ends like one.
func (s sourcePages) load(w http.ResponseWriter, r *request) error {
	text, ending := r.PathValue("no"), ""
	for _, e := range []string{".csv", ".xlsx"} {
		if rest, ok := strings.CutSuffix(text, e); ok {
			text, ending = rest, e
		}
	}
	no, err := strconv.ParseInt(text, 10, 64)
	if err != nil || text != strconv.FormatInt(no, 10) {
		return errNoPage
	}
	which, after, err := troublesAsked(r)
	if err != nil {
		return err
	}
	ctx := r.Context()
	found, err := s.find(ctx, r)
	if err != nil {
		return err
	}
	load, err := s.sources.Load(ctx, found.ID, no)
	if err != nil {
		return err
	}
	if ending != "" {
		if !found.ErrorsVisible {
			return errNoPage
		}
		return s.troubleFile(w, r, load, which, fmt.Sprintf("riverrun-%s-%d%s", found.Code, no, ending))
	}
	rows, err := s.rows(ctx, s.simple(r), []sources.Source{found})
	if err != nil {
		return err
	}
	v := view.LoadPage{SourceRow: rows[0], Which: which, After: r.URL.Query().Get("after")}
	v.Load = &load
	if found.ErrorsVisible && load.Errors+load.Warnings > 0 {
		if v.Problems, err = s.sources.Troubles(ctx, load.ID, which, after, troublesShown+1); err != nil {
			return err
		}
		if len(v.Problems) > troublesShown {
			v.Problems = v.Problems[:troublesShown]
			last := v.Problems[troublesShown-1]
			v.Next = fmt.Sprintf("%d.%d", last.Line, last.No)
		}
	}
	if r.wantsFragment() {
		return s.html(w, r, http.StatusOK, view.LoadLive(v))
	}
	return s.html(w, r, http.StatusOK, view.LoadPageOf(v))
}

var codeForm = regexp.MustCompile(`^[a-z0-9_]{0,60}$`)

// troublesAsked reads from an address which problems are to be shown, and after which one.
func troublesAsked(r *request) (which sources.Which, after sources.Trouble, err error) {
	q := r.URL.Query()
	which, after = sources.Which{Level: formats.Level(q.Get("level")), Code: q.Get("code")}, sources.FirstTrouble
	if which.Level != "" && which.Level != formats.LevelError && which.Level != formats.LevelWarning || !codeForm.MatchString(which.Code) {
		return which, after, errNoPage
	}
	if text := q.Get("after"); text != "" {
		line, no, _ := strings.Cut(text, ".")
		if after.Line, err = strconv.ParseInt(line, 10, 64); err != nil {
			return which, after, errNoPage
		}
		n, err := strconv.ParseInt(no, 10, 16)
		if err != nil {
			return which, after, errNoPage
		}
		after.No = int16(n)
	}
	return which, after, nil
}

// troubleFile answers with all kept problems of a load as a table. It is made whole before it is sent:
// there are MostProblems at most, and one that cannot be read to its end is an error and no table.
func (s sourcePages) troubleFile(w http.ResponseWriter, r *request, load sources.Load, which sources.Which, name string) error {
	kind, make := "text/csv; charset=utf-8", newCSV
	if strings.HasSuffix(name, ".xlsx") {
		kind, make = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", newSheet
	}
	content, err := s.table(r, load.ID, which, make)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(content) // the browser is gone
	return nil
}

// troubleTable is a file that is written row by row.
type troubleTable interface {
	row(cells []string) error
	end() ([]byte, error)
	// close gives back what it took. It is called once, at last.
	close() error
}

func (s sourcePages) table(r *request, load int64, which sources.Which, make func(title string) (troubleTable, error)) (content []byte, err error) {
	table, err := make(r.loc.T("loads.problems"))
	if err != nil {
		return nil, fmt.Errorf("make a table: %w", err)
	}
	defer func() { err = errors.Join(err, table.close()) }()
	if err := table.row(view.TroubleHead(r.loc)); err != nil {
		return nil, fmt.Errorf("make a table: %w", err)
	}
	for after, more := sources.FirstTrouble, true; more; {
		list, err := s.sources.Troubles(r.Context(), load, which, after, troublesRead)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if err := table.row(view.TroubleRow(r.loc, t)); err != nil {
				return nil, fmt.Errorf("make a table: %w", err)
			}
			after = t
		}
		more = len(list) == troublesRead
	}
	return table.end()
}

// csvTable is a table as CSV.
type csvTable struct {
	b bytes.Buffer
	w *csv.Writer
}

func newCSV(string) (troubleTable, error) {
	t := &csvTable{}
	t.w = csv.NewWriter(&t.b)
	t.w.UseCRLF = true
	return t, nil
}

// row writes a row. A cell that a spreadsheet would take for a formula begins with an apostrophe: the
// program that opens the file must not compute the words of a feed.
func (t *csvTable) row(cells []string) error {
	safe := make([]string, len(cells))
	for i, c := range cells {
		if c != "" && strings.ContainsRune("=+-@\t\r\n", rune(c[0])) {
			c = "'" + c
		}
		safe[i] = c
	}
	return t.w.Write(safe)
}

func (t *csvTable) end() ([]byte, error) {
	t.w.Flush()
	return t.b.Bytes(), t.w.Error()
}

func (t *csvTable) close() error { return nil }

// sheetTable is a table as XLSX. All its cells are texts or numbers, none is a formula.
type sheetTable struct {
	file *excelize.File
	w    *excelize.StreamWriter
	head int // the style of the first row
	n    int // rows so far
}

// widths are those of the columns, in characters.
var widths = []float64{12, 24, 8, 14, 30, 24, 40, 60, 60}

func newSheet(name string) (troubleTable, error) {
	t := &sheetTable{file: excelize.NewFile()}
	err := t.file.SetSheetName("Sheet1", name)
	if err == nil {
		t.head, err = t.file.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	}
	if err == nil {
		t.w, err = t.file.NewStreamWriter(name)
	}
	for i, width := range widths {
		if err == nil {
			err = t.w.SetColWidth(i+1, i+1, width)
		}
	}
	if err == nil {
		err = t.w.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	}
	if err != nil {
		return nil, errors.Join(err, t.file.Close())
	}
	return t, nil
}

func (t *sheetTable) row(cells []string) error {
	t.n++
	row := make([]any, len(cells))
	for i, c := range cells {
		row[i] = excelize.Cell{Value: c}
		if t.n == 1 {
			row[i] = excelize.Cell{Value: c, StyleID: t.head}
		} else if n, err := strconv.ParseInt(c, 10, 64); err == nil && i == lineColumn {
			row[i] = excelize.Cell{Value: n}
		}
	}
	return t.w.SetRow("A"+strconv.Itoa(t.n), row)
}

func (t *sheetTable) end() ([]byte, error) {
	if err := t.w.Flush(); err != nil {
		return nil, fmt.Errorf("make a table: %w", err)
	}
	b, err := t.file.WriteToBuffer()
	if err != nil {
		return nil, fmt.Errorf("make a table: %w", err)
	}
	return b.Bytes(), nil
}

func (t *sheetTable) close() error { return t.file.Close() }

// lineColumn is the column of numbers.
const lineColumn = 2

package view

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// LoadPage is the page of one load of a source.
type LoadPage struct {
	SourceRow // its Load is the one of the page
	Which     sources.Which
	Problems  []sources.Trouble
	// Next is where the next part of the problems begins, or empty; After is where this one does.
	Next, After string
}

func (v LoadPage) path() string { return LoadPath(v.code(), v.Load.No) }

// at is the address of these problems after one.
func (v LoadPage) at(which sources.Which, after, ending string) string {
	q := url.Values{}
	if which.Level != "" {
		q.Set("level", string(which.Level))
	}
	if which.Code != "" {
		q.Set("code", which.Code)
	}
	if after != "" {
		q.Set("after", after)
	}
	path := v.path() + ending
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// warnings are those of items, and pictures that cannot be had.
func (v LoadPage) warnings() int64 { return v.Load.Warnings + v.Load.PictureErrors }

func (v LoadPage) anyProblem() bool { return v.Load.Errors+v.warnings() > 0 }

// codeCount is how often a code came up.
type codeCount struct {
	code string
	n    int64
}

// codes are those of the load, the most frequent first.
func (v LoadPage) codes() []codeCount {
	var list []codeCount
	for _, code := range slices.Sorted(maps.Keys(v.Load.Codes)) {
		if n := v.Load.Codes[code]; n > 0 {
			list = append(list, codeCount{string(code), n})
		}
	}
	slices.SortStableFunc(list, func(a, b codeCount) int { return cmp.Compare(b.n, a.n) })
	return list
}

// notAll reports whether some problems are counted and not kept.
func (v LoadPage) notAll() bool { return v.Load.Errors+v.warnings() > sources.MostProblems }

func (v LoadPage) allText() string {
	return v.Locale.T("loads.all.kept", "n", v.Locale.Number(sources.MostProblems))
}

// levels are the filters by level.
func (v LoadPage) levels() []formats.Level {
	return []formats.Level{"", formats.LevelError, formats.LevelWarning}
}

func (v LoadPage) levelText(level formats.Level) string {
	switch level {
	case formats.LevelError:
		return v.Locale.N("loads.errors", int(v.Load.Errors))
	case formats.LevelWarning:
		return v.Locale.N("loads.warnings", int(v.warnings()))
	}
	return v.Locale.T("loads.all")
}

// heldBack reports whether what is absent stays because an item cannot be told from it.
func (v LoadPage) heldBack() bool {
	return v.Mode == sources.Sync && v.Load.Unreadable > 0 && (v.Load.State == sources.Done || v.Load.State == sources.Previewed)
}

// fact is a figure of a load.
type fact struct{ label, value string }

// facts are the statistics of the load.
func (v LoadPage) facts() []fact {
	loc, l := v.Locale, v.Load
	var list []fact
	add := func(label string, n int64, always bool) {
		if n > 0 || always {
			list = append(list, fact{label, loc.Number(int(n))})
		}
	}
	if l.Lines != nil {
		add(loc.T("loads.fact.items"), *l.Lines, true)
	}
	add(loc.T("loads.fact.added"), l.Added, true)
	add(loc.T("loads.fact.changed"), l.Changed, true)
	add(loc.T("loads.fact.same"), l.Same, true)
	add(loc.T("loads.fact.skipped"), l.Skipped, false)
	add(loc.T("loads.fact.gone"), l.Gone, false)
	add(loc.T("loads.fact.removed"), l.Removed, false)
	add(loc.T("loads.fact.kept"), l.Kept, false)
	add(loc.T("loads.fact.errors"), l.Errors, true)
	add(loc.T("loads.fact.warnings"), l.Warnings, true)
	add(loc.T("loads.fact.unreadable"), l.Unreadable, false)
	add(loc.T("loads.fact.pictures"), l.Pictures, false)
	add(loc.T("loads.fact.pictures.failed"), l.PictureErrors, false)
	return list
}

// lineText is the line of a problem in the file as it came, or nothing if that is unknown.
func lineText(loc *Locale, t sources.Trouble) string {
	if t.RawLine == 0 {
		return ""
	}
	return loc.Number(int(t.RawLine))
}

// FormatName is what a format is called.
func FormatName(f string) string {
	switch formats.Format(f) {
	case formats.RSS:
		return "RSS"
	case formats.Atom:
		return "Atom"
	case formats.JSONFeed:
		return "JSON Feed"
	case formats.XML:
		return "XML"
	case formats.CSV:
		return "CSV"
	case formats.NDJSON:
		return "NDJSON"
	}
	return ""
}

// TroubleHead is the head of a table of problems, for files.
func TroubleHead(loc *Locale) []string {
	return []string{
		loc.T("loads.head.level"), loc.T("loads.head.code"), loc.T("loads.head.line"), loc.T("loads.head.field"), loc.T("loads.head.value"),
		loc.T("loads.head.item"), loc.T("loads.head.title"), loc.T("loads.head.what"), loc.T("loads.head.todo"),
	}
}

// TroubleRow is a row below TroubleHead.
func TroubleRow(loc *Locale, t sources.Trouble) []string {
	what, todo := ProblemText(loc, t.Code)
	line := ""
	if t.RawLine > 0 {
		line = strconv.FormatInt(t.RawLine, 10)
	}
	return []string{levelName(loc, t), t.Code, line, t.Field, t.Value, t.ExternalID, t.Title, what, todo}
}

func levelName(loc *Locale, t sources.Trouble) string {
	if t.Error {
		return loc.T("loads.error")
	}
	return loc.T("loads.warning")
}

// codeName is what a code says, without its full stop.
func codeName(loc *Locale, code string) string {
	what, _ := ProblemText(loc, code)
	return strings.TrimSuffix(what, ".")
}

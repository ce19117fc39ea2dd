package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"riverrun/timelines/kinds"
	"riverrun/timelines/rights"
)

// ViewerQuery is a query with its viewer, 0 for anonymous.
type ViewerQuery struct {
	Viewer int64
	Query  Query
}

// ask is a query of one viewer, with ids for names.
type ask struct {
	I int `json:"i"`
	// Words and Marks are what the text must and must not have; Marks a tsquery of
	// tags and authors. BarredWords and BarredMarks are what the post's own text must
	// not have, any of them.
	Words       string `json:"words"`
	Marks       string `json:"marks"`
	BarredWords string `json:"barred_words"`
	BarredMarks string `json:"barred_marks"`
	// Textual: the query has conditions on the text. Placed: the post must stand in one of
	// Places. It must stand in none of Elsewhere.
	Textual   bool    `json:"textual"`
	Placed    bool    `json:"placed"`
	Places    []int64 `json:"places"`
	Elsewhere []int64 `json:"elsewhere"`
	// Listed: the post must be a listing in one of States, if there are any, at a price from Lowest to
	// Highest, where nil is no bound, in the Currency, if there is one. Unlisted: it must not be one in one
	// of NotStates, or at a price from a NotLowest to its NotHighest in its currency of NotCurrencies.
	Listed        bool     `json:"listed"`
	States        []string `json:"states"`
	Lowest        *int64   `json:"lowest"`
	Highest       *int64   `json:"highest"`
	Currency      string   `json:"currency"`
	Unlisted      bool     `json:"unlisted"`
	NotStates     []string `json:"not_states"`
	NotLowest     []*int64 `json:"not_lowest"`
	NotHighest    []*int64 `json:"not_highest"`
	NotCurrencies []string `json:"not_currencies"`

	nothing bool // can find nothing
}

// called is the account and the places that a name in a query stands for.
type called struct {
	account int64
	places  []int64 // those of its base timelines, or of the sub-feed's, that the viewer may open
}

// asks resolves the names of queries, all in one statement. A name that nobody has, or
// of a place the viewer may not open, counts as an empty place: a query that asks for it
// finds nothing, and one that excludes it excludes nothing. So nobody learns what stands
// there. For somebody who is not signed in, "me" is such a name.
func (sn *Snapshot) asks(ctx context.Context, asked []ViewerQuery) ([]ask, error) {
	var indexes, viewers []int64
	var names, slugs []string
	for i, q := range asked {
		for _, t := range q.Query.terms {
			if (t.kind == termFrom || t.kind == termIn) && q.Query.Finds() {
				name, slug, _ := strings.Cut(t.text, "/")
				indexes, viewers = append(indexes, int64(i)), append(viewers, q.Viewer)
				names, slugs = append(names, name), append(slugs, slug)
			}
		}
	}
	found := make([]map[string]called, len(asked))
	for i := range found {
		found[i] = map[string]called{}
	}
	if len(names) > 0 {
		query := `
			SELECT w.i, concat_ws('/', w.name, nullif(w.slug, '')), a.id, ARRAY(
				SELECT t.id FROM timelines t JOIN timelines g ON g.id = t.gate_id
				WHERE t.their_id = a.id AND t.kind IN ` + kinds.SQL(kinds.Spec.IsLevelled) + ` AND (w.slug = '' OR t.term = w.slug)
					AND ` + rights.OpenTo("g", "w.viewer") + `
				ORDER BY t.id)
			FROM unnest(@asks::bigint[], @viewers::bigint[], @names::text[], @slugs::text[]) AS w(i, viewer, name, slug)
			CROSS JOIN LATERAL (
				SELECT id FROM accounts WHERE name = w.name AND w.name <> @self
				UNION ALL
				SELECT w.viewer WHERE w.name = @self AND w.viewer <> 0
				LIMIT 1) AS a(id)`
		args := pgx.StrictNamedArgs{"self": self, "asks": indexes, "viewers": viewers, "names": names, "slugs": slugs}
		rows, err := sn.tx.Query(ctx, query, args)
		if err != nil {
			return nil, fmt.Errorf("resolve searches: %w", err)
		}
		var i int
		var name string
		var c called
		_, err = pgx.ForEachRow(rows, []any{&i, &name, &c.account, &c.places}, func() error {
			found[i][name] = called{account: c.account, places: slices.Clone(c.places)}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("resolve searches: %w", err)
		}
	}
	asks := make([]ask, len(asked))
	for i, q := range asked {
		asks[i] = askOf(q.Query, found[i])
		asks[i].I = i
	}
	return asks, nil
}

// askOf is the query with what its names stand for.
func askOf(q Query, names map[string]called) ask {
	a := ask{
		Words: q.words(), BarredWords: q.barredWords(), Textual: q.asksOfText(),
		Places: []int64{}, Elsewhere: []int64{}, nothing: !q.Finds(),
		States: []string{}, NotStates: []string{}, NotLowest: []*int64{}, NotHighest: []*int64{}, NotCurrencies: []string{},
	}
	author := func(name string) (string, bool) {
		c, ok := names[name]
		return lexeme("@" + strconv.FormatInt(c.account, 10)), ok && !strings.Contains(name, "/") // nobody is called so
	}
	var marks, barred, authors []string
	from := false
	for _, t := range q.terms {
		switch {
		case t.kind == termTag && t.not:
			barred = append(barred, lexeme("#"+t.text))
		case t.kind == termTag:
			marks = append(marks, lexeme("#"+t.text))
		case t.kind == termFrom && t.not:
			if l, ok := author(t.text); ok {
				barred = append(barred, l)
			}
		case t.kind == termFrom:
			from = true
			if l, ok := author(t.text); ok {
				authors = append(authors, l)
			}
		case t.kind == termIn && t.not:
			a.Elsewhere = append(a.Elsewhere, names[t.text].places...)
		case t.kind == termIn:
			a.Placed = true
			a.Places = append(a.Places, names[t.text].places...)
		case t.kind == termIs && t.not:
			a.Unlisted, a.NotStates = true, append(a.NotStates, t.text)
		case t.kind == termIs:
			a.Listed, a.States = true, append(a.States, t.text)
		case t.kind == termPrice && t.not:
			low, high, currency := priceBounds(t.text)
			a.Unlisted, a.NotLowest, a.NotHighest = true, append(a.NotLowest, low), append(a.NotHighest, high)
			a.NotCurrencies = append(a.NotCurrencies, currency)
		case t.kind == termPrice:
			low, high, currency := priceBounds(t.text)
			a.nothing = a.nothing || currency == "" || a.Currency != "" && a.Currency != currency
			a.Listed, a.Currency = true, currency
			if low != nil && (a.Lowest == nil || *low > *a.Lowest) {
				a.Lowest = low
			}
			if high != nil && (a.Highest == nil || *high < *a.Highest) {
				a.Highest = high
			}
		}
	}
	a.nothing = a.nothing || from && len(authors) == 0 || a.Placed && len(a.Places) == 0
	if len(authors) > 0 {
		marks = append(marks, "("+strings.Join(authors, "|")+")")
	}
	for _, m := range barred {
		marks = append(marks, "!"+m)
	}
	a.Marks, a.BarredMarks = strings.Join(marks, "&"), strings.Join(barred, "|")
	return a
}

// lexeme is a lexeme of search_lexemes or search_tags as a tsquery writes it. It
// has no quotes in it: tags are of letters, digits, underscores and accents.
func lexeme(s string) string { return "'" + s + "'" }

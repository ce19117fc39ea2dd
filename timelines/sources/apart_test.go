package sources_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"riverrun/migrations/testdb"
	"riverrun/timelines"
	"riverrun/timelines/sources"
	"riverrun/timelines/sources/formats"
)

// everything returns all that is stored for a source, byte for byte: its row, its items and loads
// with their details, and its posts with their places.
func (w *world) everything(source int64) string {
	w.Helper()
	items := `(SELECT post_id FROM source_items WHERE source_id = $1)`
	loads := `(SELECT id FROM loads WHERE source_id = $1)`
	var b strings.Builder
	for _, rows := range []string{
		`sources r WHERE id = $1`, `source_items r WHERE source_id = $1`, `loads r WHERE source_id = $1`,
		`load_seen r WHERE load_id IN ` + loads, `load_gone r WHERE load_id IN ` + loads, `load_problems r WHERE load_id IN ` + loads,
		`load_batches r WHERE load_id IN ` + loads, `posts r WHERE id IN ` + items, `texts r WHERE post_id IN ` + items,
		`text_marks r WHERE post_id IN ` + items, `timeline_entries r WHERE post_id IN ` + items,
	} {
		table, _, _ := strings.Cut(rows, " ")
		fmt.Fprintf(&b, "%s:\n%s\n", table, strings.Join(w.list(`SELECT r::text FROM `+rows+` ORDER BY 1`, source), "\n"))
	}
	return b.String()
}

// F3, F23, F27: sources are apart. Whatever is done with one source, nothing of another changes, even
// if it has items with the same ids and addresses, and whether the owner is the same or not.
func TestSourcesAreApart(t *testing.T) {
	seed, times := testdb.Chance(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	ann, bob := w.person("ann"), w.person("bob")
	owners := []timelines.Account{ann, ann, bob}
	all := make([]sources.Source, len(owners))
	add := func(i int) {
		mode := []sources.Mode{sources.Append, sources.Sync}[rng.IntN(2)]
		all[i] = w.add(owners[i], sources.New{Owner: owners[i].Name, Way: sources.Push, Mode: mode, Settings: settings(rng)})
	}
	for i := range all {
		add(i)
		w.load(all[i].ID, 7, chosen(rng)...)
	}
	before := make([]string, len(all))
	for step := range 60 * times {
		i := rng.IntN(len(all))
		for j := range all {
			before[j] = w.everything(all[j].ID)
		}
		former := all[i]
		what := w.doAnything(rng, owners[i], all[i])
		for j := range all {
			if j == i {
				continue
			}
			w.same(fmt.Sprintf("step %d: %s of source %d, and source %d", step, what, former.ID, all[j].ID), w.everything(all[j].ID), before[j])
		}
		if t.Failed() {
			return
		}
		if value[int64](w, `SELECT count(*) FROM sources WHERE id = $1`, former.ID) == 0 {
			add(i)
		}
	}
}

func settings(rng *rand.Rand) sources.Settings {
	return sources.Settings{
		Gone: []string{sources.Delete, sources.KeepDiscussed, sources.Keep}[rng.IntN(3)], MostGone: 10 + rng.IntN(91),
		Rules: sources.Rules{AllTags: rng.IntN(2) == 0, Text: []string{"", sources.TextNone}[rng.IntN(2)]},
	}
}

// chosen returns some of twenty items, each in one of a few forms: with another text, under another
// id, wrong, or without a readable id.
func chosen(rng *rand.Rand) []*formats.Item {
	var list []*formats.Item
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for n := range 20 {
		if rng.IntN(3) == 0 {
			continue
		}
		it := &formats.Item{
			ID: fmt.Sprint("item-", n), Title: fmt.Sprintf("number %d, form %d", n, rng.IntN(2)), Categories: []string{"boats"},
			URL: fmt.Sprint("https://example.org/", n), At: at.AddDate(0, 0, n),
		}
		switch rng.IntN(12) {
		case 0:
			it.ID = fmt.Sprint("other-", n)
		case 1:
			it.Bad, it.Problems = true, []formats.Problem{{Code: formats.TitleAndTextMissing, Level: formats.LevelError}}
		case 2:
			if rng.IntN(10) == 0 {
				it.ID, it.Bad, it.Problems = "", true, []formats.Problem{{Code: formats.IDMissing, Level: formats.LevelError}}
			}
		}
		list = append(list, it)
	}
	return list
}

// doAnything does one thing with a source, and returns its name.
func (w *world) doAnything(rng *rand.Rand, owner timelines.Account, s sources.Source) string {
	w.Helper()
	ctx := w.Context()
	switch n := rng.IntN(20); n {
	case 0:
		_, err := w.sources.Change(ctx, owner.ID, s.Code, fmt.Sprint("Title ", rng.IntN(5)), settings(rng))
		w.must(err)
		return "a change"
	case 1:
		_, err := w.sources.Token(ctx, owner.ID, s.Code)
		w.must(err)
		return "a token"
	case 2:
		_, err := w.sources.Pause(ctx, owner.ID, s.Code)
		w.must(err)
		_, err = w.sources.Resume(ctx, owner.ID, s.Code)
		w.must(err)
		return "a pause"
	case 3, 4:
		k, err := w.sources.Take(ctx, s.ID)
		w.must(err)
		defer func() { w.must(k.Close(ctx)) }()
		_, err = w.sources.Remove(ctx, owner.ID, s.Code, settings(rng).Gone)
		w.must(err)
		for gone := false; !gone; {
			_, gone, err = k.Remove(ctx)
			w.must(err)
		}
		return "the removal"
	case 5, 6, 7:
		w.push(rng, s)
		return "a push"
	case 8:
		k, err := w.sources.Take(ctx, s.ID)
		w.must(err)
		defer func() { w.must(k.Close(ctx)) }()
		l := w.begin(k, s.ID, chosen(rng))
		w.must(k.Fail(ctx, &l, formats.Fatal{Code: formats.Malformed, Line: 7}))
		return "a load that fails"
	}
	w.feed = formats.Feed{Title: fmt.Sprint("Feed ", rng.IntN(3)), Site: "https://example.org/"}
	l := w.load(s.ID, 1+rng.IntN(25), chosen(rng)...)
	if l.State == sources.Held && rng.IntN(2) == 0 {
		w.must(w.sources.Confirm(ctx, s.ID, l.No))
		k, err := w.sources.Take(ctx, s.ID)
		w.must(err)
		defer func() { w.must(k.Close(ctx)) }()
		next, err := k.Next(ctx)
		w.must(err)
		w.end(k, &next)
	}
	return "a load"
}

func (w *world) push(rng *rand.Rand, s sources.Source) {
	w.Helper()
	ctx := w.Context()
	k, err := w.sources.Take(ctx, s.ID)
	w.must(err)
	defer func() { w.must(k.Close(ctx)) }()
	l, err := w.sources.Receive(ctx, s.ID)
	w.must(err)
	batches := 1 + rng.Int64N(3)
	for no := range batches {
		_, _, err := k.Push(ctx, l.No, sources.Batch{No: no + 1, Asked: [32]byte{byte(no)}, Lines: w.lines(chosen(rng)...)})
		w.must(err)
	}
	if rng.IntN(3) == 0 {
		return // its program never ends it
	}
	w.must(w.sources.EndPush(ctx, s.ID, l.No, batches))
	next, err := k.Next(ctx)
	if errors.Is(err, sources.ErrNotFound) {
		return
	}
	w.must(err)
	w.end(k, &next)
}

package sources_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"riverrun/timelines/sources"
)

var benchItems = flag.Int("items", 0, "items of BenchmarkLoads; default: 20,000, a tenth of that with -short")

// F37: BenchmarkLoads loads a list of items of a kilobyte for the first time, once more unchanged,
// and with one in a hundred changed.
func BenchmarkLoads(b *testing.B) {
	n := *benchItems
	if n == 0 {
		n = 20_000
		if testing.Short() {
			n /= 10
		}
	}
	for b.Loop() {
		w := newWorld(b, sources.Sync)
		for _, load := range []struct {
			what    string
			changed int
		}{{"first", -1}, {"same", 0}, {"changed", 100}} {
			no := w.upload(manyItems(n, load.changed, load.what == "same"))
			began := time.Now()
			w.must(w.run.Run(b.Context(), w.source))
			b.ReportMetric(float64(n)/time.Since(began).Seconds(), load.what+"-items/s")
			if l := w.load(no); l.State != sources.Done {
				b.Fatalf("%s load: %s", load.what, l.State)
			}
		}
	}
	var is runtime.MemStats
	runtime.ReadMemStats(&is)
	b.ReportMetric(float64(is.Sys)/1e6, "MB")
}

// manyItems returns a file of n items of a kilobyte. One item in every is changed. With more it is
// another file with the same items.
func manyItems(n, every int, more bool) string {
	words := strings.Fields("harbour morning quiet wind boats rope anchor letter window garden market bread river mountain station evening paper music winter summer bridge village teacher student painter question answer weather report")
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("id,title,text,date\n")
	for i := range n {
		fmt.Fprintf(&text, "item-%d,Number %d,", i, i)
		begun := text.Len()
		for text.Len()-begun < 900 {
			fmt.Fprintf(&text, "%s%d ", words[rng.IntN(len(words))], rng.IntN(30))
		}
		if every > 0 && i%every == 0 {
			text.WriteString("changed")
		}
		text.WriteString(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format(",2006-01-02T15:04:05Z\n"))
	}
	if more {
		text.WriteString("\n")
	}
	return text.String()
}

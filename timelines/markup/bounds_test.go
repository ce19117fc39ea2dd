package markup

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// patterns are pieces of sources that nest, or make a parser look far ahead or back.
var patterns = []string{
	">", "> ", ">\n", "> - ", "- ", "* ", "1. ", "* - 1. ", "- a\n", "[", "]", "[]", "[]()", "](", "[a](", "[a](b", "![", "[[a](https://a.example/)",
	"[*a*", "[a](https://a.example/", "*", "**", "_", "~", "~~", "|", "||", "*a ", "a* ", "*a _b ", "*a**b", "**a *b ", "_a*b~~c||d ", "||a ", "~~a||b",
	"`", "` ``", "```\n", "```a\n", "\\", "\\\\*", "<", "&", "#", "@", "#a", "@abc ", ":", "https://", "https://a.example ", "http://a*", "(", "[(", " ", "\t", "\n", "a\n", "a\n\n", "\u202e", "\u2067||a",
	"*a\n", "**a\n> ", "> *\n", "`a\n",
}

// closing are signs that make a parser look back. Each follows the repeated pieces.
func closing() []string {
	ends := []string{"", "a*b_c~~d||e`f](https://a.example/) "}
	if os.Getenv("RIVERRUN_SOAK") != "" {
		ends = append(ends, "*", "_ ", "]", "](https://a.example/)", "](", "||", "~~", "`", "a* b_ ")
	}
	return ends
}

// sourceOf returns a source of about n bytes: pieces, then, in its other half, ends.
func sourceOf(piece, end string, n int) string {
	if end == "" {
		return strings.Repeat(piece, n/len(piece))
	}
	return strings.Repeat(piece, n/2/len(piece)) + strings.Repeat(end, n/2/len(end))
}

// TestBoundedOutput: HTML is not much longer than its source, and nests no deeper however
// often the source begins something.
func TestBoundedOutput(t *testing.T) {
	t.Parallel()
	for _, piece := range patterns {
		for _, end := range closing() {
			source := sourceOf(piece, end, 3000)
			check(t, source)
			if out := HTML(source); len(out) > 32*len(source)+256 {
				t.Errorf("%q and %q: %d bytes have HTML of %d", piece, end, len(source), len(out))
			}
		}
	}
}

// TestBoundedTime: eight times the source takes about eight times the time, and not 64
// times. It must not run in parallel with other tests. Short sources would not do: Go's
// regular expressions have a faster way with them.
func TestBoundedTime(t *testing.T) {
	const size, times, most = 12_500, 8, 32
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would fall on the longer source alone
	took := func(source string) time.Duration {
		begun := time.Now()
		HTML(source)
		return time.Since(begun)
	}
	for _, piece := range patterns {
		for _, end := range closing() {
			small, large := time.Hour, time.Hour
			for tries := 0; ; tries++ {
				runtime.GC() // so that no try takes its memory from the system, which is slow while others do
				small = min(small, took(sourceOf(piece, end, size)))
				if large = min(large, took(sourceOf(piece, end, size*times))); large < most*small {
					break
				}
				if tries == 9 { // nothing but the source has slowed it down so often
					t.Errorf("%q and %q: %d bytes take %v, %d bytes %v", piece, end, size, small, size*times, large)
					break
				}
			}
		}
	}
}

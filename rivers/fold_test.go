package rivers

import (
	"strings"
	"testing"

	"riverrun/timelines/snapshot"
)

// A text longer than a screen is folded, whether it has many characters or many lines.
func TestTextIsFolded(t *testing.T) {
	w := newTown(t)
	ann := w.person("ann")
	lines := func(n int, line string) string { return strings.TrimRight(strings.Repeat(line+"\n", n), "\n") }
	for _, tc := range []struct {
		name, body, post, comment string // post and comment: what is left, "" if it is cut at a word
		postCut, commentCut       bool
	}{
		{name: "short", body: "a\n\nb", post: "a\n\nb", comment: "a\n\nb"},
		{name: "as many characters as stand whole", body: strings.Repeat("я", commentKeep), post: strings.Repeat("я", commentKeep), comment: strings.Repeat("я", commentKeep)},
		{name: "many characters", body: strings.Repeat("слово ", 400) + ".", postCut: true, commentCut: true},
		{name: "as many lines as a post has whole", body: lines(bodyKeepLines, "a"), post: lines(bodyKeepLines, "a"), comment: lines(commentCutLines, "a"), commentCut: true},
		{name: "one line more", body: lines(bodyKeepLines+1, "a"), post: lines(bodyCutLines, "a"), comment: lines(commentCutLines, "a"), postCut: true, commentCut: true},
		{name: "as many as a comment has whole", body: lines(commentKeepLines, "a"), post: lines(commentKeepLines, "a"), comment: lines(commentKeepLines, "a")},
		{name: "many lines", body: lines(400, "a"), post: lines(bodyCutLines, "a"), comment: lines(commentCutLines, "a"), postCut: true, commentCut: true},
		{name: "many lines and characters", body: lines(bodyKeepLines, strings.Repeat("я", 60)), postCut: true, commentCut: true},
		{name: "blank lines are lines", body: lines(200, "a\n"), post: lines(bodyCutLines/2, "a\n"), comment: lines(commentCutLines/2, "a\n"), postCut: true, commentCut: true},
		{name: "lines of wide spaces are lines", body: "a" + strings.Repeat("\n\u3000", 100) + "\nb", postCut: true, commentCut: true},
		{name: "several blank lines show as one", body: "\n\n" + strings.Repeat("a\n \n\n\n\n\n\n\n", 8) + "b", post: "\n\n" + strings.Repeat("a\n \n\n\n\n\n\n\n", 8) + "b", comment: "\n\n" + strings.Repeat("a\n \n\n\n\n\n\n\n", 8) + "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code := w.post(ann, tc.body).Code
			w.comment(ann, code, tc.body)
			w.drain()
			folded := w.visit(ann, User, "ann").Items[0].Fold
			text, said := folded.Text, folded.Comments.Shown[0]
			for _, is := range []struct {
				what, body, want string
				cut, wantCut     bool
			}{
				{"post", text.Body, tc.post, text.Cut, tc.postCut},
				{"comment", said.Body, tc.comment, said.Cut, tc.commentCut},
			} {
				if is.cut != is.wantCut || is.want != "" && is.body != is.want ||
					!strings.HasPrefix(tc.body, is.body) || is.cut != (is.body != tc.body) || strings.TrimSpace(is.body) == "" {
					t.Errorf("%s: got %d of %d characters, %d lines, cut %t; want %d characters, cut %t", is.what,
						len([]rune(is.body)), len([]rune(tc.body)), strings.Count(is.body, "\n")+1, is.cut, len([]rune(is.want)), is.wantCut)
				}
			}
			full := w.visit(ann, Post, code).Items[0].Fold
			if full.Text.Cut || full.Text.Body != tc.body || full.Comments.Shown[0].Cut || full.Comments.Shown[0].Body != tc.body {
				t.Errorf("the post's own page: got %+v, %+v; want all of it", full.Text, full.Comments.Shown)
			}
		})
	}
	w.sound()
}

// However a text is cut, the rest is its beginning.
func FuzzCutText(f *testing.F) {
	for _, s := range []string{"", "a", "\n\n\n", "a\n\n \nb\nc", "я я я\nя", "\t\n a"} {
		f.Add(s, 3, 2)
	}
	f.Fuzz(func(t *testing.T, s string, runes, lines int) {
		if runes < 1 || lines < 1 || runes > 1000 || lines > 1000 {
			return
		}
		first := snapshot.FirstLines(s, lines)
		if !strings.HasPrefix(s, first) || snapshot.FirstLines(first, lines) != first || snapshot.FirstLines(s, 1<<30) != s {
			t.Errorf("FirstLines(%q, %d) = %q", s, lines, first)
		}
		if cut := cutText(s, runes, lines, false); len([]rune(cut)) > runes && len([]rune(first)) > runes {
			t.Errorf("cutText(%q, %d, %d) = %q", s, runes, lines, cut)
		}
	})
}

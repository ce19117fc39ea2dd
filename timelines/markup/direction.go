package markup

import "strings"

// Unicode has characters that turn the direction of writing until another one ends that. In
// one person's text they must not turn the text beside it. Names are written inside <bdi>,
// and paragraphs have dir="auto". Both isolate their content, as long as nothing in it ends a
// direction that was not begun there.

// Turns reports whether a character turns the direction of what follows, or ends that: the
// embeddings, overrides and isolates of bidirectional text.
func Turns(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069'
}

// Unturned returns a text without the characters that turn its direction, for places without
// markup: titles of pages and of feeds, attributes, beginnings of texts.
func Unturned(text string) string {
	return strings.Map(func(r rune) rune {
		if Turns(r) {
			return -1
		}
		return r
	}, text)
}

const (
	popDirection = '\u202c'
	popIsolate   = '\u2069'
)

// Balance passes on stretches of one paragraph and keeps count of the directions begun in
// them. The zero Balance is ready.
type Balance struct {
	open []rune // what ends each of those that are open
}

// Pass returns the stretch without the characters that end nothing.
func (b *Balance) Pass(text string) string {
	if !strings.ContainsFunc(text, Turns) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !Turns(r):
		case r == popDirection:
			// It reaches no further than the isolate it stands in.
			if n := len(b.open); n == 0 || b.open[n-1] != popDirection {
				return -1
			}
			b.open = b.open[:len(b.open)-1]
		case r == popIsolate:
			// It ends the embeddings inside the isolate as well.
			n := len(b.open) - 1
			for n >= 0 && b.open[n] != popIsolate {
				n--
			}
			if n < 0 {
				return -1
			}
			b.open = b.open[:n]
		case r < popDirection || r == '\u202d' || r == '\u202e':
			b.open = append(b.open, popDirection)
		default:
			b.open = append(b.open, popIsolate)
		}
		return r
	}, text)
}

// End returns the characters that end all open directions.
func (b *Balance) End() string {
	var s strings.Builder
	for len(b.open) > 0 {
		last := len(b.open) - 1
		s.WriteRune(b.open[last])
		b.open = b.open[:last]
	}
	return s.String()
}

package view

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// slots fill the {placeholders} of a sentence with components, so that a
// language may put a linked name where its grammar wants it.
type slots map[string]templ.Component

// sentence renders a catalogue's text with its placeholders filled. A
// placeholder without a slot is left out.
func sentence(text string, fill slots) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for text := text; text != ""; {
			before, rest, found := strings.Cut(text, "{")
			if _, err := io.WriteString(w, templ.EscapeString(before)); err != nil {
				return err
			}
			if !found {
				return nil
			}
			name, after, _ := strings.Cut(rest, "}")
			if c := fill[name]; c != nil {
				if err := c.Render(ctx, w); err != nil {
					return err
				}
			}
			text = after
		}
		return nil
	})
}

// word is plain text as a component.
func word(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(text))
		return err
	})
}

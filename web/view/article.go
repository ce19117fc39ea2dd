package view

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// An Article is the HTML of a whole entry, as a list of pieces that other pages share. They are
// immutable.
type Article [][]byte

// Render implements [Component].
func (a Article) Render(_ context.Context, w io.Writer) error {
	for _, piece := range a {
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// A frame is what stands around the parts of an entry: before the first, between them, and after the
// last.
type frame [PartCount + 1][]byte

// frameMark stands in the place of each part while a frame is made. It cannot come from people: the
// store takes no NUL.
var frameMark = []byte{0}

func frameOf(e *Entry, tag uint64) (f frame, err error) {
	html, err := Bytes(entryShell(e, Version{e.Item.Stamp, tag}, Parts{
		Why: frameMark, Body: frameMark, Acts: frameMark, Likes: frameMark, Comments: frameMark,
	}))
	if err != nil {
		return f, err
	}
	pieces := bytes.Split(html, frameMark)
	if len(pieces) != len(f) {
		return f, fmt.Errorf("the frame of post %s has %d pieces", e.code(), len(pieces))
	}
	copy(f[:], pieces)
	return f, nil
}

// around is the entry with its parts.
func (f frame) around(p Parts) Article {
	return Article{f[0], p.Why, f[1], p.Body, f[2], p.Acts, f[3], p.Likes, f[4], p.Comments, f[5]}
}

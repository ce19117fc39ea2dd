package view

import (
	"bytes"
	"fmt"
)

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
	parts := bytes.Split(html, frameMark)
	if len(parts) != len(f) {
		return f, fmt.Errorf("the frame of post %s has %d pieces", e.code(), len(parts))
	}
	copy(f[:], parts)
	return f, nil
}

// around is the entry with its parts.
func (f frame) around(p Parts) [][]byte {
	return [][]byte{f[0], p.Why, f[1], p.Body, f[2], p.Acts, f[3], p.Likes, f[4], p.Comments, f[5]}
}

package pictures

import (
	"bytes"
	"errors"
	"testing"
)

// Anything is a picture or one of the four errors, and takes no more memory than it may.
// testdata has seeds beside the corpus.
func FuzzMake(f *testing.F) {
	for _, s := range corpus() {
		if len(s.data) < 20_000 {
			f.Add(s.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Limits{Pixels: 1 << 16, Bytes: 160_000_000}
		p, err := Make(t.Context(), bytes.NewReader(data), l)
		checkError(t, err)
		if (err == nil) != (len(p.Files) > 0) {
			t.Errorf("got %v and %d files", err, len(p.Files))
		}
		square, err := Avatar(t.Context(), bytes.NewReader(data), l)
		checkError(t, err)
		for _, file := range append(p.Files, square...) {
			checkFile(t, file)
		}
		if err == nil {
			if _, err := Placeholder(p.Blurhash, p.Files[0].Width, p.Files[0].Height); err != nil {
				t.Errorf("%q: %v", p.Blurhash, err)
			}
		}
	})
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrNotPicture) && !errors.Is(err, ErrTooManyPixels) && !errors.Is(err, ErrCorrupt) {
		t.Errorf("%v is no error of this package", err)
	}
}

package pictures

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	p, err := Make(t.Context(), bytes.NewReader(asPNG(photo(300, 200))), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ w, h, wantW, wantH int }{
		{300, 200, 8, 5},
		{200, 300, 5, 8},
		{10, 5, 8, 4},
		{1, 50_000, 1, 8},
		{math.MaxInt32, 1, 8, 1},
		{math.MaxInt, math.MaxInt, 8, 8},
	} {
		data, err := Placeholder(p.Blurhash, tc.w, tc.h)
		if err != nil {
			t.Fatal(err)
		}
		c, kind, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || kind != "png" || c.Width != tc.wantW || c.Height != tc.wantH {
			t.Errorf("%d by %d: got %s, %d by %d, %v, want %d by %d", tc.w, tc.h, kind, c.Width, c.Height, err, tc.wantW, tc.wantH)
		}
		if len(data) > 500 {
			t.Errorf("%d by %d: it has %d bytes", tc.w, tc.h, len(data))
		}
	}
}

// A placeholder has the colours of the picture where they are, on white.
func TestPlaceholderColours(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 90, 60))
	for y := range 60 {
		for x := range 90 {
			img.SetNRGBA(x, y, color.NRGBA{byte(255 * min(1, y/30)), 0, byte(255 * (1 - y/30)), byte(255 * (1 - x/45))})
		}
	}
	p, err := Make(t.Context(), bytes.NewReader(asPNG(img)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := Placeholder(p.Blurhash, 90, 60)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"b", "rgb", "r", "rgb"}
	if got := corners(decoded(t, data)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestBadHashes(t *testing.T) {
	t.Parallel()
	for _, hash := range []string{
		"", "0", "00", "00000", "0000000", "L", "~", "é", "\xff\xff\xff\xff\xff\xff", "00 000", "00\x00000", "<svg/>",
		"LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnj1", strings.Repeat("~", 1_000_000),
	} {
		if _, err := Placeholder(hash, 10, 10); !errors.Is(err, ErrBadHash) {
			t.Errorf("%.40q: got %v, want %v", hash, err, ErrBadHash)
		}
	}
	for _, shape := range [][2]int{{0, 1}, {1, 0}, {-5, 3}, {math.MinInt, math.MinInt}} {
		if _, err := Placeholder("LEHV6nWB2yk8pyo0adR*.7kCMdnj", shape[0], shape[1]); !errors.Is(err, ErrBadHash) {
			t.Errorf("%v: got %v, want %v", shape, err, ErrBadHash)
		}
	}
	// The largest that there is.
	if _, err := Placeholder(strings.Repeat("~", 4+2*81), 32, 32); err != nil && !errors.Is(err, ErrBadHash) {
		t.Error(err)
	}
}

func FuzzPlaceholder(f *testing.F) {
	f.Add("LEHV6nWB2yk8pyo0adR*.7kCMdnj", 300, 200)
	f.Add("", 0, 0)
	f.Add("~~~~~~", 1, 1<<40)
	f.Fuzz(func(t *testing.T, hash string, w, h int) {
		data, err := Placeholder(hash, w, h)
		if err != nil {
			if !errors.Is(err, ErrBadHash) {
				t.Errorf("got %v", err)
			}
			return
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil || c.Width > placeholderSide || c.Height > placeholderSide {
			t.Errorf("%q, %d by %d: got %d by %d, %v", hash, w, h, c.Width, c.Height, err)
		}
	})
}

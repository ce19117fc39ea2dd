package pictures

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"runtime"
	"testing"
)

// allocated returns the bytes that fn allocates, freed or not: its peak is not more. Tests that
// call it are not parallel.
func allocated(fn func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func TestMemoryOverTheCorpus(t *testing.T) {
	for _, s := range corpus() {
		// The largest good one has 4 megapixels. Nothing is decoded of the bombs.
		most := 40_000_000
		if errors.Is(s.err, ErrTooManyPixels) || errors.Is(s.err, ErrNotPicture) {
			most = 100_000
		}
		got := allocated(func() { _, _ = Make(t.Context(), bytes.NewReader(s.data), Limits{}) })
		if got > most {
			t.Errorf("%s: it takes %d bytes, want at most %d", s.name, got, most)
		}
	}
}

// heaviest has a picture of each kind that takes much memory, in a square of a side.
func heaviest(side int) map[string][]byte {
	at := func(x, y int) color.RGBA { return color.RGBA{byte(x), byte(y), 0, 255} }
	return map[string][]byte{
		"JPEG":                              flat{w: side, h: side, factors: ycc420}.bytes(),
		"JPEG in all samples":               flat{w: side, h: side, factors: ycc444}.bytes(),
		"JPEG in four by one":               flat{w: side, h: side, factors: []byte{0x41, 0x11, 0x11}}.bytes(),
		"RGB JPEG":                          flat{w: side, h: side, adobe: true, factors: ycc444}.bytes(),
		"CMYK JPEG":                         flat{w: side, h: side, adobe: true, factors: cmyk}.bytes(),
		"progressive JPEG":                  flat{w: side, h: side, progressive: true, factors: ycc420, scans: 1}.bytes(),
		"progressive JPEG in all samples":   flat{w: side, h: side, progressive: true, factors: ycc444, scans: 1}.bytes(),
		"progressive CMYK JPEG":             flat{w: side, h: side, progressive: true, adobe: true, factors: cmyk}.bytes(),
		"PNG":                               asPNG(photo(side, side)),
		"PNG in 16 bits":                    asPNG(deep(side, side)),
		"interlaced PNG":                    interlaced(side, side, 8, at),
		"interlaced PNG in 16 bits":         interlaced(side, side, 16, at),
		"GIF":                               asGIF(side, side, striped(image.Rect(0, 0, side, side))),
		"lossy WebP":                        webpFile(vp8(side, side)),
		"lossy WebP with packed opaqueness": webpFile(vp8x(1<<4, side, side), riffChunk("ALPH", append([]byte{1}, vp8l(side, side, color.NRGBA{G: 9})[13:]...)), vp8(side, side)),
		"lossless WebP":                     webpFile(vp8l(side, side, color.NRGBA{1, 2, 3, 255})),
	}
}

// The decoders take no more memory than was computed from the header.
func TestDecodersTakeWhatIsReckoned(t *testing.T) {
	for kind, data := range heaviest(600) {
		u := &upload{r: bytes.NewReader(data), ended: t.Context().Err}
		f, err := recognise(u)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		config, err := f.decodeConfig(u.fromStart())
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		most, err := f.memory(u.fromStart(), config)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		r := u.fromStart()
		got := allocated(func() { _, err = f.decode(r) })
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		// The buffers are those of the decoders, and the encoded data of a WebP.
		if most += 100_000 + len(data); got > most {
			t.Errorf("%s: it takes %d bytes, want at most %d", kind, got, most)
		}
	}
}

// noise is a picture that no encoder makes smaller.
func noise(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	n := uint32(1)
	for i := range img.Pix {
		n = n*1664525 + 1013904223
		img.Pix[i] = byte(n >> 24)
	}
	return img
}

// A whole call takes what the package's documentation says. RIVERRUN_SOAK measures pictures at
// the default limits.
func TestMemoryOfACall(t *testing.T) {
	uploads := map[string][]byte{}
	if os.Getenv("RIVERRUN_SOAK") == "" {
		uploads["progressive JPEG in all samples"] = flat{w: 2100, h: 600, progressive: true, factors: ycc444}.bytes()
	} else {
		for _, side := range []int{3400, 4300, 5000, 7071} {
			for kind, data := range heaviest(side) {
				uploads[fmt.Sprint(kind, " of ", side)] = data
			}
		}
		uploads["transparent noise"] = asPNG(noise(2048, 2048))
	}
	for kind, data := range uploads {
		var p Picture
		var err error
		got := allocated(func() { p, err = Make(t.Context(), bytes.NewReader(data), Limits{}) })
		if errors.Is(err, ErrTooManyPixels) {
			t.Logf("%s: %v", kind, err)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB, %s", kind, got/1e6, list(p))
		if most := 300_000_000 + config.Width*config.Height + 60_000_000; got > most {
			t.Errorf("%s: it takes %d bytes, want at most %d", kind, got, most)
		}
	}
}

// Its B/op is the upper bound of its peak.
func BenchmarkMake12MegapixelJPEG(b *testing.B) {
	data := asJPEG(photo(4000, 3000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Make(b.Context(), bytes.NewReader(data), Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

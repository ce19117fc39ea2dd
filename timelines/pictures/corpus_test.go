package pictures

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"strings"
	"sync"
	"testing"
)

// sample is one case of the corpus.
type sample struct {
	name string
	data []byte
	err  error
	// files are the sizes of a picture that is made, or "" if err is.
	files string
}

var (
	ycc420 = []byte{0x22, 0x11, 0x11}
	ycc444 = []byte{0x11, 0x11, 0x11}
	cmyk   = []byte{0x11, 0x11, 0x11, 0x11}
)

// corpus returns all cases.
var corpus = sync.OnceValue(func() []sample {
	jpg, pic := asJPEG(photo(100, 60)), asPNG(photo(100, 60))
	at := func(x, y int) color.RGBA { return color.RGBA{byte(x * 7), byte(y * 7), byte(x * y), 255} }
	const (
		photo100 = "full 100x60 image/jpeg"
		graphic  = "full 64x48 image/png"
	)
	empty := bytes.Repeat(chunk("teXt", nil), 5_000) // the decoder throws 4 kB away for each
	corrupt := func(data []byte, at int) []byte {
		b := bytes.Clone(data)
		b[at] ^= 0xff
		return b
	}
	return []sample{
		// Other kinds, and texts.
		{"nothing", nil, ErrNotPicture, ""},
		{"one byte", []byte{0xff}, ErrNotPicture, ""},
		{"zeros", make([]byte, 5000), ErrNotPicture, ""},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ErrNotPicture, ""},
		{"HTML", []byte("<!DOCTYPE html><script>alert(1)</script>"), ErrNotPicture, ""},
		{"PDF", []byte("%PDF-1.7\n1 0 obj"), ErrNotPicture, ""},
		{"ZIP", []byte("PK\x03\x04\x14\x00\x00\x00\x08\x00aaaa"), ErrNotPicture, ""},
		{"MP4", []byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00"), ErrNotPicture, ""},
		{"HEIC", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"), ErrNotPicture, ""},
		{"AVIF", []byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00"), ErrNotPicture, ""},
		{"BMP", []byte("BM\x9a\x00\x00\x00\x00\x00\x00\x00\x7a\x00\x00\x00"), ErrNotPicture, ""},
		{"TIFF", exif(1), ErrNotPicture, ""},
		{"big-endian TIFF", []byte("MM\x00*\x00\x00\x00\x08\x00\x00\x00\x00"), ErrNotPicture, ""},
		{"ICO", []byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00"), ErrNotPicture, ""},
		{"JPEG XL", []byte("\xff\x0a\xfa\x1f\x41\x91\x08\x06\x01\x00\x00\x00"), ErrNotPicture, ""},
		{"WAVE", riffChunk("RIFF", []byte("WAVEfmt 1234")), ErrNotPicture, ""},
		{"XML in front of a JPEG", append([]byte("<?xml "), jpg...), ErrNotPicture, ""},

		// Polyglots: one half is dropped, or nothing is made.
		{"a script that begins as a GIF", []byte("GIF89a/*\x00*/=1;alert(1)//"), ErrTooManyPixels, ""},
		{"GIF with a script behind", append(asGIF(64, 48, striped(image.Rect(0, 0, 64, 48))), "*/=1;alert(1)"...), nil, graphic},
		{"JPEG with a ZIP behind", append(bytes.Clone(jpg), "PK\x03\x04\x14\x00"...), nil, photo100},
		{"PNG with HTML behind", append(bytes.Clone(pic), "<script>alert(1)</script>"...), nil, photo100},
		{"JPEG with PHP in a comment", insert(jpg, segment(0xfe, []byte("<?php system($_GET[0]);")...)), nil, photo100},

		// Bombs.
		{"JPEG of 65,535 by 65,535", flat{w: 65535, h: 65535, factors: ycc420}.bytes()[:600], ErrTooManyPixels, ""},
		{"JPEG of 51 megapixels", flat{w: 10000, h: 5100, factors: ycc420}.bytes()[:600], ErrTooManyPixels, ""},
		{"progressive JPEG of 21 megapixels in all samples", flat{w: 7000, h: 3000, progressive: true, factors: ycc444}.bytes()[:600], ErrTooManyPixels, ""},
		{"progressive CMYK JPEG of 13 megapixels", flat{w: 4000, h: 3250, progressive: true, adobe: true, factors: cmyk}.bytes()[:600], ErrTooManyPixels, ""},
		{"PNG of 2^31-1 squared", pngFile(ihdr(1<<31-1, 1<<31-1, 8, 2, 0), chunk("IDAT", nil)), ErrUnsupported, ""},
		{"PNG of 1,000,000 by 1", pngFile(ihdr(1_000_000, 1, 8, 2, 0), chunk("IDAT", nil)), ErrTooManyPixels, ""},
		{"PNG of 1 by 1,000,000", pngFile(ihdr(1, 1_000_000, 8, 2, 0), chunk("IDAT", nil)), ErrTooManyPixels, ""},
		{"PNG of 60,000 by 60,000 in one bit", pngFile(ihdr(60_000, 60_000, 1, 0, 0), chunk("IDAT", nil)), ErrTooManyPixels, ""},
		{"PNG of 40 megapixels in 16 bits", pngFile(ihdr(8000, 5000, 16, 6, 0), chunk("IDAT", nil)), ErrTooManyPixels, ""},
		{"interlaced PNG of 40 megapixels", pngFile(ihdr(8000, 5000, 8, 6, 1), chunk("IDAT", nil)), ErrTooManyPixels, ""},
		{"PNG with 5,000 chunks", afterIHDR(pic, empty), nil, photo100},
		{"PNG with 5,000 chunks and no pixels", pngFile(ihdr(9, 9, 8, 2, 0), empty), ErrCorrupt, ""},
		{"PNG with a packed text of 20 MB", afterIHDR(pic, chunk("zTXt", append([]byte("a\x00\x00"), deflate(make([]byte, 20_000_000))...))), nil, photo100},
		{"PNG with a packed profile of 20 MB", afterIHDR(pic, chunk("iCCP", append([]byte("a\x00\x00"), deflate(make([]byte, 20_000_000))...))), nil, photo100},
		{"PNG with pixels for more rows", pngFile(ihdr(9, 9, 8, 0, 0), chunk("IDAT", deflate(make([]byte, 20_000_000))), chunk("IEND", nil)), ErrCorrupt, ""},
		{"PNG with a chunk of 2 GB", pngFile(ihdr(9, 9, 8, 0, 0), []byte("\x7f\xff\xff\xffeXIfII*\x00")), ErrCorrupt, ""},
		{"GIF with a screen of 65,535 by 65,535", gifHeader(65535, 65535, 1, 1), ErrTooManyPixels, ""},
		{"GIF with a frame beyond its screen", gifHeader(10, 10, 60000, 60000), ErrCorrupt, ""},
		{"GIF with 3,000 frames", gifOf(3000), nil, graphic},
		{"lossless WebP of 16,384 by 16,384", webpFile(vp8l(16384, 16384, color.NRGBA{1, 2, 3, 255})), ErrTooManyPixels, ""},
		{"lossless WebP of 20 megapixels", webpFile(vp8l(5000, 4000, color.NRGBA{1, 2, 3, 255})), ErrTooManyPixels, ""},
		{"lossy WebP of 16,383 by 16,383", webpFile(riffChunk("VP8 ", vp8(16383, 16383)[8:5000])), ErrTooManyPixels, ""},
		{"WebP with a canvas of 2^24 by 100", webpFile(vp8x(0, 1<<24, 100), vp8(16, 16)), ErrTooManyPixels, ""},
		{"WebP with a small canvas and a large frame", webpFile(vp8x(0, 10, 10), vp8l(16000, 16000, color.NRGBA{A: 255})), ErrCorrupt, ""},

		// Corrupt and empty ones.
		{"JPEG without a picture", []byte{0xff, 0xd8, 0xff, 0xd9}, ErrCorrupt, ""},
		{"JPEG with a segment of no length", append([]byte{0xff, 0xd8, 0xff, 0xe0, 0, 0}, jpg[2:]...), ErrCorrupt, ""},
		{"JPEG of 0 by 0", flat{factors: ycc420}.bytes(), ErrCorrupt, ""},
		{"JPEG of no height", flat{w: 8, factors: ycc420}.bytes(), ErrCorrupt, ""},
		{"JPEG of two components", flat{w: 8, h: 8, factors: []byte{0x11, 0x11}}.bytes(), ErrUnsupported, ""},
		{"arithmetic JPEG", bytes.Replace(flat{w: 8, h: 8, factors: ycc420}.bytes(), []byte{0xff, 0xc0}, []byte{0xff, 0xc9}, 1), ErrUnsupported, ""},
		{"PNG of 0 by 0", pngFile(ihdr(0, 0, 8, 2, 0)), ErrCorrupt, ""},
		{"PNG with a wrong checksum", corrupt(pic, 30), ErrCorrupt, ""},
		{"PNG with damaged pixels", corrupt(pic, 600), ErrCorrupt, ""},
		{"GIF of 0 by 0", gifHeader(0, 0, 0, 0), ErrCorrupt, ""},
		{"GIF without data", gifHeader(10, 10, 10, 10), ErrCorrupt, ""},
		{"lossy WebP of no width", webpFile(vp8(0, 16)), ErrCorrupt, ""},
		{"WebP without a frame", webpFile(vp8x(0, 10, 10)), ErrCorrupt, ""},
		{"WebP with a chunk of 4 GB", webpFile([]byte("VP8 \xff\xff\xff\xff1234")), ErrCorrupt, ""},
		{"animated WebP", webpFile(vp8x(1<<1, 10, 10), riffChunk("ANIM", make([]byte, 6)), riffChunk("ANMF", append(make([]byte, 16), vp8(10, 10)...))), ErrUnsupported, ""},

		// Good ones.
		{"JPEG", jpg, nil, photo100},
		{"grey JPEG", asJPEG(gray(300, 200)), nil, "full 300x200 image/jpeg"},
		{"JPEG of one pixel", asJPEG(photo(1, 1)), nil, "full 1x1 image/png"},
		{"progressive JPEG", flat{w: 64, h: 48, progressive: true, factors: ycc420, scans: 3}.bytes(), nil, graphic},
		{"CMYK JPEG", flat{w: 64, h: 48, adobe: true, factors: cmyk}.bytes(), nil, graphic},
		{"RGB JPEG", flat{w: 64, h: 48, adobe: true, factors: ycc444}.bytes(), nil, graphic},
		{"JPEG of 3000 by 1465", flat{w: 3000, h: 1465, factors: ycc420}.bytes(), nil, "full 2048x1000 image/png medium 1024x500 image/png thumb 400x195 image/png"},
		{"PNG", pic, nil, photo100},
		{"PNG of one pixel", asPNG(photo(1, 1)), nil, "full 1x1 image/png"},
		{"PNG of 1 by 50,000", asPNG(photo(1, 50_000)), nil, "full 1x2048 image/jpeg medium 1x1024 image/jpeg thumb 1x400 image/jpeg"},
		{"PNG of 50,000 by 1", asPNG(photo(50_000, 1)), nil, "full 2048x1 image/jpeg medium 1024x1 image/jpeg thumb 400x1 image/jpeg"},
		{"PNG with transparency", asPNG(seeThrough(500, 300)), nil, "full 500x300 image/png thumb 400x240 image/png"},
		{"PNG with a palette", asPNG(striped(image.Rect(0, 0, 64, 48))), nil, graphic},
		{"grey PNG", asPNG(gray(300, 200)), nil, "full 300x200 image/jpeg"},
		{"PNG in 16 bits", asPNG(deep(100, 60)), nil, photo100},
		{"interlaced PNG", interlaced(100, 60, 8, at), nil, photo100},
		{"interlaced PNG in 16 bits", interlaced(100, 60, 16, at), nil, photo100},
		{"GIF", asGIF(64, 48, striped(image.Rect(0, 0, 64, 48))), nil, graphic},
		{"GIF with offset frames", asGIF(64, 48, striped(image.Rect(10, 10, 30, 30)), striped(image.Rect(40, 0, 64, 48))), nil, graphic},
		{"lossy WebP", webpFile(vp8(64, 48)), nil, graphic},
		{"lossy WebP with transparency", webpFile(vp8x(1<<4, 64, 48), riffChunk("ALPH", append([]byte{0}, make([]byte, 64*48)...)), vp8(64, 48)), nil, graphic},
		{"lossless WebP", webpFile(vp8l(64, 48, color.NRGBA{1, 2, 3, 255})), nil, graphic},
	}
})

func gifOf(frames int) []byte {
	all := []*image.Paletted{striped(image.Rect(0, 0, 64, 48))}
	for range frames - 1 {
		all = append(all, striped(image.Rect(0, 0, 1, 1)))
	}
	return asGIF(64, 48, all...)
}

func list(p Picture) string {
	var all []string
	for _, f := range p.Files {
		all = append(all, fmt.Sprintf("%s %dx%d %s", f.Size, f.Width, f.Height, f.Type))
	}
	return strings.Join(all, " ")
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, s := range corpus() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p, err := Make(t.Context(), bytes.NewReader(s.data), Limits{})
			if !errors.Is(err, s.err) || list(p) != s.files {
				t.Fatalf("got %q, %v, want %q, %v", list(p), err, s.files, s.err)
			}
			if s.err == ErrCorrupt && errors.Is(err, ErrNotPicture) {
				t.Errorf("%v is two errors", err)
			}
			for _, f := range p.Files {
				checkFile(t, f)
			}
			_, err = Avatar(t.Context(), bytes.NewReader(s.data), Limits{})
			if !errors.Is(err, s.err) {
				t.Errorf("avatar: got %v, want %v", err, s.err)
			}
		})
	}
}

// checkFile fails the test if a file is not what it says.
func checkFile(t *testing.T, f File) {
	t.Helper()
	c, kind, err := image.DecodeConfig(bytes.NewReader(f.Data))
	if err != nil || "image/"+kind != f.Type || c.Width != f.Width || c.Height != f.Height {
		t.Errorf("%s is %s, %d by %d, %v, want %s, %d by %d", f.Size, kind, c.Width, c.Height, err, f.Type, f.Width, f.Height)
	}
}

// An upload that is cut anywhere is an error, and not a part of a picture.
func TestCutUploads(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"JPEG":             insert(asJPEG(photo(40, 30)), app1(exif(6))),
		"progressive JPEG": flat{w: 64, h: 48, progressive: true, factors: ycc420, scans: 3}.bytes(),
		"PNG":              afterIHDR(asPNG(photo(20, 15)), chunk("eXIf", exif(6))),
		"interlaced PNG":   interlaced(20, 20, 8, func(x, y int) color.RGBA { return color.RGBA{byte(x), byte(y), 0, 255} }),
		"lossy WebP":       webpFile(vp8x(1<<3, 16, 16), vp8(16, 16)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range data {
				_, err := Make(t.Context(), bytes.NewReader(data[:n]), Limits{})
				if !errors.Is(err, ErrCorrupt) && !(n < 12 && errors.Is(err, ErrNotPicture)) {
					t.Errorf("%d of %d bytes: got %v, want %v", n, len(data), err, ErrCorrupt)
				}
			}
		})
	}
}
